"""One candidate held against its baseline: pairs, builds and alerts ask here."""
