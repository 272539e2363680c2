"""What a load tool's command says that its output may not.

Kept connections, compressed responses, requests to send.
"""

import re
from collections.abc import Sequence
from itertools import zip_longest

from backend.formats.numbers import parse_duration_s
from backend.formats.tools import TOOLS

# A header on the command line, as `-H "Connection: close"` or autocannon's `-H connection=close`.
# A word may have 20,000 characters, so its value is not matched, but cut off.
_HEADER = re.compile(r"(?:-H|--headers?=)?([a-z-]{1,32})\s{0,8}[:=]", re.IGNORECASE)
_CLOSE_OPTION = re.compile(r"--?disable-keepalive|--?keepalive=(?:false|0)")


def asked_keepalive(tool: str, command: Sequence[str]) -> bool | None:
    """Whether the words of a command ask to keep connections; None if they do not tell."""
    if tool not in TOOLS or not TOOLS[tool].keeps_connections or not command:
        return None
    return "close" not in _values_of("connection", command) and not any(
        map(_CLOSE_OPTION.fullmatch, command)
    )


def _values_of(header: str, command: Sequence[str]) -> list[str]:
    """What the words of a command give a header, in small letters."""
    matches = [(word, match) for word in command if (match := _HEADER.match(word))]
    return [
        word[match.end() :].strip().lower() for word, match in matches if match[1].lower() == header
    ]


# Its program has the name of the one that it is made of.
_PROGRAMS = {"wrk2": ("wrk", "wrk2"), "nighthawk": ("nighthawk", "nighthawk_client")}


def _is_of(tool: str, command: Sequence[str]) -> bool:
    """Whether a command starts the tool itself, and no script or program around it."""
    return bool(command) and command[0].rpartition("/")[2] in _PROGRAMS.get(tool, (tool,))


_NO_COMPRESSION = re.compile(r"--?disable-compression(?:=(?:true|1))?")
# wrk's, which may set headers.
_SCRIPT = re.compile(r"-s.*|--script(?:=.*)?", re.DOTALL)
# By tool: whether it asks for compressed responses where its command has no word about it. Left out
# are those that a script or a file of settings tells.
_ASKS_COMPRESSION = {
    **dict.fromkeys(("hey", "oha", "vegeta"), True),
    **dict.fromkeys(("ab", "autocannon", "bombardier", "h2load", "httperf", "plow"), False),
    **dict.fromkeys(("nighthawk", "rewrk", "weighttp", "wrk", "wrk2"), False),
}


def asked_compression(tool: str, command: Sequence[str]) -> bool | None:
    """Whether the words of a command ask for compressed responses; None if they do not tell."""
    if tool not in _ASKS_COMPRESSION or not _is_of(tool, command):
        return None
    if values := _values_of("accept-encoding", command):
        return values[-1] not in ("", "identity")
    if tool in ("wrk", "wrk2") and any(map(_SCRIPT.fullmatch, command)):
        return None
    return _ASKS_COMPRESSION[tool] and not any(map(_NO_COMPRESSION.fullmatch, command))


# hey and oha do not print it. hey speaks HTTP/2 over TLS alone.
_HTTP_2 = re.compile(r"--?h2(?:=(?:true|1))?|--http2")
_HTTP_VERSION = re.compile(r"--http-version(?:=(.*))?", re.DOTALL)


def asked_protocol(tool: str, command: Sequence[str]) -> str | None:
    """The version of HTTP, by its name in TLS, that the words of a command of hey or oha ask for;
    None if they do not tell."""
    if tool not in _LOGGING_TOOLS or not _is_of(tool, command):
        return None
    versions = _values_after(_HTTP_VERSION, command)
    version = versions[-1] if versions else "1.1"
    if any(map(_HTTP_2.fullmatch, command)):
        version = "2"
    if version != "2":
        return "http/1.1" if version == "1.1" else None
    is_tls = any(word.startswith("https:") for word in command)
    return "h2" if is_tls else {"hey": "http/1.1", "oha": "h2c"}[tool]


def _values_after(option: re.Pattern[str], command: Sequence[str]) -> list[str]:
    """The values of an option: the first group of its word, else the word after it."""
    words = zip_longest(command, command[1:], fillvalue="")
    return [match[1] or after for word, after in words if (match := option.fullmatch(word))]


# The rate of an open loop whose output does not print it: vegeta's `-rate=100/1m`, wrk2's `-R2k`.
_RATE_OPTIONS = {
    "vegeta": re.compile(r"--?rate(?:=(.*))?"),
    "wrk2": re.compile(r"(?:-R|--rate(?:=|$))(.+)?"),
}
_RATE = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(k|M)?(?:/(\S{1,32}))?")
_THOUSANDS = {None: 1.0, "k": 1e3, "M": 1e6}


def asked_rate(tool: str, command: Sequence[str]) -> float | None:
    """The requests per second that the words of a command ask for; None if they do not tell."""
    option = _RATE_OPTIONS.get(tool)
    if option is None:
        return None
    values = _values_after(option, command)
    return _rate_of(values[-1]) if values else None


def _rate_of(text: str) -> float | None:
    """100 of "100", "100/s", "6000/1m" and "0.1k"; None of 0, which is as fast as possible."""
    rate = _RATE.fullmatch(text)
    if rate is None:
        return None
    unit = rate[3] or "s"
    seconds = parse_duration_s(f"1{unit}" if unit.isalpha() else unit)
    return float(rate[1]) * _THOUSANDS[rate[2]] / seconds or None if seconds else None


# They write a log of the responses without the number of requests. Without -n and -z, they send 200
# requests. hey sends as many on each of its connections, 50 without -c.
_REQUESTS = 200
_CONNECTIONS = 50
_LOGGING_TOOLS = frozenset({"hey", "oha"})
_NUMBER = re.compile(r"[0-9]{1,9}")
_AMOUNT_OPTION = re.compile(r"--?([ncz])(?:=(.*))?")


def asked_requests(tool: str, command: Sequence[str]) -> int | None:
    """How many requests the words of a command ask for; None if a time ends the trial, or if
    they do not tell."""
    if tool not in _LOGGING_TOOLS or not _is_of(tool, command):
        return None
    amounts = _amounts(command)
    if "z" in amounts:
        return None
    numbers = [amounts.get("n", str(_REQUESTS)), amounts.get("c", str(_CONNECTIONS))]
    if not all(map(_NUMBER.fullmatch, numbers)):
        return None
    requests, connections = map(int, numbers)
    return requests - requests % connections if tool == "hey" and connections else requests


def _amounts(command: Sequence[str]) -> dict[str, str]:
    """The values of -n, -c and -z: `-n 100` or `-n=100`."""
    amounts = {}
    for word, following in zip_longest(command, command[1:], fillvalue=""):
        if (option := _AMOUNT_OPTION.fullmatch(word)) is not None:
            amounts[option[1]] = following if option[2] is None else option[2]
    return amounts
