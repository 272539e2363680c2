"""What the child processes that handle untrusted bytes have in common.

Each lives under limits of memory, CPU time, file size and open files. Messages between a child and
its parent are JSON with its length before it, on stdin and stdout; one child answers many requests,
and is replaced after a crash.
"""

import gc
import os
import resource
import signal
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

# A terminal and systemd send these to every process of a service that they stop.
SIGNALS_TO_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LENGTH = struct.Struct(">I")


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


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may use."""

    memory_bytes: int
    cpu_s: int
    output_bytes: int
    decompressed_bytes: int
    # The largest file it may write.
    file_bytes: int = 0


def serve(answer: Callable[[dict[str, Any], Limits], bytes]) -> None:
    """Answer the requests of each message, in order, until stdin ends."""
    source, sink = sys.stdin.buffer, _own_stdout()
    # The worker's signals are for the worker: it ends this child by closing the pipe.
    for number in SIGNALS_TO_STOP:
        signal.signal(number, signal.SIG_IGN)
    _die_first()
    # What was imported stays: the collector need not walk through it again and again.
    gc.collect()
    gc.freeze()
    while (request := read_message(source)) is not None:
        limits = Limits(**request["limits"])
        for asked in request["requests"]:
            _limit(limits)
            write_message(sink, answer(asked, limits))


def _die_first() -> None:
    """Where memory runs out, the kernel ends this child, not the worker that started it."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


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
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.file_bytes,) * 2)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
