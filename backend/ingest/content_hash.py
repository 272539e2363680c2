"""The hash that says whether an upload that comes again is the same."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

from backend.accounts.token_format import peppers
from backend.runs.identity import canonical_json


def content_hash(envelope: Mapping[str, Any], tool: str, files: Mapping[str, str]) -> str:
    """SHA-256 in hex over what was sent: `files` by name, with the SHA-256 of each."""
    content = {"envelope": envelope, "tool": tool, "files": files}
    return hashlib.sha256(canonical_json(content)).hexdigest()


def keyed(content_sha256: str) -> str:
    """The hash to store for an upload from which secrets were removed.

    Somebody who knows all of a text except a short password could find the password by trying,
    given the plain hash. Without the key this does not work.
    """
    return all_hashes(content_sha256)[1]


def all_hashes(content_sha256: str) -> list[str]:
    """The plain hash, then the hash under each pepper, the one of today first: an upload is still
    recognised after the pepper was replaced.
    """
    keys = [pepper.encode() for pepper in peppers()]
    message = content_sha256.encode()
    return [content_sha256, *(hmac.new(key, message, hashlib.sha256).hexdigest() for key in keys)]
