"""What makes two things the same: canonical JSON of the identity fields, hashed."""

import hashlib
import json
from collections.abc import Mapping


def canonical_json(value: object) -> bytes:
    """JSON with sorted keys, no spaces, UTF-8: equal values give equal bytes.

    Raises ValueError on NaN and the infinities: they are no JSON, and NaN equals nothing.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def identity_of(fields: Mapping[str, object]) -> bytes:
    """SHA-256 (32 bytes) of the identity fields."""
    return hashlib.sha256(canonical_json(dict(fields))).digest()
