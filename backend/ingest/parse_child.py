"""The child process that reads untrusted output: `python -m backend.ingest.parse_child`.

It holds no credentials, imports no Django, and lives under limits of memory, CPU time, file size
and open files. Requests and answers are length-prefixed JSON on stdin and stdout; one child
answers many requests, and is replaced after a crash.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import struct
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import orjson

from backend.formats import (
    PARSER_VERSION,
    FormatError,
    RawArtefact,
    parse,
)
from backend.formats.model import Entry, ReadTrial
from backend.formats.provenance import MAX_BYTES, NotTraced, trace
from backend.formats.text import read_up_to
from backend.ingest.decompress import DecompressionRefused, unpacked

LENGTH = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may use."""

    memory_bytes: int
    cpu_s: int
    output_bytes: int
    decompressed_bytes: int


def main() -> None:
    """Serve requests until stdin ends."""
    source, sink = sys.stdin.buffer, _own_stdout()
    # The worker's signals are for the worker: it ends this child by closing the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What was imported stays: the collector need not walk through it again and again.
    gc.collect()
    gc.freeze()
    while (request := read_message(source)) is not None:
        limits = Limits(**request["limits"])
        _limit(limits)
        write_message(sink, _answer(request, limits))


def _own_stdout() -> BinaryIO:
    # A stray print must not end up between two answers.
    sink = os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    return sink


def _limit(limits: Limits) -> None:
    # CPU time counts over the child's life, so each request moves the limit on.
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = int(used.ru_utime + used.ru_stime) + 1 + limits.cpu_s
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _answer(request: dict[str, Any], limits: Limits) -> bytes:
    answer: dict[str, Any]
    try:
        answer = (_trace if request.get("trace") else _read)(request, limits)
    except MemoryError:
        answer = {"fatal": "out_of_memory"}
    except (FormatError, DecompressionRefused, NotTraced) as refused:
        answer = as_refusal(refused)
    except OSError as away:  # a fault of the storage, not of what is in the file
        answer = {"away": away.strerror or str(away)}
    except Exception:  # a fault of ours: the parent logs it and fails this upload alone
        answer = {"fatal": "fault", "traceback": traceback.format_exc()}
    encoded = orjson.dumps(answer)
    if len(encoded) > limits.output_bytes:
        return orjson.dumps({"fatal": "too_much_output"})
    return encoded


def _read(request: dict[str, Any], limits: Limits) -> dict[str, Any]:
    artefacts = [
        artefact_of(item["name"], Path(item["path"]), limit_bytes=limits.decompressed_bytes)
        for item in request["artefacts"]
    ]
    entries = parse(artefacts, tool=request["tool"] or None)
    return {"version": PARSER_VERSION, "entries": [as_entry(entry) for entry in entries]}


def _trace(request: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Which numbers of the artefacts the figures of one of their trials stand on."""
    pieces = []
    for item in request["artefacts"]:
        artefact = artefact_of(
            item["name"], Path(item["path"]), limit_bytes=limits.decompressed_bytes
        )
        with artefact.open() as stream:
            pieces.append((artefact.name, read_up_to(stream, MAX_BYTES + 1)))
    found = trace(pieces, entry=request["trace"]["entry"], tool=request["tool"] or None)
    figures = {name: value for name, value in found.figures.items() if name != "histogram"}
    marks = [(one.artefact, one.start, one.end, one.line, one.figures) for one in found.marks]
    return {"texts": found.texts, "figures": figures, "marks": marks}


def as_refusal(refused: Exception) -> dict[str, Any]:
    """A refusal as one sentence, and apart: what was found in which line, what was expected."""
    answer: dict[str, Any] = {"refused": str(refused)}
    if isinstance(refused, FormatError):
        answer["refusal"] = {
            "reason": refused.reason,
            "line": refused.line,
            "found": None if refused.found is None else refused.found[:300],
            "expected": refused.expected,
        }
    return answer


def artefact_of(name: str, path: Path, *, limit_bytes: int) -> RawArtefact:
    """A file on disk as an artefact, unpacked as it is read."""
    return RawArtefact(name, lambda: unpacked(lambda: path.open("rb"), limit_bytes=limit_bytes))


def as_entry(entry: Entry) -> dict[str, Any]:
    """One trial, or refusal, as JSON: {"trial": a ReadTrial} or as `as_refusal` gives it."""
    if isinstance(entry, FormatError):
        return as_refusal(entry)
    return {"trial": msgspec.to_builtins(ReadTrial.of(entry))}


def trial_of(entry: Mapping[str, Any]) -> ReadTrial:
    """The trial of an entry that has one."""
    return msgspec.convert(entry["trial"], ReadTrial)


def read_message(source: BinaryIO) -> Any:
    """One length-prefixed JSON message; None at the end."""
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    body = source.read(LENGTH.unpack(head)[0])
    return orjson.loads(body)


def write_message(sink: BinaryIO, body: bytes) -> None:
    """Write one length-prefixed message."""
    sink.write(LENGTH.pack(len(body)) + body)
    sink.flush()


if __name__ == "__main__":
    main()
