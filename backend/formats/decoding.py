"""Text of the bytes that people send: without marks of an encoding and codes of terminals."""

import codecs
import re

UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

# Handles bytes that are no UTF-8; the name that `bytes.decode` knows it by. More than so many are
# no text, and each takes a call.
FROM_WINDOWS, MOST_FROM_WINDOWS = "loadsheet-windows-1252", 100_000
UNREADABLE = "\ufffd"
# Codes of terminals other than "\x1b[…": titles, character sets, keypad modes, saved cursors.
OTHER_CODES = re.compile(
    r"\x1b(?:\][^\x07\x1b\n]{0,300}(?:\x07|\x1b\\)|[()*+][0-9A-Z]|[=>78cDEHM])"
)


def is_binary(data: bytes) -> bool:
    """Whether a file begins as no text does."""
    return b"\0" in data[:4096] and not data.startswith(UTF16_MARKS)


def decode(data: bytes) -> str:
    """Text of UTF-8 (or UTF-16 with its mark), without marks and colour codes.

    A file that was pasted behind other text has its mark in the middle.
    """
    if data.startswith(UTF16_MARKS):
        text = data.decode("utf-16", errors="replace")
    else:
        text = data.decode("utf-8", errors="replace")
        if 0 < text.count(UNREADABLE) <= MOST_FROM_WINDOWS:
            text = data.decode("utf-8", errors=FROM_WINDOWS)
    return _without_ansi(text.replace("\ufeff", ""))


def _from_windows(fault: UnicodeError) -> tuple[str, int]:
    """What bytes that are no UTF-8 are in Windows-1252: only there "µs" has such a byte."""
    if not isinstance(fault, UnicodeDecodeError):
        raise fault
    return fault.object[fault.start : fault.end].decode("cp1252", errors="replace"), fault.end


codecs.register_error(FROM_WINDOWS, _from_windows)


def _without_ansi(text: str) -> str:
    if "\x1b" not in text:
        return text
    first, *rest = OTHER_CODES.sub("", text).split("\x1b[")
    return "".join([first, *(_after_code(piece) for piece in rest)])


def _after_code(piece: str) -> str:
    for position, character in enumerate(piece[:24]):
        if character.isalpha():
            return piece[position + 1 :]
    return piece
