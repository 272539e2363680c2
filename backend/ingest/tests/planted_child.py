"""A parse child whose parser misbehaves as the artefact's first word asks."""

import ctypes
import os
import sys

from backend.ingest import parse_child


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
    if order == b"PRINT":
        sys.stdout.write("noise " * 10_000)
    return []


parse_child.parse = parse
parse_child.main()
