"""The notes of a study's result set, in Markdown: the answers first, then the evidence."""

from collections.abc import Iterable, Iterator

from backend.library.study import Figure, Study


def notes_of(study: Study) -> str:
    """The text above the chart of a study."""
    return "\n\n".join(_paragraphs(study))


def _paragraphs(study: Study) -> Iterator[str]:
    yield f"**Question.** {study.question}"
    yield f"**Who won.** {study.won}"
    yield f"**Saturation point.** {study.saturation}"
    yield "**What was wrong with the measurement.**"
    yield _list(study.wrong)
    yield "**Conditions.**"
    yield _list(study.conditions)
    yield "**Method.**"
    yield _list(study.method)
    yield f"**Not stated:** {', '.join(study.unsaid)}."
    if study.figures:
        yield "**Further figures of the text.**"
        yield _list(map(_figure_text, study.figures))
    yield f"**Can it be repeated?** {study.repeatable}"
    yield f"Source: {study.source}, by {study.author}, {study.published}."


def today_notes(study: Study) -> str:
    """The text above the chart that has the published figures beside those of today."""
    return (
        f"**Question.** {study.question}\n\n"
        f"**Who won then.** {study.won}\n\n"
        f"Measured again by `loadsheet run agents/plans/{study.name}.toml --short`. The plan lists "
        "what differs from the study. The machines differ too, so the old figures and those of "
        "today are not ranked together."
    )


def _figure_text(figure: Figure) -> str:
    return f"{figure.text}: {figure.value} (line {figure.line})"


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
