"""Strangers who mean harm, on few connections: what others notice of them."""
