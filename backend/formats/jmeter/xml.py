"""A JTL as XML, read as a stream; entities and document types are refused, so none can grow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO
from xml.parsers import expat

from backend.formats.jmeter.rows import NUMBERS
from backend.formats.jmeter.samples import TRANSACTION, Samples
from backend.formats.model import FormatError, ParsedTrial
from backend.formats.text import HEAD_BYTES, Source

if TYPE_CHECKING:
    import polars as pl

ROOT = "testResults"
PIECE_BYTES = 64 << 10
# A tag longer than this is not a tag of JMeter: the parser would keep all of it.
LONGEST_TAG_BYTES = 4 << 20
DEEPEST, MOST_URL = 200, 2000
BATCH = 20_000
SAMPLES = frozenset(("httpSample", "sample", "sampleResult"))
# The short names of version 1.2, and the long ones of JMeter 2.0 and before.
ATTRIBUTES = {
    "ts": "timeStamp",
    "t": "elapsed",
    "s": "success",
    "rc": "responseCode",
    "by": "bytes",
    "rm": "responseMessage",
    "rs": "responseCode",
    "sc": "SampleCount",
    "timeStamp": "timeStamp",
    "time": "elapsed",
    "success": "success",
    "responseCode": "responseCode",
    "responseMessage": "responseMessage",
}
WHOLE = NUMBERS | {"timeStamp"}


def is_xml(source: Source) -> bool:
    """Whether this is a JTL as XML."""
    return f"<{ROOT}" in source.text[:HEAD_BYTES]


def read_xml(source: Source) -> ParsedTrial:
    """The samples of a JTL as XML; raises FormatError, also where its end is missing."""
    reader, samples = _Reader(source.artefact.first_line), Samples()
    with source.artefact.open() as stream:
        for frame in reader.frames(stream):
            samples.add(frame)
    return samples.trial()


class _Reader:
    """Samples of the first level; those within a transaction are requests of their own."""

    def __init__(self, first_line: int) -> None:
        self.first_line = first_line
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.EntityDeclHandler = self._refuse
        self.depth = 0
        self.is_done = False
        self.rows: list[dict[str, Any]] = []
        # The sample that is open, with its depth; the samples within it are parts of it.
        self.row: dict[str, Any] | None = None
        self.row_depth = 0
        self.url: list[str] | None = None
        self.last_event = 0
        self.fed = 0

    def frames(self, stream: BinaryIO) -> Iterator[pl.DataFrame]:
        for piece in _behind_prompts(stream):
            try:
                self.parser.Parse(piece, False)
            except expat.ExpatError as fault:
                # What stands behind the end of the root is a prompt, or another file.
                if not self.is_done:
                    raise self._broken(expat.errors.messages[fault.code]) from None
            self._bound(len(piece))
            if self.is_done:
                if b"<" + ROOT.encode() in piece.partition(b"</" + ROOT.encode())[2]:
                    raise self._broken("a second root element behind the first")
                break
            if len(self.rows) >= BATCH:
                yield self._frame()
        if not self.is_done:
            raise self._broken("the end of the file")
        if self.rows:
            yield self._frame()

    def _bound(self, count: int) -> None:
        self.fed += count
        if self.fed - self.last_event > LONGEST_TAG_BYTES:
            raise self._broken(f"a tag of more than {LONGEST_TAG_BYTES:,} bytes")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        self.last_event = self.fed
        if self.depth > DEEPEST:
            raise self._broken(f"elements {self.depth} deep")
        if self.depth == 1 and tag != ROOT:
            raise self._broken(f"<{tag}>")
        if tag in SAMPLES and self.row is None:
            self._open(attributes)
        elif tag == "java.net.URL" and self.row is not None and self.depth == self.row_depth + 1:
            self.url = []

    def _open(self, attributes: dict[str, str]) -> None:
        row: dict[str, Any] = {
            ATTRIBUTES[name]: text for name, text in attributes.items() if name in ATTRIBUTES
        }
        if row.get("responseMessage", "").startswith(TRANSACTION):
            return
        if "elapsed" not in row:
            raise self._broken("a sample without t")
        for name in WHOLE & row.keys():
            row[name] = self._whole(name, row[name])
        self.row, self.row_depth = {**row, "URL": None}, self.depth

    def _whole(self, name: str, text: str) -> int:
        if not text.isascii() or not text.isdigit() or len(text) > 18:
            raise self._broken(f"{name} {text}")
        return int(text)

    def _end(self, tag: str) -> None:
        if self.row is not None and self.depth == self.row_depth:
            self.rows.append(self.row)
            self.row = None
        elif self.url is not None and tag == "java.net.URL" and self.row is not None:
            self.row["URL"], self.url = "".join(self.url).strip(), None
        self.depth -= 1
        self.last_event = self.fed
        self.is_done = self.depth == 0

    def _text(self, text: str) -> None:
        self.last_event = self.fed
        if self.url is not None and sum(map(len, self.url)) < MOST_URL:
            self.url.append(text[:MOST_URL])

    def _refuse(self, *_: object) -> None:
        raise self._broken("a document type or an entity")

    def _broken(self, found: str) -> FormatError:
        return FormatError(
            "The JMeter JTL is not whole XML.",
            line=self.first_line + self.parser.CurrentLineNumber - 1,
            found=found,
            expected=f"<{ROOT}> with samples, to its end </{ROOT}>",
        )

    def _frame(self) -> pl.DataFrame:
        import polars as pl

        rows, self.rows = self.rows, []
        names = set().union(*rows)
        kinds = {name: pl.Int64 if name in WHOLE else pl.String for name in sorted(names)}
        for row in rows:
            if "timeStamp" in names and "timeStamp" not in row:
                raise self._broken("a sample without ts among others with it")
        return pl.DataFrame(rows, schema=kinds)


def _behind_prompts(stream: BinaryIO) -> Iterator[bytes]:
    """The bytes from the XML's begin on, a piece at a time."""
    head = stream.read(HEAD_BYTES)
    begin = max(head.find(b"<?xml"), 0) or max(head.find(b"<" + ROOT.encode()), 0)
    if not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        head = head[begin:]
    yield head
    while piece := stream.read(PIECE_BYTES):
        yield piece
