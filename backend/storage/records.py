"""What a storage says of what it has."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Stored:
    """What was stored: SHA-256 in hex and the size in bytes.

    `inode` is the file's where this made it; 0 where the bytes were there before.
    """

    sha256: str
    size_bytes: int
    inode: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Listed:
    """Something in the storage: its name, size in bytes and when it was written (Unix time, s)."""

    name: str
    size_bytes: int
    written_at_s: float
