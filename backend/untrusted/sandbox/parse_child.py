"""The child process that reads untrusted output: `python -m backend.untrusted.sandbox.parse_child`.

It holds no credentials, imports no Django, and lives under limits of memory, CPU time, file size
and open files. Requests and answers are length-prefixed JSON on stdin and stdout; one child
answers many requests, and is replaced after a crash.
"""

import io
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import orjson

from backend.formats import PARSER_VERSION, FormatError, parse, techempower_summary
from backend.formats.archive_facts import NO_FACTS
from backend.formats.httparena import machine
from backend.formats.model import Entry, ParsedTrial, RawArtefact
from backend.formats.provenance import MAX_BYTES, NotTraced, trace
from backend.formats.text import read_up_to
from backend.untrusted.archives.archives import files_of
from backend.untrusted.archives.decompress import DecompressionRefused, unpacked
from backend.untrusted.sandbox.child import Limits, serve
from backend.untrusted.sandbox.child_answers import as_entry, as_refusal, storable

# What reads the facts of an archive of results: nothing of an archive of another kind.
ARCHIVES = (techempower_summary.facts_of, machine.facts_of)


def main() -> None:
    """Serve requests until stdin ends."""
    serve(_answer)


def _answer(request: dict[str, Any], limits: Limits) -> bytes:
    try:
        answer = (_trace if request.get("trace") else _read)(request, limits)
        return _encoded(answer, limits)
    except MemoryError:
        answer = {"fatal": "out_of_memory"}
    except (FormatError, DecompressionRefused, NotTraced) as refused:
        answer = as_refusal(refused)
    except OSError as away:  # a fault of the storage, not of what is in the file
        answer = {"away": away.strerror or str(away)}
    except Exception:  # a fault of ours: the parent logs it and fails this upload alone
        answer = {"fatal": "fault", "traceback": traceback.format_exc()}
    return _encoded(answer, limits)


def _encoded(answer: dict[str, Any], limits: Limits) -> bytes:
    encoded = orjson.dumps(storable(answer))
    if len(encoded) > limits.output_bytes:
        return orjson.dumps({"fatal": "too_much_output"})
    return encoded


def _read(request: dict[str, Any], limits: Limits) -> dict[str, Any]:
    artefacts = [
        artefact
        for item in request["artefacts"]
        for artefact in files_of(
            item["name"], _opener_of(item), limit_bytes=limits.decompressed_bytes
        )
    ]
    entries = parse(artefacts, tool=request["tool"] or None)
    most = request.get("most")
    shown = entries if most is None else _first_of_each(entries, most)
    return {
        "version": PARSER_VERSION,
        "entries": [as_entry(entry) for entry in shown],
        **_archive(artefacts, entries),
    }


def _first_of_each(entries: Sequence[Entry], most: int) -> Iterator[Entry]:
    """The first trials, and as many refusals: who shows no more need not have them all."""
    counts = Counter[bool]()
    for entry in entries:
        counts[is_refused := isinstance(entry, FormatError)] += 1
        if counts[is_refused] <= most:
            yield entry


def _archive(artefacts: Sequence[RawArtefact], entries: Sequence[Entry]) -> dict[str, Any]:
    """{"archive": ArchiveFacts} of an archive of results; empty for other files."""
    if len(artefacts) == 1:
        return {}
    trials = [entry for entry in entries if isinstance(entry, ParsedTrial)]
    for read in ARCHIVES:
        facts = read(artefacts, trials)
        if facts != NO_FACTS:
            return {"archive": msgspec.to_builtins(facts)}
    return {}


def _trace(request: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Which numbers of the artefacts the figures of one of their trials stand on."""
    pieces = []
    for item in request["artefacts"]:
        with unpacked(_opener_of(item), limit_bytes=limits.decompressed_bytes) as stream:
            pieces.append((item["name"], read_up_to(stream, MAX_BYTES + 1)))
    traced = trace(pieces, entry=request["trace"]["entry"], tool=request["tool"] or None)
    figures = {name: value for name, value in traced.figures.items() if name != "histogram"}
    marks = [
        (mark.artefact, mark.start, mark.end, mark.line, mark.figures) for mark in traced.marks
    ]
    return {"texts": traced.texts, "figures": figures, "marks": marks}


def _opener_of(item: Mapping[str, str]) -> Callable[[], BinaryIO]:
    """What opens a raw file: a file on disk, or a small text that came with the request."""
    if "text" in item:
        content = item["text"].encode("latin-1")
        return lambda: io.BytesIO(content)
    path = Path(item["path"])
    return lambda: path.open("rb")


if __name__ == "__main__":
    main()
