"""Raw output as lines to show, each number that was read a link to its figure and back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from backend.analysis.pages.trial import Figure, FigureGroup
from backend.ingest.provenance import Provenance, RawText, Read

# So many places of one figure are named, consecutive lines as one; the rest are counted.
MAX_PLACES = 4
# What is longer is for the download.
MAX_LINES = 3_000


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a line; `id` and `figures` only where a number was read."""

    text: str
    id: str = ""
    target: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class ShownText:
    """An artefact as numbered lines of segments."""

    name: str
    url: str
    truncated: bool
    index: int
    lines: tuple[tuple[str, int, tuple[Segment, ...]], ...]


@dataclass(slots=True)
class Row:
    """A figure with where it is printed, or with the words that say why no place is named."""

    figure: Figure
    places: list[dict[str, Any]] = field(default_factory=list)
    more: int = 0
    note: str = ""


def rows_of(
    groups: Sequence[FigureGroup], provenance: Provenance, stored: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The groups with each figure's places. `stored` is what was read when it was recorded."""
    places = _places_by_path(provenance)
    agreeing = places.get("", [])
    several = len(provenance.texts) > 1
    return [
        {
            "group": group,
            "rows": [
                _row(figure, places, agreeing, provenance, stored, several=several)
                for figure in group.figures
            ],
        }
        for group in groups
    ]


def _row(
    figure: Figure,
    places: Mapping[str, list[tuple[int, Read, str]]],
    agreeing: Sequence[tuple[int, Read, str]],
    provenance: Provenance,
    stored: Mapping[str, Any],
    *,
    several: bool,
) -> Row:
    row = Row(figure)
    if not figure.is_known or not provenance.figures:
        return row
    moved = [path for path in figure.paths if _differs(path, provenance.figures, stored)]
    if moved:
        row.note = "this version of the parser reads it otherwise; see the run's readings"
        return row
    found = {at[2]: at for path in figure.paths for at in places.get(path, [])}
    if not found and agreeing and _is_count(figure.value):
        found, row.note = {at[2]: at for at in agreeing}, "counts that must agree, "
    elif not found:
        row.note = "from its words, no number"
    spans = _spans(found.values())
    names = provenance.texts
    row.places = [
        {
            "id": span.id,
            "lines": f"line {span.first}"
            if span.first == span.last
            else f"lines {span.first}–{span.last}",
            "file": names[span.artefact].artefact.name if several else "",
        }
        for span in spans[:MAX_PLACES]
    ]
    row.more = sum(span.last - span.first + 1 for span in spans[MAX_PLACES:])
    return row


def _is_count(value: Any) -> bool:
    # A zero is more often said by silence: tools print errors only where there are any.
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


@dataclass(frozen=True, slots=True)
class _Span:
    """Consecutive lines of one artefact that a figure was read from; `id` is the first place."""

    artefact: int
    first: int
    last: int
    id: str


def _spans(places: Iterable[tuple[int, Read, str]]) -> list[_Span]:
    spans: list[_Span] = []
    for index, read, id_ in sorted(places, key=lambda place: (place[0], place[1].start)):
        before = spans[-1] if spans else None
        if before and before.artefact == index and read.line <= before.last + 1:
            spans[-1] = replace(before, last=read.line)
        else:
            spans.append(_Span(index, read.line, read.line, id_))
    return spans


def _differs(path: str, now: Mapping[str, Any], stored: Mapping[str, Any]) -> bool:
    if path == "histogram":
        return False
    then: Any = stored
    for position, name in enumerate(path.split(".")):
        # A percentile's own name may hold a point ("99.9").
        rest = ".".join(path.split(".")[position:])
        if isinstance(then, Mapping) and rest in then:
            then = then[rest]
            break
        then = then.get(name) if isinstance(then, Mapping) else None
    return bool(now.get(path) != then)


def _places_by_path(provenance: Provenance) -> dict[str, list[tuple[int, Read, str]]]:
    found: dict[str, list[tuple[int, Read, str]]] = defaultdict(list)
    for index, text in enumerate(provenance.texts):
        for read in text.reads:
            for path in read.figures or ("",):
                found[path].append((index, read, place_id(index, read)))
    return found


def place_id(index: int, read: Read) -> str:
    return f"read-{index}-{read.start}"


def shown_texts(provenance: Provenance, groups: Sequence[FigureGroup]) -> list[ShownText]:
    """The raw texts with links from each number to the first figure that stands on it."""
    by_path = {
        path: figure for group in groups for figure in group.figures for path in figure.paths
    }
    # A figure that was read goes before one that was computed with it.
    by_path.update(
        {
            figure.paths[0]: figure
            for group in groups
            for figure in group.figures
            if len(figure.paths) == 1
        }
    )
    return [
        ShownText(
            text.artefact.name,
            f"/a/{text.artefact.pk}",
            text.truncated or text.text.count("\n") >= MAX_LINES,
            index,
            tuple(_lines(index, text, by_path)),
        )
        for index, text in enumerate(provenance.texts)
    ]


def _lines(
    index: int, text: RawText, by_path: Mapping[str, Figure]
) -> Iterator[tuple[str, int, tuple[Segment, ...]]]:
    reads = iter(text.reads)
    read, start = next(reads, None), 0
    for number, line in enumerate(text.text.rstrip("\n").split("\n")[:MAX_LINES], 1):
        segments, at, end = [], start, start + len(line)
        while read is not None and read.start < end:
            segments.append(Segment(text.text[at : read.start]))
            segments.append(_segment(index, text, read, by_path))
            at, read = read.end, next(reads, None)
        segments.append(Segment(text.text[at:end]))
        yield f"line-{index}-{number}", number, tuple(one for one in segments if one.text)
        start = end + 1


def _segment(index: int, text: RawText, read: Read, by_path: Mapping[str, Figure]) -> Segment:
    printed = text.text[read.start : read.end]
    figures = list(dict.fromkeys(by_path[path] for path in read.figures if path in by_path))
    if not figures:
        why = "must agree with other counts" if not read.figures else ", ".join(read.figures[:4])
        return Segment(printed, place_id(index, read), "", why)
    labels = [figure.label for figure in figures[:4]]
    return Segment(
        printed, place_id(index, read), f"figure-{figures[0].id}", "Read as " + ", ".join(labels)
    )
