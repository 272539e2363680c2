"""The hash that says whether an upload that comes again is the same."""

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from backend.accounts.credentials.token_format import peppers
from backend.runs.registry.identity import canonical_json
from backend.untrusted.json.json_pieces import ITEMS, PIECE_BYTES


def content_hash(envelope: Mapping[str, Any], tool: str, files: Mapping[str, str]) -> str:
    """SHA-256 in hex over what was sent: `files` by name, with the SHA-256 of each."""
    digest = hashlib.sha256()
    for piece in canonical_pieces({"envelope": envelope, "tool": tool, "files": files}):
        digest.update(piece)
    return digest.hexdigest()


def canonical_pieces(value: Any) -> Iterator[bytes]:
    """`canonical_json(value)` in pieces, between which other threads run."""
    if not isinstance(value, dict | list):
        yield canonical_json(value)
        return
    opening, closing = (b"{", b"}") if isinstance(value, dict) else (b"[", b"]")
    yield opening
    for number, group in enumerate(_groups(value)):
        if number:
            yield b","
        yield from _pieces_of_group(group)
    yield closing


def _groups(value: dict[str, Any] | list[Any]) -> Iterator[dict[str, Any] | list[Any]]:
    """A few members at a time, in their order."""
    if isinstance(value, list):
        for start in range(0, len(value), ITEMS):
            yield value[start : start + ITEMS]
        return
    names = sorted(value)
    for start in range(0, len(names), ITEMS):
        yield {name: value[name] for name in names[start : start + ITEMS]}


def _pieces_of_group(group: dict[str, Any] | list[Any]) -> Iterator[bytes]:
    """The members with commas between them."""
    if len(orjson.dumps(group)) <= PIECE_BYTES:
        yield canonical_json(group)[1:-1]
        return
    members = group.items() if isinstance(group, dict) else ((None, item) for item in group)
    for number, (name, member) in enumerate(members):
        if number:
            yield b","
        if name is not None:
            yield canonical_json(name) + b":"
        yield from canonical_pieces(member)


def keyed(content_sha256: str) -> str:
    """The hash to store for an upload from which secrets were removed.

    Somebody who knows all of a text except a short password could find the password by trying,
    given the plain hash. Without the key this does not work.
    """
    return all_hashes(content_sha256)[1]


def all_hashes(content_sha256: str) -> list[str]:
    """The plain hash, then the hash under each pepper, the current one first: an upload is still
    recognised after the pepper was replaced.
    """
    keys = [pepper.encode() for pepper in peppers()]
    message = content_sha256.encode()
    return [content_sha256, *(hmac.new(key, message, hashlib.sha256).hexdigest() for key in keys)]
