"""The verdict about a build as text, as Markdown for a pull request, and as JUnit XML.

Names in an answer come from whoever uploaded the runs, so none of them may form Markdown, mention
an account, or break XML.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

# What a verdict is called where the service, being older, has no words for it.
VERDICTS = {
    "regressed": "Regressed",
    "not_comparable": "Not comparable",
    "too_noisy": "Too noisy to call",
    "improved": "Improved",
    "unchanged": "Unchanged",
}
MOST_ROWS = 50
# Characters that XML 1.0 cannot hold.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~-])")


def as_text(answer: Mapping[str, Any], base_url: str) -> str:
    """The finding, a line for each row, what would settle it, and the link."""
    rows = [f"  {_plain(row['text'])}" for row in _rows(answer)]
    settle = [answer["settle"]] if answer.get("settle") else []
    notes = [f"Note: {note}" for note in answer.get("notes", ())]
    link = _link(answer, base_url)
    after = [*settle, *notes, *([link] if link else [])]
    return "\n".join([_plain(answer["finding"]), *rows, *map(_plain, after)])


def as_markdown(answer: Mapping[str, Any], base_url: str, allowed: Collection[str] = ()) -> str:
    """A summary for a pull request: verdict, table, what to do, link."""
    remark = " (allowed)" if str(answer["verdict"]) in allowed else ""
    parts = [f"### Loadsheet: {_verdict(answer).lower()}{remark}", _inline(answer["finding"])]
    if rows := _rows(answer):
        head = ["| verdict | requirement | series | load | change |", "|---|---|---|---|---|"]
        lines = [*head, *map(_markdown_row, rows[:MOST_ROWS])]
        parts.append("\n".join(lines))
        if len(rows) > MOST_ROWS:
            parts.append(f"{len(rows) - MOST_ROWS} more rows are in the answer of the service.")
    parts += [f"**{_inline(answer['settle'])}**"] if answer.get("settle") else []
    if notes := answer.get("notes", ()):
        parts.append("\n".join(f"- {_inline(note)}" for note in notes))
    if link := _link(answer, base_url):
        parts.append(f"[The runs side by side]({link})")
    return "\n\n".join(parts) + "\n"


def as_junit(answer: Mapping[str, Any], allowed: Collection[str] = ()) -> str:
    """A test suite with a case for each row; without rows, one case with the finding."""
    rows = _rows(answer) or [
        {"requirement": "all requirements", "verdict": answer["verdict"], "text": answer["finding"]}
    ]
    cases = [_junit_case(row, allowed) for row in rows]
    failures = sum("<failure" in case for case in cases)
    errors = sum("<error" in case for case in cases)
    skipped = sum("<skipped" in case for case in cases)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}" skipped="{skipped}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<testsuites>",
        f'<testsuite name="loadsheet" {counts}>',
        *cases,
        "</testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _junit_case(row: Mapping[str, Any], allowed: Collection[str]) -> str:
    """Regressed is a failure; without a verdict it is an error, or skipped where it is allowed."""
    names = [str(row.get(part) or "") for part in ("series", "at")]
    class_name = " ".join(filter(None, names)) or "loadsheet"
    verdict, text = str(row["verdict"]), _plain(row["text"])
    head = f"<testcase classname={_attribute(class_name)} name={_attribute(row['requirement'])}"
    if verdict in ("improved", "unchanged"):
        return f"{head}><system-out>{escape(text)}</system-out></testcase>"
    kind = "failure" if verdict == "regressed" else "error"
    kind = "skipped" if verdict in allowed else kind
    type_ = "" if kind == "skipped" else f" type={_attribute(verdict)}"
    return f"{head}><{kind} message={_attribute(text)}{type_}/></testcase>"


def _rows(answer: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    rows: Sequence[Mapping[str, Any]] = answer.get("rows", ())
    return rows


def _markdown_row(row: Mapping[str, Any]) -> str:
    change = row.get("change") or "unknown"
    cells = (row["requirement"], row["series"], row["at"], change)
    return "| " + " | ".join([_verdict(row), *map(_inline, cells)]) + " |"


def _verdict(judged: Mapping[str, Any]) -> str:
    """The verdict in words: `Too few trials to call`."""
    return _inline(judged.get("verdict_text") or VERDICTS[str(judged["verdict"])])


def _link(answer: Mapping[str, Any], base_url: str) -> str | None:
    path = answer.get("url")
    return f"{base_url}{path}" if isinstance(path, str) and path.startswith("/") else None


def _plain(text: object) -> str:
    """One line, without characters that move the cursor or that XML cannot hold."""
    return " ".join(_NOT_XML.sub("�", str(text)).split())


def _inline(text: object) -> str:
    """Text that stands for itself in a line of Markdown; no @ notifies anybody."""
    escaped = _MARKDOWN.sub(r"\\\1", html.escape(_plain(text), quote=False))
    return escaped.replace("@", "&#64;").replace("://", ":&#47;&#47;")


def _attribute(text: object) -> str:
    return quoteattr(_plain(text))
