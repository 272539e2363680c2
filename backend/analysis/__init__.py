"""Questions over many runs. Dataclasses and dicts out; no HTTP, no tables of its own."""
