"""What names an output: two trials with one name were measured once.

The name is SHA-256 of the output as its tool wrote it, without its dress: ends of lines, indents,
quoting, fences, prompts, commands, prose around it, and the times that a log puts before lines.
Of a text, lines with digits count; of a JSON document its values, however they are laid out; of
rows their cells. Outputs that differ in one printed digit, also in one that is not read, have
different names, so no honest trial is taken for a copy where its tool prints enough digits.
Of a log too long to be a text, and of a binary file, all that was read has the name.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import orjson

from backend.formats.blocks import JSON, LONGEST, TABLE
from backend.formats.commands import is_shell_line
from backend.formats.model import ParsedTrial
from backend.formats.parts import Part
from backend.formats.text import Line, Source

# A sentence has so many words, and fewer numbers than words by this factor.
FEWEST_WORDS, WORDS_A_NUMBER, SHORTEST = 8, 4, 40
_DIGIT = re.compile(r"\d")
_WITH_DIGITS = re.compile(r"^.*\d.*$", re.MULTILINE)
# One of these is in each line that shows a prompt or a command.
_SHELL_SIGNS = ("$", "\u276f", "#", "+ ", "Run ", "PS ", ":\\")
_WORD = re.compile(r"[A-Za-z]{2,}[,.;:!?]?")


def name_of(trial: ParsedTrial, part: Part, place: int, lines: tuple[int, int]) -> str:
    """The name of the output of a trial: the one at this place in the part, on these lines."""
    names = [_name(trial, part, place, lines)]
    names += [_name(trial, other, 0, (other.first, other.last)) for other in part.others]
    return names[0] if len(names) == 1 else _joined(names)


def name_of_files(trial: ParsedTrial, parts: Sequence[Part], place: int) -> str:
    """The name of the outputs in several files, in any order, of the trial at this place."""
    names = [_name(trial, part, 0, (part.first, part.last)) for part in parts]
    return _joined(names) if len(names) > 1 or place else names[0]


def _joined(names: Iterable[str]) -> str:
    return _hex(" ".join(sorted(names)))


def _name(trial: ParsedTrial, part: Part, place: int, lines: tuple[int, int]) -> str:
    """Of the trial at this place among those of the part."""
    if part.source.is_binary or part.source.is_log or len(part.source.text) > LONGEST:
        return _name_of_figures(trial)
    if lines not in part.names:
        part.names[lines] = _hex(_written(part, lines))
    # Several trials of one document, such as the rows of a table.
    is_shared = len(part.entries) > 1 and lines == (part.first, part.last)
    return _hex(f"{place} {part.names[lines]}") if is_shared else part.names[lines]


def _written(part: Part, lines: tuple[int, int]) -> str | bytes:
    """What the tool wrote on these lines, without its dress."""
    source = part.source
    if part.kind == JSON and (values := _values(source, lines)):
        return values
    if part.kind == TABLE:
        return "".join("".join(line.text for line in source.lines).split())
    is_all = lines == (part.first, part.last)
    return _undressed(source.lines if is_all else source.lines_between(*lines))


def _values(source: Source, lines: tuple[int, int]) -> bytes:
    """The JSON documents on these lines; empty where their values cannot be written."""
    values = [each.value for each in source.documents_between(*lines)]
    try:
        return orjson.dumps(values, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError, RecursionError):
        return b""


def _undressed(lines: Iterable[Line]) -> str:
    """What has digits of the lines, without white space and what stands around an output."""
    # The two signs of micro are the same.
    text = "\n".join([line.text for line in lines if line.text]).replace("\u03bc", "\u00b5")
    rows = [row for row in _WITH_DIGITS.findall(text) if not _is_sentence(row)]
    if any(sign in text for sign in _SHELL_SIGNS):
        rows = [row for row in rows if not _is_shell(row)]
    return "".join("".join(rows).split())


def _is_shell(row: str) -> bool:
    return any(sign in row for sign in _SHELL_SIGNS) and is_shell_line(row)


def _is_sentence(row: str) -> bool:
    # As most lines, a short one and one with columns is none.
    if len(row) < SHORTEST or "  " in row or row.count(" ") < FEWEST_WORDS - 1:
        return False
    words = row.split(" ")
    plain = sum(_WORD.fullmatch(word) is not None for word in words)
    if plain < FEWEST_WORDS:
        return False
    return WORDS_A_NUMBER * sum(_DIGIT.search(word) is not None for word in words) <= plain


def _name_of_figures(trial: ParsedTrial) -> str:
    bare = replace(trial, command="", lines=None, notes=(), disagreements=())
    figures = orjson.dumps(bare.as_dict(), option=orjson.OPT_SORT_KEYS, default=str)
    histogram = trial.histogram.encode() if trial.histogram is not None else b""
    slices = orjson.dumps([[part.completed, part.failed] for part in trial.timeline])
    return _hex(b"\0".join((figures, histogram, slices)))


def _hex(content: str | bytes) -> str:
    raw = content.encode(errors="replace") if isinstance(content, str) else content
    return hashlib.sha256(raw).hexdigest()
