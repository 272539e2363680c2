"""One service under load: what `scripts/bench service` measures."""
