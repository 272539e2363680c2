"""A file, or JSON, without its secrets: what the child does that reads untrusted files."""

import errno
from pathlib import Path
from typing import Any

import orjson

from backend.untrusted.sandbox.child import Limits
from backend.untrusted.secrets.archive_cleaning import clean_archive, is_archive
from backend.untrusted.secrets.rewriting import REDACTOR, holds_secret, rewritten


def clean_json(sent: Any) -> str | None:
    """JSON without secrets, as text, which the parent decodes in pieces; None if it has none."""
    cleaned = REDACTOR.value(sent)
    return None if cleaned == sent else orjson.dumps(cleaned).decode()


def clean_file(source: Path, target: Path, limits: Limits) -> dict[str, Any]:
    """Whether the file held a secret; `target` then holds it without."""
    limit_bytes = limits.decompressed_bytes
    with source.open("rb") as file:
        if is_archive(file, limit_bytes=limit_bytes):
            is_changed = clean_archive(source, target, limit_bytes=limit_bytes)
            return {"changed": is_changed}
        if not holds_secret(file, limit_bytes=limit_bytes):
            return {"changed": False}
        with target.open("wb") as out:
            for piece in rewritten(file, limit_bytes=limit_bytes):
                out.write(piece)
    return {"changed": True}


def answer_to(away: OSError, limits: Limits) -> dict[str, Any]:
    """A refusal where the rewritten file is too large, else a fault of the disk."""
    if away.errno != errno.EFBIG:  # a fault of the disk, not of what is in the file
        return {"away": away.strerror or str(away)}
    sentence = (
        "A file contains a secret that cannot be removed: without it the file would have more than "
        f"{limits.file_bytes:,} bytes, the limit of a rewritten file."
    )
    return {"refused": sentence, "is_too_large": True, "has_too_many_bytes": False}
