"""The child process that opens archives: `python -m backend.transfer.read_child`.

It holds no credentials and imports no Django, and lives under limits of memory, CPU time, file
size and open files. It writes to the paths that it is given, and uses no path of the archive.
"""

import base64
import binascii
import hashlib
import traceback
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import msgspec
import orjson

from backend.errors import InvalidInput
from backend.stats import Histogram
from backend.transfer.layout import (
    IS_RAW,
    IS_ROWS,
    MANIFEST,
    MAX_FILES,
    MAX_LINE_BYTES,
    MAX_MANIFEST_BYTES,
    MAX_UNPACKED_BYTES,
    RAW,
)
from backend.untrusted.archives.archives import BROKEN_ZIP, METHODS
from backend.untrusted.json.plain_json import check_plain
from backend.untrusted.sandbox.child import Limits, serve

PIECE_BYTES = 1 << 20
CUT = "It is damaged, or was cut: "


class ArchiveRefused(InvalidInput):
    """The archive is not as one of Loadsheet is."""


def main() -> None:
    """Serve requests until stdin ends."""
    serve(_answer)


def _answer(request: dict[str, Any], limits: Limits) -> bytes:
    answer: dict[str, Any]
    try:
        asked = {"look": _look, "rows": _rows, "raw": _raw}[request["operation"]]
        answer = asked(request, limits)
    except InvalidInput as refused:
        answer = {"refused": str(refused)}
    except BROKEN_ZIP as broken:
        answer = {"refused": f"{CUT}{broken}"}
    except OSError as away:  # a fault of the disk, not of what is in the archive
        answer = {"away": away.strerror or str(away)}
    except MemoryError:
        answer = {"fatal": "out_of_memory"}
    except Exception:  # a fault of ours: the parent logs it
        answer = {"fatal": "fault", "traceback": traceback.format_exc()}
    return orjson.dumps(answer)


@lru_cache(maxsize=1)
def _opened(path: str) -> zipfile.ZipFile:
    # Open as long as the child lives: the directory of a large archive takes seconds to read.
    return zipfile.ZipFile(path)


@lru_cache(maxsize=1)
def _raw_names(path: str) -> list[str]:
    return sorted(name for name in _opened(path).namelist() if name.startswith(RAW))


def _look(request: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """The manifest, and how many raw files there are and bytes unpacked."""
    archive = _opened(request["archive"])
    infos = archive.infolist()
    _check_entries(infos)
    sizes = {info.filename: info.file_size for info in infos}
    rows = sorted(filter(IS_ROWS, sizes))
    size_bytes = sum(sizes.values())
    if size_bytes > limits.decompressed_bytes:
        raise ArchiveRefused(
            f"It has {size_bytes:,} bytes unpacked; at most {limits.decompressed_bytes:,} fit."
        )
    return {
        "manifest": _manifest(archive),
        "raw": len(_raw_names(request["archive"])),
        "rows": rows,
        "size_bytes": size_bytes,
        "rows_bytes": sum(sizes[name] for name in rows),
    }


def _check_entries(infos: Sequence[zipfile.ZipInfo]) -> None:
    """Raises ArchiveRefused for files that no archive of Loadsheet has."""
    names = {info.filename for info in infos}
    if len(infos) > MAX_FILES + 1000:
        raise ArchiveRefused(f"It has {len(infos)} files; at most {MAX_FILES} are accepted.")
    if len(names) < len(infos):
        raise ArchiveRefused("A file is in it twice.")
    if MANIFEST not in names:
        raise ArchiveRefused(f"{CUT}it has no {MANIFEST}, which is at its end.")
    for info in infos:
        _check_entry(info)


def _check_entry(info: zipfile.ZipInfo) -> None:
    name = info.filename
    if name != MANIFEST and not IS_ROWS(name) and not IS_RAW(name):
        raise ArchiveRefused(f"It has a file {name[:80]!r}, which no archive of Loadsheet has.")
    if info.flag_bits & 1 or info.compress_type not in METHODS or info.header_offset < 0:
        raise ArchiveRefused(f"{name} is packed in a way that Loadsheet does not use.")


def _manifest(archive: zipfile.ZipFile) -> Any:
    with archive.open(MANIFEST) as member:
        raw = member.read(MAX_MANIFEST_BYTES + 1)
    if len(raw) > MAX_MANIFEST_BYTES:
        raise ArchiveRefused(f"Its {MANIFEST} has more than {MAX_MANIFEST_BYTES:,} bytes.")
    manifest = _json(raw, MANIFEST)
    check_plain(manifest)
    return manifest


def _rows(request: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Write the rows of one table, checked, to `target`: one JSON object a line."""
    digest, count = hashlib.sha256(), 0
    with (
        _opened(request["archive"]).open(request["name"]) as member,
        Path(request["target"]).open("wb") as target,
    ):
        for line in _lines(member, request["name"]):
            digest.update(line)
            count += 1
            row = _json(line, f"{request['name']}, line {count}")
            _check_row(row, f"{request['name']}, line {count}")
            target.write(orjson.dumps(row) + b"\n")
    return {"rows": count, "sha256": digest.hexdigest()}


def _lines(member: IO[bytes], name: str) -> Iterator[bytes]:
    while line := member.readline(MAX_LINE_BYTES + 1):
        if not line.endswith(b"\n"):
            raise ArchiveRefused(
                f"{name} has a line without an end, or of more than {MAX_LINE_BYTES:,} bytes."
            )
        yield line


def _json(raw: bytes, place: str) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ArchiveRefused(f"{place} is not JSON: {error}.") from None


def _check_row(row: Any, place: str) -> None:
    if not isinstance(row, dict):
        raise ArchiveRefused(f"{place} is not an object.")
    try:
        for name, value in row.items():
            check_plain(value)
            if value is not None and name in _PACKED:
                _PACKED[name](value)
    except (ValueError, TypeError, KeyError, IndexError, zlib.error, EOFError) as error:
        raise ArchiveRefused(f"{place}: {str(error)[:200]}") from None


def _check_packed(value: Any) -> None:
    """Samples or slices: zlib over a JSON list, which is unpacked where it is shown."""
    unpacker = zlib.decompressobj()
    unpacked = unpacker.decompress(_bytes(value), MAX_UNPACKED_BYTES)
    if not unpacker.eof:
        raise ValueError(
            f"packed: it is cut, or has more than {MAX_UNPACKED_BYTES:,} bytes unpacked"
        )
    entries = _json(unpacked, "packed")
    check_plain(entries)
    if not isinstance(entries, list):
        raise ValueError("packed: it is not a list")


def _bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error:
        raise ValueError("a packed value is not base64") from None


_PACKED: dict[str, Callable[[Any], object]] = {
    "histogram": lambda value: Histogram.decode(_bytes(value)),
    "packed": _check_packed,
}


def _raw(request: dict[str, Any], _: Limits) -> dict[str, Any]:
    """Write the next raw files into the folder `target`: files number `first` and those after it,
    until they have `most_bytes`."""
    archive, names = _opened(request["archive"]), _raw_names(request["archive"])
    written: list[str] = []
    left = request["most_bytes"]
    for name in names[request["first"] :]:
        if written and (left <= 0 or len(written) == request["most_files"]):
            break
        sha256 = name.removeprefix(RAW)
        left -= _write_raw(archive, name, Path(request["target"]) / sha256)
        written.append(sha256)
    return {"files": written}


def _write_raw(archive: zipfile.ZipFile, name: str, target: Path) -> int:
    digest, size_bytes = hashlib.sha256(), 0
    with archive.open(name) as member, target.open("wb") as out:
        while piece := member.read(PIECE_BYTES):
            digest.update(piece)
            size_bytes += len(piece)
            out.write(piece)
    if digest.hexdigest() != name.removeprefix(RAW):
        raise ArchiveRefused(f"{name} has the SHA-256 {digest.hexdigest()}: it was changed.")
    return size_bytes


if __name__ == "__main__":
    main()
