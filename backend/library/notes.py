"""The notes of a study's result set, in Markdown: the answers first, then the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backend.library.study import Figure, Study


def notes_of(study: Study) -> str:
    """The text above the chart of a study."""
    return "\n\n".join(_paragraphs(study))


def _paragraphs(study: Study) -> Iterator[str]:
    yield f"**Question.** {study.question}"
    yield f"**Who won.** {study.won}"
    yield f"**At what load it turned.** {study.turned}"
    yield "**What was wrong with the measurement.**"
    yield _list(study.wrong)
    yield "**Conditions.**"
    yield _list(study.conditions)
    yield "**Method.**"
    yield _list(study.method)
    yield f"**Not said:** {', '.join(study.unsaid)}."
    if study.figures:
        yield "**Further figures of the text.**"
        yield _list(map(_figure_text, study.figures))
    yield f"**Can it be repeated?** {study.repeatable}"
    yield f"Source: {study.source}, by {study.author}, {study.published}."


def _figure_text(figure: Figure) -> str:
    return f"{figure.text}: {figure.value} (line {figure.line})"


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
