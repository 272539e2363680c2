"""A parse child whose parser misbehaves as the artefact's first word asks."""

import ctypes
import os
import sys
import time

from backend.ingest import parse_child


def start_sleepers():
    """Ten processes that hold the parser's end of the pipe for a minute."""
    for _ in range(10):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)


def flood():
    """A gigabyte into the pipe to the reader, in place of an answer."""
    pipes = [
        int(name)
        for name in os.listdir("/proc/self/fd")
        if os.path.exists(f"/proc/self/fd/{name}") and int(name) > 2
    ]
    for _ in range(1024):
        for pipe in pipes:
            os.write(pipe, b"x" * (1 << 20))


def parse(artefacts, *, tool=None):
    if not artefacts:
        return []
    order = artefacts[0].open().read().split()[0]
    if order == b"ALLOCATE":
        return [bytearray(1 << 40)]
    if order == b"SEGFAULT":
        ctypes.string_at(0)
    if order == b"SPIN":
        while True:
            pass
    if order == b"EXIT":
        os._exit(7)
    if order == b"FORK":
        start_sleepers()
        ctypes.string_at(0)
    if order == b"FLOOD":
        flood()
    if order == b"PRINT":
        sys.stdout.write("noise " * 10_000)
    return []


parse_child.parse = parse
parse_child.main()
