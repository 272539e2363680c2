"""Messages between a child and its parent: JSON with its length before it."""

import struct
from typing import Any, BinaryIO

import orjson

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
