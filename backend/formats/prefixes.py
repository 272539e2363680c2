"""Outputs as they are kept and shown: what surrounds them is removed, and said in a note.

First the dress of mails, web pages and Markdown, then what a CI system, docker, kubectl or a
program's comment puts before each line.

Only the beginnings of lines are looked at, each once for each kind, so the cost grows with the
bytes alone. The lines stay, and so do their numbers, unless the lines of several services are
mixed: then the lines of each service are a text of its own.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import BinaryIO

from backend.formats.decoding import UTF16_MARKS, is_binary
from backend.formats.dress import LONGEST as LONGEST_DRESSED
from backend.formats.dress import undressed
from backend.formats.logs import line_chunks
from backend.formats.model import RawArtefact
from backend.formats.streams import stream_of
from backend.formats.text import HEAD_BYTES, Source, read_up_to

# Fewer lines, or a smaller share of those that are not blank, may begin so by chance.
FEWEST_LINES, LEAST_SHARE = 3, 0.6
# docker compose in a CI system writes two, kubectl with names and times three.
MOST_LAYERS = 4
# More are no names of services. Each costs a look at all of the text.
MOST_NAMES = 20
CHUNK_BYTES = 1 << 20

_COLOURS = r"(?:\x1b\[[0-9;]{0,16}[mK]){0,6}"
_CLOCK = r"[0-2]\d:[0-5]\d:[0-6]\d(?:[.,]\d{1,9})?"
_TIME = rf"\d{{4}}-[01]\d-[0-3]\dT{_CLOCK}(?:Z|[+-]\d\d:?\d\d)"
# One space, or none where nothing follows.
_GAP = rf"{_COLOURS}(?: |(?=\r?$))"
_NAME = "NAME"


@dataclass(frozen=True, slots=True)
class Prefix:
    """What may stand before each line. In `text`, NAME stands for `name`: whose line it is."""

    title: str
    text: str
    name: str = ""
    # The least share of the lines that must have the prefix.
    least_share: float = LEAST_SHARE
    # Whether it counts as a prefix only if all lines have the same name.
    has_one_name: bool = False

    def pattern(self, name: str = "") -> re.Pattern[bytes]:
        """Matches the prefix at the start of a line; with a name, that of its lines alone."""
        text = self.text.replace(_NAME, f"({re.escape(name) if name else self.name})")
        return re.compile(rf"(?m)^{_COLOURS}{text}{_COLOURS}".encode())


# The longer ones first: some begin as others do.
PREFIXES = (
    Prefix(
        "GitHub's job, step and time",
        rf"{_NAME}\t{_TIME}{_GAP}",
        r"[^\t\n]{1,200}\t[^\t\n]{1,200}",
    ),
    Prefix("GitLab's time", rf"{_TIME} [0-9a-f]{{2}}[OE](?:[ +]|(?=\r?$))"),
    Prefix("the container log's time", rf"{_TIME} std(?:out|err) [FP] ?"),
    Prefix("a time", rf"(?:\[{_TIME}\]|{_TIME}){_GAP}"),
    Prefix("a time", rf"(?:\[{_CLOCK}\]{_GAP}|{_CLOCK}(?:  |(?=\r?$)))"),
    Prefix("docker compose's name", rf"{_NAME} {{0,80}}\|{_GAP}", r"[A-Za-z0-9][\w.-]{0,80}"),
    Prefix("kubectl's name", rf"\[{_NAME}\]{_GAP}", r"pod/[^\]\n]{1,300}"),
    Prefix(
        "the journal's time and name",
        r"[A-Z][a-z]{2} [ 0-3]\d [0-2]\d:[0-5]\d:[0-6]\d [\w.-]{1,80} [\w./-]{1,80}"
        r"(?:\[\d{1,9}\])?: ?",
    ),
    Prefix("the level of Maven or sbt", r"\[(?i:info|warn|warning|error)\](?: |(?=\r?$))"),
    # Fewer lines are a list, a heading or a root's prompt. A published table has its own.
    Prefix(
        "a comment's mark",
        r"[ \t]{0,40}(?:#|//|\*|--)(?: (?!loadsheet )|(?=\r?$))",
        least_share=0.9,
    ),
    Prefix(
        "Vagrant's name",
        rf" {{4}}{_NAME}:(?: |(?=\r?$))",
        # The lines of tsung's own log begin so, and may be indented.
        r"(?!stats:)[A-Za-z0-9][\w.-]{0,80}",
        least_share=0.9,
        has_one_name=True,
    ),
)


_TEXTS = (prefix.text.replace(_NAME, f"(?:{prefix.name})") for prefix in PREFIXES)
# Whether a line has any: most texts have none, and are looked at once.
ANY = re.compile(f"{_COLOURS}(?:{'|'.join(_TEXTS)})".encode())


# What a runner of GitHub or Azure writes about itself. A line that shows a command stays: it says
# what was measured.
_RUNNER = re.compile(
    rb"(?m)^(?:##\[(?:endgroup|debug|warning|error|notice|section)\]"
    rb"|::(?:group|endgroup|debug|warning|error|notice|add-mask)\b)[^\r\n]*"
)
# "[command]" begins as a list in JSON does.
_RUNNER_COMMAND = re.compile(rb"(?m)^\[command\](?=/|\w)")
_RUNNER_SIGN = re.compile(rb"(?m)^(?:##\[(?:group|command|debug|section)\]|::group::|\[command\])")
_RUNNER_NOTE = "Lines of the CI runner about itself were left out."


@dataclass(frozen=True, slots=True)
class PlainText:
    """An artefact as its tool wrote it, and what was removed from it, as sentences."""

    artefact: RawArtefact
    notes: tuple[str, ...] = ()
    # Whether this is the text of one service, out of a log of several.
    is_parted: bool = False


def plain_texts(artefact: RawArtefact) -> list[PlainText]:
    """The artefact without dress and prefixes; the lines of each service apart where several are
    mixed."""
    text = _without_dress(PlainText(artefact))
    return [_without_runner_lines(plain) for plain in _without_prefixes(text, MOST_LAYERS)]


def _without_dress(text: PlainText) -> PlainText:
    with text.artefact.open() as stream:
        data = read_up_to(stream, LONGEST_DRESSED + 1)
    if len(data) > LONGEST_DRESSED:
        return text
    plain, notes = undressed(_in_utf_8(data))
    if not notes:
        return text
    artefact = replace(text.artefact, open=RawArtefact.of(text.artefact.name, plain).open)
    return replace(text, artefact=artefact, notes=notes)


def _without_runner_lines(text: PlainText) -> PlainText:
    """Blank lines in place of those that a CI runner wrote about itself."""
    artefact = text.artefact
    if not _RUNNER_SIGN.search(_head(artefact)):
        return text
    plain = RawArtefact(artefact.name, lambda: _stream(artefact, _blank_runner_lines))
    return replace(text, artefact=plain, notes=(*text.notes, _RUNNER_NOTE))


def _blank_runner_lines(lines: bytes) -> bytes:
    return _RUNNER_COMMAND.sub(b"##[command]", _RUNNER.sub(b"", lines))


def _without_prefixes(text: PlainText, layers: int) -> list[PlainText]:
    prefix = _prefix_of(_head(text.artefact)) if layers else None
    if prefix is None:
        return [text]
    names = _names(prefix, text.artefact)
    if not _may_be_removed(text, prefix, len(names)):
        return [text]
    return [
        inner
        for name in (names if len(names) > 1 else [""])
        for inner in _without_prefixes(_removed(text, prefix, name), layers - 1)
    ]


def _may_be_removed(text: PlainText, prefix: Prefix, names: int) -> bool:
    """Whether a prefix with so many names is removed. A text is split by services only once,
    because each of the new texts is looked through again."""
    if prefix.has_one_name:
        return names == 1
    return names <= (1 if text.is_parted else MOST_NAMES)


def _head(artefact: RawArtefact) -> bytes:
    """Whole lines from the beginning, in UTF-8; nothing of a binary file."""
    with artefact.open() as stream:
        head = read_up_to(stream, HEAD_BYTES)
    is_cut = len(head) == HEAD_BYTES
    head = _in_utf_8(head)
    return head[: head.rfind(b"\n") + 1] if is_cut else head


def _in_utf_8(data: bytes) -> bytes:
    """The bytes of a text in UTF-8; nothing of a binary file."""
    if data.startswith(UTF16_MARKS):
        return data.decode("utf-16", errors="replace").encode()
    return b"" if is_binary(data) else data


def _prefix_of(head: bytes) -> Prefix | None:
    """The prefix that most lines have."""
    lines = [line for line in head.split(b"\n") if line.strip()]
    least = max(FEWEST_LINES, LEAST_SHARE * len(lines))
    others = 0
    for line in lines:
        # As mostly, few lines tell that too few have any.
        others += ANY.match(line) is None
        if len(lines) - others < least:
            return None
    for prefix in PREFIXES:
        pattern = prefix.pattern()
        least = max(FEWEST_LINES, prefix.least_share * len(lines))
        if sum(pattern.match(line) is not None for line in lines) >= least:
            return prefix
    return None


def _names(prefix: Prefix, artefact: RawArtefact) -> list[str]:
    """Whose lines these are, in the order of their first lines; empty if no name stands there.

    One more than MOST_NAMES at most.
    """
    names: dict[str, None] = {}
    pattern = prefix.pattern()
    for _, lines in line_chunks(Source(artefact)) if prefix.name else ():
        for match in pattern.finditer(lines):
            names.setdefault(match.group(1).decode(errors="replace"))
            if len(names) > MOST_NAMES:
                return list(names)
    return list(names)


def _remover(prefix: Prefix, name: str) -> Callable[[bytes], bytes]:
    """Takes the prefix off whole lines; with a name, other lines are left out."""
    if not name:
        pattern = prefix.pattern()
        return lambda lines: pattern.sub(b"", lines)
    line = re.compile(prefix.pattern(name).pattern + rb"(?P<rest>.*\n?)")
    return lambda lines: b"".join(match["rest"] for match in line.finditer(lines))


def _removed(text: PlainText, prefix: Prefix, name: str) -> PlainText:
    artefact, remove = text.artefact, _remover(prefix, name)
    note = f"Before each line {prefix.title} was removed."
    if name:
        note = f"These are the lines of {name}; {prefix.title} was removed before each."
    return replace(
        text,
        artefact=RawArtefact(
            f"{artefact.name} ({name})" if name else artefact.name,
            lambda: _stream(artefact, remove),
        ),
        notes=(*text.notes, note),
        is_parted=text.is_parted or bool(name),
    )


def _stream(artefact: RawArtefact, remove: Callable[[bytes], bytes]) -> BinaryIO:
    chunks = line_chunks(Source(artefact), size=CHUNK_BYTES)
    return stream_of(remove(lines) for _, lines in chunks)
