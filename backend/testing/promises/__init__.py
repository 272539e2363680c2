"""Promises of docs/operations.md, each tried on a site of its own: `scripts/bench promises`."""
