"""Installs the servers of a plan, each into a folder of its own."""
