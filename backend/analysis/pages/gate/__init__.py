"""The gate of a build: whether a candidate keeps its requirements against a baseline."""
