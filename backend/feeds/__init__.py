"""Atom feeds, and the tokens that open private ones."""
