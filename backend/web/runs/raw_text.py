"""Raw output as lines. Each number that was read links to its figure, and back."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from backend.analysis.pages.trial import Figure, FigureGroup
from backend.ingest.preview.provenance_records import Provenance, RawText, Read
from backend.links import artefact_link, link_to

# So many places of a figure are listed, consecutive lines as one. The rest are counted.
MAX_PLACES = 4
# Longer texts are shown up to here; the download has all of them.
MAX_LINES = 3_000


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a line. `id` and `target` are set only where a number was read."""

    text: str
    id: str = ""
    target: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class ShownText:
    """An artefact as numbered lines of segments."""

    name: str
    url: str
    download_url: str
    truncated: bool
    index: int
    lines: tuple[tuple[str, int, tuple[Segment, ...]], ...]


@dataclass(slots=True)
class Row:
    """A figure with the places it was read from, or a note that says why it has none."""

    figure: Figure
    places: list[dict[str, Any]] = field(default_factory=list)
    more: int = 0
    note: str = ""


Place = tuple[int, Read, str]  # index of the artefact, the reading, its id on the page


def rows_of(
    groups: Sequence[FigureGroup], provenance: Provenance, stored: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The groups with the places of each figure. `stored`: the values stored with the trial."""
    places = _places_by_path(provenance)
    return [
        {
            "group": group,
            "rows": [_row(figure, places, provenance, stored) for figure in group.figures],
        }
        for group in groups
    ]


def _row(
    figure: Figure,
    places: Mapping[str, list[Place]],
    provenance: Provenance,
    stored: Mapping[str, Any],
) -> Row:
    row = Row(figure)
    if not figure.is_known or not provenance.figures:
        return row
    if any(_differs(path, provenance.figures, stored) for path in figure.paths):
        row.note = "this parser version reads another value; see the run's page"
        return row
    figure_places, row.note = _places_of(figure, places)
    spans = _spans({place[2]: place for place in figure_places}.values())
    names = [text.artefact.name if len(provenance.texts) > 1 else "" for text in provenance.texts]
    row.places = [
        {"id": span.id, "lines": span.lines, "file": names[span.artefact]}
        for span in spans[:MAX_PLACES]
    ]
    row.more = sum(span.last - span.first + 1 for span in spans[MAX_PLACES:])
    return row


def _places_of(figure: Figure, places: Mapping[str, list[Place]]) -> tuple[list[Place], str]:
    """The places where the figure is printed, and a note about them."""
    printed = [place for path in figure.paths for place in places.get(path, [])]
    if printed:
        return printed, ""
    agreeing = places.get("", [])
    if agreeing and _is_count(figure.value):
        return agreeing, "counts that must be equal, "
    return [], "implied by the output"


def _is_count(value: Any) -> bool:
    # Most tools print no error count when there are no errors.
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


@dataclass(frozen=True, slots=True)
class _Span:
    """Consecutive lines of one artefact that a figure was read from; `id` is the first place."""

    artefact: int
    first: int
    last: int
    id: str

    @property
    def lines(self) -> str:
        """In words: "line 3" or "lines 3–5"."""
        is_one = self.first == self.last
        return f"line {self.first}" if is_one else f"lines {self.first}–{self.last}"


def _spans(places: Iterable[Place]) -> list[_Span]:
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
        # The name of a percentile may contain a dot ("99.9").
        rest = ".".join(path.split(".")[position:])
        if isinstance(then, Mapping) and rest in then:
            then = then[rest]
            break
        then = then.get(name) if isinstance(then, Mapping) else None
    return bool(now.get(path) != then)


def _places_by_path(provenance: Provenance) -> dict[str, list[Place]]:
    places: dict[str, list[Place]] = defaultdict(list)
    for index, text in enumerate(provenance.texts):
        for read in text.reads:
            for path in read.figures or ("",):
                places[path].append((index, read, place_id(index, read)))
    return places


def place_id(index: int, read: Read) -> str:
    return f"read-{index}-{read.start}"


def shown_texts(provenance: Provenance, groups: Sequence[FigureGroup]) -> list[ShownText]:
    """The raw texts, with a link from each number to the first figure that uses it."""
    by_path = {
        path: figure for group in groups for figure in group.figures for path in figure.paths
    }
    # A figure that was read takes precedence over a figure computed from it.
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
            artefact_link(text.artefact.pk),
            link_to("artefact-raw", text.artefact.pk),
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
        yield (
            f"line-{index}-{number}",
            number,
            tuple(segment for segment in segments if segment.text),
        )
        start = end + 1


def _segment(index: int, text: RawText, read: Read, by_path: Mapping[str, Figure]) -> Segment:
    printed = text.text[read.start : read.end]
    figures = list(dict.fromkeys(by_path[path] for path in read.figures if path in by_path))
    if not figures:
        why = "must equal other counts" if not read.figures else ", ".join(read.figures[:4])
        return Segment(printed, place_id(index, read), "", why)
    labels = [figure.label for figure in figures[:4]]
    return Segment(
        printed, place_id(index, read), f"figure-{figures[0].id}", "Read as " + ", ".join(labels)
    )
