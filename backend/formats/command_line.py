"""What a load tool's command says that its output may not: whether connections are kept."""

from __future__ import annotations

import re
from collections.abc import Sequence

# They keep connections unless their command says otherwise.
_KEEPING_TOOLS = frozenset(
    {"wrk", "wrk2", "hey", "oha", "bombardier", "autocannon", "vegeta", "h2load"}
)
# A header on the command line, as `-H "Connection: close"` or autocannon's `-H connection=close`.
_CLOSE_HEADER = re.compile(r"(?:-H|--headers?=)?connection\s*[:=]\s*close\s*", re.IGNORECASE)
_CLOSE_OPTION = re.compile(r"--?disable-keepalive|--?keepalive=(?:false|0)")


def asked_keepalive(tool: str, command: Sequence[str]) -> bool | None:
    """Whether the words of a command ask to keep connections; None where they do not tell."""
    if tool not in _KEEPING_TOOLS or not command:
        return None
    return not any(
        _CLOSE_HEADER.fullmatch(word) or _CLOSE_OPTION.fullmatch(word) for word in command
    )
