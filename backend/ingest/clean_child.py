"""The child process that takes secrets out of files: `python -m backend.ingest.clean_child`.

It holds no credentials and imports no Django. It writes one file alone: the rewritten one.
"""

from __future__ import annotations

import argparse
import errno
import os
import traceback
from pathlib import Path
from typing import Any

import orjson

from backend.ingest.archive_cleaning import clean_archive, is_archive
from backend.ingest.child import Limits, serve
from backend.ingest.decompress import BeyondLimit, DecompressionRefused, TooManyBytes
from backend.ingest.rewriting import REDACTOR, CannotClean, holds_secret, rewritten


def main() -> None:
    """Serve requests until stdin ends, with a lower priority than other processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nice", type=int, default=0)
    # Only now: with a low priority from the beginning, its start took 10 s on a busy machine.
    os.nice(parser.parse_args().nice)
    serve(_answer)


def _answer(request: dict[str, Any], limits: Limits) -> bytes:
    answer: dict[str, Any]
    try:
        if "json" in request:
            answer = {"json": _clean_json(request["json"])}
        else:
            answer = _clean(Path(request["source"]), Path(request["target"]), limits)
    except (CannotClean, DecompressionRefused) as refused:
        answer = {
            "refused": str(refused),
            "is_too_large": isinstance(refused, BeyondLimit),
            "has_too_many_bytes": isinstance(refused, TooManyBytes),
        }
    except OSError as away:
        answer = _answer_to(away, limits)
    except MemoryError:
        answer = {"fatal": "out_of_memory"}
    except Exception:  # a fault of ours: the parent logs it and refuses this upload alone
        answer = {"fatal": "fault", "traceback": traceback.format_exc()}
    return orjson.dumps(answer)


def _clean_json(sent: Any) -> str | None:
    """JSON without secrets, as text, which the parent decodes in pieces; None where it has none."""
    cleaned = REDACTOR.value(sent)
    return None if cleaned == sent else orjson.dumps(cleaned).decode()


def _answer_to(away: OSError, limits: Limits) -> dict[str, Any]:
    if away.errno != errno.EFBIG:  # a fault of the disk, not of what is in the file
        return {"away": away.strerror or str(away)}
    sentence = (
        "A file contains a secret that cannot be removed: without it the file would have more than "
        f"{limits.file_bytes:,} bytes, the limit of a rewritten file."
    )
    return {"refused": sentence, "is_too_large": True, "has_too_many_bytes": False}


def _clean(source: Path, target: Path, limits: Limits) -> dict[str, Any]:
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


if __name__ == "__main__":
    main()
