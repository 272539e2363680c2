"""The text of docs/checks.md, printed from the table so that the two cannot differ."""

from __future__ import annotations

from backend.runs.checks.check import Check, Withholds
from backend.runs.checks.table import CHECKS

_HEAD = (
    "# Checks\n\n"
    "A check is a named rule. It changes no figure. It says what a reader should know before "
    "using a figure.\n\n"
    "* **error**: the figure is wrong or must not be ranked. The check says which figures.\n"
    "* **warning**: the figure is usable, with this caveat.\n"
    "* **info**: background that helps to read the figure.\n\n"
    "This page is generated from the table in `backend/runs/checks` by "
    "`python -m backend.runs.checks > docs/checks.md`.\n"
)
_WITHHELD_TEXT: dict[Withholds, str] = {
    "all": " · withholds every ranking but that of failed requests",
    "latency": " · withholds the ranking of latencies",
}


def as_markdown() -> str:
    """The text of docs/checks.md."""
    return _HEAD + "".join(_section(check) for check in CHECKS.values())


def _section(check: Check) -> str:
    withheld = _WITHHELD_TEXT[check.withholds] if check.withholds else ""
    return (
        f'\n<a id="{check.id}"></a>\n'
        f"## {check.title}\n\n"
        f"`{check.id}` · {check.severity}{withheld}\n\n"
        f"{check.explanation}\n\n"
        f"What to do: {check.remedy}\n\n"
        f"Source: {check.source}.\n"
    )
