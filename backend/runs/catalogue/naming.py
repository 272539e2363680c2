"""What people call a run: by what it measured, not by its id."""

from collections.abc import Iterable

from backend.runs.database.name_order import sort_names

# More names than these are counted.
MAX_NAMED = 2
NAMELESS = "Run without trials"


def run_name(servers: Iterable[str], workloads: Iterable[str], tools: Iterable[str]) -> str:
    """The name of a run such as "caddy 1.27.1 · json · wrk"; equal names count once."""
    parts = (
        _join_names(servers, "servers"),
        _join_names(workloads, "workloads"),
        _join_names(tools, "load tools"),
    )
    return " · ".join(filter(None, parts)) or NAMELESS


def _join_names(names: Iterable[str], plural: str) -> str:
    distinct = sort_names(names)
    return f"{len(distinct)} {plural}" if len(distinct) > MAX_NAMED else " and ".join(distinct)


def trial_count_text(trials: int, warmups: int) -> str:
    """How many trials there are beside the warm-ups: "36 trials and 12 warm-ups"."""
    counted = count_text(trials - warmups, "trial")
    return f"{counted} and {count_text(warmups, 'warm-up')}" if warmups else counted


def count_text(number: int, noun: str) -> str:
    """`1 trial`, `1,200 trials`."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"
