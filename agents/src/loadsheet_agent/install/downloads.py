"""Sources that servers are installed from, downloaded once and held against their hashes."""

from __future__ import annotations

import hashlib
import shutil
import ssl
from collections.abc import Iterable
from pathlib import Path

import httpx

from loadsheet_agent.errors import BrokenInstallError, NotInstalledError
from loadsheet_agent.install.repositories import check_out
from loadsheet_agent.plan.server_spec import SourceSpec

TIMEOUT_S = 60.0
LIMIT_BYTES = 200_000_000


def put_sources(sources: Iterable[SourceSpec], target: Path, *, folder: Path) -> None:
    """Copy each source into `target` under its own name. Raises NotInstalledError.

    `folder` keeps each source under its hash, so that it is downloaded once.
    """
    for source in sources:
        place = target / source.label
        if source.commit is None:
            shutil.copyfile(_fetch(source, folder), place)
        else:
            check_out(source.url, source.commit, place, folder=folder)


def _fetch(source: SourceSpec, folder: Path) -> Path:
    """Where the file is; it is downloaded unless it is there."""
    path = folder / source.digest
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    try:
        digest = _download(source.url, part)
    except (httpx.HTTPError, OSError) as error:
        is_gone = isinstance(error, httpx.HTTPStatusError) and error.response.is_client_error
        kind = BrokenInstallError if is_gone else NotInstalledError
        raise kind(
            f"{source.url} could not be downloaded ({error}); without a network, put the file "
            f"at {path}"
        ) from error
    if digest != source.digest:
        part.unlink()
        raise BrokenInstallError(f"{source.url} has the SHA-256 {digest}; expected {source.digest}")
    part.replace(path)
    return path


def _download(url: str, path: Path) -> str:
    """Write the file, and return the SHA-256 of its bytes. Raises httpx.HTTPError or OSError."""
    digest, size = hashlib.sha256(), 0
    context = ssl.create_default_context()
    with httpx.stream(
        "GET", url, follow_redirects=True, timeout=TIMEOUT_S, verify=context
    ) as answer:
        answer.raise_for_status()
        with path.open("wb") as file:
            for block in answer.iter_bytes():
                size += len(block)
                if size > LIMIT_BYTES:
                    raise OSError(f"it has more than {LIMIT_BYTES:,} bytes")
                digest.update(block)
                file.write(block)
    return digest.hexdigest()
