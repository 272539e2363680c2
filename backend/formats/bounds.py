"""How much of what an output says is kept of a trial: pages and workers read thousands of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from backend.formats.model import Number, ParsedTrial
from backend.formats.numbers import LONGEST_LINE
from backend.visible_text import shortened

# A tool prints a dozen. No key of theirs is longer.
MOST_PERCENTILES, LONGEST_KEY = 100, 20
# These are kept before all others.
WELL_KNOWN = frozenset((10, 25, 50, 75, 80, 90, 95, 98, 99, 99.5, 99.9, 99.99, 99.999, 100))
# Texts of errors may name a port, and each of them another one.
MOST_TEXTS, LONGEST_TEXT, OTHERS = 100, 200, "others"
# The path of an address may be 2,000 characters long in an envelope.
LONGEST_URL, LONGEST_COMMAND = 4_000, 20_000
# Mostly a tool contradicts itself in two figures. A sentence may hold names of files.
MOST_SENTENCES, LONGEST_SENTENCE = 10, 300
# As JSON, of each member that a format fills as it likes. Usual outputs fill 600 of them.
MOST_BYTES = 8 << 10


def count_text(counts: Counter[str], text: str, count: int) -> None:
    """Count the text of an error, beyond the texts that are kept among the others."""
    name = shortened(text, LONGEST_TEXT)
    is_kept = name in counts or len(counts) < MOST_TEXTS
    counts[name if is_kept else OTHERS] += count


def bounded(trial: ParsedTrial) -> ParsedTrial:
    """The trial with so much of its texts, percentiles and further figures as is kept.

    Its notes name the percentiles, the command and the further figures that were left out. Errors
    and statuses beyond the bound are summed.
    """
    percentiles = _few_percentiles(trial.latency.percentiles)
    maps, left_out = _few_members(trial)
    notes = [*trial.notes[:MOST_SENTENCES], *left_out]
    if len(percentiles) < (count := len(trial.latency.percentiles)):
        notes.append(
            f"The output has {count:,} percentiles. {len(percentiles):,} of them are kept, the "
            "well-known ones first; the rest is left out."
        )
    if len(trial.command) > LONGEST_COMMAND:
        notes.append(f"The command has more than {LONGEST_COMMAND:,} characters and is left out.")
    return replace(
        trial,
        latency=replace(trial.latency, percentiles=percentiles),
        tool_errors=_few_texts(trial.tool_errors),
        status_counts=_few_statuses(trial.status_counts),
        url=None if trial.url is None else trial.url[:LONGEST_URL],
        tool_version=_line(trial.tool_version),
        server_software=_line(trial.server_software),
        detected_by=shortened(trial.detected_by, LONGEST_LINE),
        command=trial.command if len(trial.command) <= LONGEST_COMMAND else "",
        disagreements=_few_disagreements(trial.disagreements),
        notes=_few_sentences(notes),
        **maps,
    )


def _line(text: str | None) -> str | None:
    return None if text is None else shortened(text, LONGEST_LINE)


def _few_sentences(sentences: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    """The last ones: they say what was left out."""
    return tuple(shortened(sentence, LONGEST_SENTENCE) for sentence in sentences[-MOST_SENTENCES:])


def _few_disagreements(sentences: tuple[str, ...]) -> tuple[str, ...]:
    if len(sentences) <= MOST_SENTENCES:
        return _few_sentences(sentences)
    more = len(sentences) - (MOST_SENTENCES - 1)
    return _few_sentences((*sentences[: MOST_SENTENCES - 1], f"{more:,} more contradictions."))


def _few_percentiles(percentiles: Mapping[str, Number]) -> Mapping[str, Number]:
    """In their order; the well-known ones are among them."""
    if len(percentiles) <= MOST_PERCENTILES and all(len(key) <= LONGEST_KEY for key in percentiles):
        return percentiles
    short = [key for key in percentiles if len(key) <= LONGEST_KEY]
    known = {key for key in short if float(key) in WELL_KNOWN}
    first = sorted(short, key=lambda key: key not in known)[:MOST_PERCENTILES]
    kept = set(first)
    return {key: value for key, value in percentiles.items() if key in kept}


def _few_texts(errors: Mapping[str, int | None]) -> Mapping[str, int | None]:
    """The texts that are counted most often, in their order, then the sum of the others."""
    if len(errors) <= MOST_TEXTS and all(len(text) <= LONGEST_TEXT for text in errors):
        return errors
    counts: dict[str, int | None] = {}
    for text, count in errors.items():
        name = shortened(text, LONGEST_TEXT)
        counts[name] = _sum(counts.get(name, 0), count)
    others = counts.pop(OTHERS, 0)
    often = sorted(counts, key=lambda name: counts[name] or 0, reverse=True)
    for name in often[MOST_TEXTS:]:
        others = _sum(others, counts.pop(name))
    return counts if others == 0 else {**counts, OTHERS: others}


def _few_statuses(counts: Mapping[str, int] | None) -> Mapping[str, int] | None:
    """The first statuses, and those beyond by class: what succeeded and what failed stays so."""
    if counts is None or (len(counts) <= MOST_TEXTS and all(len(each) <= 3 for each in counts)):
        return counts
    few = Counter[str]()
    for status, count in counts.items():
        is_kept = len(few) < MOST_TEXTS and len(status) <= 3
        few[status if is_kept else f"{status[0]}xx"] += count
    return dict(few)


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _few_members(trial: ParsedTrial) -> tuple[dict[str, Any], list[str]]:
    """The members that a format fills as it likes, and sentences on those that are too long."""
    members: dict[str, Any] = {}
    notes = []
    for name in ("extra", "server", "workload", "publication"):
        members[name] = getattr(trial, name)
        if len(msgspec.json.encode(members[name])) > MOST_BYTES:
            members[name] = {}
            what = "further figures" if name == "extra" else f"facts of the {name}"
            notes.append(f"The {what} in the output have more than {MOST_BYTES:,} bytes: left out.")
    return members, notes
