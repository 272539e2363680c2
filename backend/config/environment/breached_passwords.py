"""Refusing passwords that were published, where the operator named a list of them.

The list is asked by range, as at haveibeenpwned.com: it gets the first five digits of a SHA-1, and
answers the rest of each one that it knows. So it learns neither the password nor its hash.
"""

import hashlib
import logging
import ssl

import httpcore
from django.core.exceptions import ValidationError

from backend.deliveries.public_address import BoundedBackend

log = logging.getLogger(__name__)

# For everything: resolving, connecting, and the whole answer.
TOTAL_S = 2.0
# A range now has about 2,000 lines of 40 bytes.
MOST_BYTES = 4 << 20
PREFIX = 5
_FAULTS = (
    *(httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException),
    *(OSError, ValueError),
)


class BreachedPasswordValidator:
    """Refuses what the list at `address` knows; takes every password while the list is away."""

    def __init__(self, address: str) -> None:
        self._address = address

    def validate(self, password: str, user: object = None) -> None:
        """Raises ValidationError."""
        digits = hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()
        try:
            answer = _ask(self._address + digits[:PREFIX])
        except _FAULTS as error:
            # Nobody is kept from an account because another service is down.
            log.warning("breached_passwords_away", extra={"reason": _words(error)})
        else:
            if _is_listed(digits[PREFIX:], answer):
                raise ValidationError(
                    "This password was published after a data breach, so attackers try it first. "
                    "Choose another one, and change it wherever else you use it.",
                    code="password_breached",
                )

    def get_help_text(self) -> str:
        return "Your password must not be one that was published after a data breach."


def _ask(address: str) -> str:
    """The answer's text. Raises httpcore's errors, and ValueError if it is no list."""
    # The operator chose the address: it may be a copy of the list inside.
    backend = BoundedBackend(within_s=TOTAL_S, is_private_allowed=True)
    # Padding hides from who counts bytes which range was asked for.
    headers = [("User-Agent", "Loadsheet"), ("Add-Padding", "true")]
    with (
        httpcore.ConnectionPool(
            ssl_context=ssl.create_default_context(), network_backend=backend
        ) as pool,
        pool.stream("GET", address, headers=headers) as response,
    ):
        if response.status != 200:
            raise ValueError(f"the list answered {response.status}, expected 200")
        text = b""
        for chunk in response.iter_stream():
            text += chunk
            if len(text) > MOST_BYTES:
                raise ValueError(f"the list answered more than {MOST_BYTES} bytes")
        return text.decode("ascii")


def _is_listed(rest: str, answer: str) -> bool:
    """Whether a line has these digits, and a number above 0; lines of padding have 0."""
    lines = (line.strip().partition(":") for line in answer.splitlines())
    return any(digits.upper() == rest and count not in ("", "0") for digits, _, count in lines)


def _words(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
