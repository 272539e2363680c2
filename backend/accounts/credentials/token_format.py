"""The written form of a token: `ls_<kind>_<30 base62><6 base62 of CRC32>`.

178 random bits; the checksum lets garbage be refused without a query, and the prefix lets
secret scanners find leaked ones. Only an HMAC with a pepper is ever stored. The first pepper signs;
the former ones only verify, so that a pepper can be replaced without ending tokens.
"""

import hashlib
import hmac
import re
import secrets
import string
import zlib

from django.conf import settings

ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
RANDOM_LENGTH = 30
CHECK_LENGTH = 6
LOOKUP_LENGTH = 8
_WRITTEN = re.compile(rf"ls_[a-z]{{1,20}}_[0-9A-Za-z]{{{RANDOM_LENGTH + CHECK_LENGTH}}}")


def new_token(kind: str) -> str:
    """A fresh clear-text token of `kind` ("agent", "api", "link", "invite")."""
    body = f"ls_{kind}_" + "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_LENGTH))
    return body + checksum(body)


def checksum(body: str) -> str:
    """CRC32 of `body` as six base62 digits."""
    number = zlib.crc32(body.encode())
    digits = ""
    for _ in range(CHECK_LENGTH):
        number, rest = divmod(number, len(ALPHABET))
        digits = ALPHABET[rest] + digits
    return digits


def is_well_formed(clear: str) -> bool:
    """Whether `clear` has the shape and checksum of a token of ours."""
    parts = clear.split("_")
    if len(parts) != 3 or parts[0] != "ls" or not clear.isascii():
        return False
    if len(parts[2]) != RANDOM_LENGTH + CHECK_LENGTH:
        return False
    return hmac.compare_digest(checksum(clear[:-CHECK_LENGTH]), clear[-CHECK_LENGTH:])


def holds_token(text: str) -> bool:
    """Whether a token of ours stands anywhere in the text, whether it still works or not."""
    return any(is_well_formed(written) for written in _WRITTEN.findall(text))


def lookup_of(clear: str) -> str:
    """The part stored in clear, by which the row is found."""
    return clear.split("_")[2][:LOOKUP_LENGTH]


def peppers() -> list[str]:
    """The pepper that signs, then those that it replaced."""
    return [settings.TOKEN_PEPPER, *settings.FORMER_TOKEN_PEPPERS]


def digest_of(clear: str) -> bytes:
    """HMAC-SHA256 of the token under the pepper that signs (32 bytes)."""
    return _digest(clear, settings.TOKEN_PEPPER)


def same_digest(stored: bytes, clear: str) -> bool:
    """Constant-time comparison of a stored digest with a clear-text token, under any pepper."""
    return any(hmac.compare_digest(stored, _digest(clear, pepper)) for pepper in peppers())


def pepper_id() -> str:
    """Eight characters that tell the pepper that signs from others, and nothing else of it."""
    return hmac.digest(settings.TOKEN_PEPPER.encode(), b"pepper id", hashlib.sha256).hex()[:8]


def _digest(clear: str, pepper: str) -> bytes:
    return hmac.digest(pepper.encode(), clear.encode(), hashlib.sha256)
