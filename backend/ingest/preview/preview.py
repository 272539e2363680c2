"""The beginning of an artefact as text to read on a page."""

import io
import re
from dataclasses import dataclass

from backend.storage import open_artefact
from backend.untrusted.archives.decompress import FREE_BYTES, DecompressionRefused, unpacked

PREVIEW_BYTES = 256 << 10
# As stored; text is never packed to more than its size.
STORED_BYTES = 4 * PREVIEW_BYTES
# Colour codes of terminals, and control characters that are no white space.
_ESCAPES = re.compile(r"\x1b\[[0-?]{0,20}[ -/]{0,5}[@-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Preview:
    """What can be read of an artefact; `text` is empty when it is no text."""

    text: str
    truncated: bool


def preview(sha256: str, *, limit_bytes: int = PREVIEW_BYTES) -> Preview:
    """At most `limit_bytes` of the artefact, unpacked. Raises FileNotFoundError.

    No more than `STORED_BYTES` of it are looked at: a packed file may begin with any number of
    bytes that unpack to nothing.
    """
    with open_artefact(sha256) as stored:
        beginning = stored.read(STORED_BYTES)
    try:
        plain = unpacked(lambda: io.BytesIO(beginning), limit_bytes=FREE_BYTES)
        data = plain.read(limit_bytes + 1)
    except DecompressionRefused:
        return Preview("", truncated=True)
    truncated = len(data) > limit_bytes
    if b"\0" in data[:1024]:
        return Preview("", truncated=truncated)
    text = data[:limit_bytes].decode("utf-8", errors="replace")
    return Preview(_ESCAPES.sub("", text), truncated=truncated)
