"""Uploads while everything dies: what was accepted must be read, once each.

Tests run it small, `scripts/bench chaos` in full.
"""
