"""The columns of a run that may hold megabytes: its upload has an envelope of up to 4 MB.

Queries of several runs leave them out. `backend/web/tests/test_large_columns.py` sees to it, and
fills all columns by an upload to see that the others stay small.
"""

_LARGE = ("plan", "facts", "events", "max_rates", "server_tails", "as_read")


def large_columns(path: str = "") -> tuple[str, ...]:
    """Their names, for `defer`; `path` leads to the run, such as `run__`."""
    return tuple(f"{path}{name}" for name in _LARGE)
