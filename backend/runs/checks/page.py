"""The text of docs/checks.md, printed from the table so that the two cannot differ."""

from collections.abc import Iterator, Sequence

from backend.runs.checks.check import Check, Withholds
from backend.runs.checks.firing import EDITED, Counts, read_firing
from backend.runs.checks.table import CHECKS

_HEAD = (
    "# Checks\n\n"
    "A check is a named rule. It changes no figure. It says what a reader should know before "
    "using a figure.\n\n"
    "* **error**: the figure is wrong or must not be ranked. The check says which figures.\n"
    "* **warning**: the figure is usable, with this caveat.\n"
    "* **info**: background that helps to read the figure.\n"
    "* **no basis for choosing a server**: something other than the servers may cause a "
    "difference, however large it is. No server is recommended if the check fires on a series of "
    "the headline.\n\n"
    "This page is generated from the table in `backend/runs/checks` by "
    "`python -m backend.runs.checks > docs/checks.md`.\n"
)
_WITHHELD_TEXT: dict[Withholds, str] = {
    "all": " · withholds every ranking except that of failed requests",
    "throughput": " · withholds the rankings of throughput and of what the server used for it",
    "latency": " · withholds the ranking of latencies",
}


_NO_BASIS_TEXT = " · no basis for choosing a server"


def as_markdown() -> str:
    """The text of docs/checks.md."""
    sections = "".join(_section(check) for check in CHECKS.values())
    return _HEAD + sections + "".join(f"{line}\n" for line in _firing_lines())


def _section(check: Check) -> str:
    withheld = _WITHHELD_TEXT[check.withholds] if check.withholds else ""
    basis = _NO_BASIS_TEXT if check.is_no_basis else ""
    return (
        f'\n<a id="{check.id}"></a>\n'
        f"## {check.title}\n\n"
        f"`{check.id}` · {check.severity}{withheld}{basis}\n\n"
        f"{check.explanation}\n\n"
        f"What to do: {check.remedy}\n\n"
        f"Source: {check.source}.\n"
    )


def _firing_lines() -> Iterator[str]:
    """How often each check fires, from the stored results of the bench."""
    measured = read_firing()
    yield from (
        "",
        '<a id="how-often"></a>',
        "## How often checks fire",
        "",
        f"Measured by `scripts/bench truth-checks` on {measured.date} (seed {measured.seed}): "
        f"{measured.trials:,} honest trials of each load tool, made by simulation, printed as the "
        "tool prints them and read by the parsers; the same for load points and comparisons. Then "
        "one mistake is planted. Both columns show the load tool with the worst result; a tool "
        "whose output cannot show the mistake is left out. The mistakes of "
        f"{_listed([id_ for id_ in EDITED if id_ in measured.by_check])} are planted in what was "
        "read, so their rows test the rule alone. A warning should fire on at most 1 % of honest "
        "trials, an error on none; each check should find at least 95 % of its mistakes.",
        "",
        "| Check | Planted mistake | Fires on honest trials | Finds its mistake |",
        "|---|---|---|---|",
    )
    for id_, firing in measured.by_check.items():
        if id_ in CHECKS:
            honest, detected = _worst(firing.honest, most=True), _worst(firing.found, most=False)
            yield f"| [`{id_}`](#{id_}) | {firing.mistake or '–'} | {honest} | {detected} |"


def _listed(ids: Sequence[str]) -> str:
    *others, last = (f"`{id_}`" for id_ in ids)
    return f"{', '.join(others)} and {last}"


def _worst(counts: Counts, *, most: bool) -> str:
    """`0.3 % (wrk)`: the share of the tool where it is the highest, or the lowest."""
    shares = {source: count / total for source, (count, total) in counts.items()}
    if not shares:
        return "–"
    worst = (max if most else min)(shares, key=lambda source: shares[source])
    is_perfect = shares[worst] == (0.0 if most else 1.0)
    return f"{shares[worst] * 100:.3g} %" + ("" if is_perfect else f" ({worst})")
