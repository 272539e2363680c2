"""Takes secrets out of what is kept and sent, and leaves every number as it was.

Two ways: values known to be secret (the plan's sensitive headers, {env:…} values, the agent's own
token), wherever they stand and however they are written; and places where secrets stand (headers,
parameters of addresses, JSON members, keys of well-known shapes), whatever they hold.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

MARK = "[redacted]"
BLOCK_BYTES = 4 << 20
# A shorter value stands in too many innocent places; it is still found by its place.
SHORTEST_KNOWN = 6

# Words that make the name of a header, parameter or member a secret's.
WORDS = (
    r"(?:pass(?:word|wd|phrase)|pwd|secret|api[-_]?key|access[-_]?key|subscription[-_]?key|private[-_]?key|"
    r"auth(?:orization|entication)?|credentials?|session[-_]?id|sid|token|cookie2?|"
    r"signature|sig|jwt|bearer)"
)
NAME = rf"(?:[a-z0-9]{{1,40}}[-_.]){{0,4}}{WORDS}(?:[-_](?!rate|time)[a-z0-9]{{1,20}})?"
SENSITIVE = re.compile(NAME, re.IGNORECASE)
# Where none of these stands, no place can match: most blocks of a log are numbers alone, and
# looking for a few words is a hundred times quicker than looking for places.
LIKELY = (
    *("pass", "pwd", "secret", "key", "auth", "credential", "session", "sid", "token"),
    *("cookie", "sig", "jwt", "bearer"),
)
STARTS = (
    *("ls_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox"),
    *("AKIA", "ASIA", "AIza", "k_live", "k_test", "npm_", "pypi-", "eyJ"),
)
FLAGS = ("-a", "-A", "-P", "-u", "--user")
UNMASKED = r"(?!(?:\w+[ \t]+)?\[redacted)"
# Authorization: Bearer abc | Cookie: a=b; c=d | but not a line that ends in a figure
HEADER = re.compile(
    rf"(?<![\w-])({NAME}[ \t]*:[ \t]*(?:(?:bearer|basic|digest|token)[ \t]+)?){UNMASKED}"
    r"(?![\s{\"'\\])(?![\d.,]+[ \t]*(?:$|[,;}\]]))([^\r\n\"'<>\\]+)",
    re.IGNORECASE | re.MULTILINE,
)
# ?token=abc& | -H Cookie=abc
PARAMETER = re.compile(
    rf"(?<![\w-])((?:{NAME}|pass|session)=){UNMASKED}([^\s&#\"'<>\\;,)\]}}]+)", re.IGNORECASE
)
# "password": "abc" | 'token': 'abc' | \"secret\":\"abc\"
MEMBER = re.compile(
    rf"((\\?[\"']){NAME}\2\s*[:=]\s*(\\?[\"'])){UNMASKED}((?:(?!\3)(?:\\.|[^\r\n]))+)",
    re.IGNORECASE,
)
# "Set-Cookie": ["abc", "def"]
MEMBERS = re.compile(
    rf"((\\?[\"']){NAME}\2\s*:\s*\[)(?![\"']\[redacted)[^\]\r\n]+(?=\])", re.IGNORECASE
)
# http://user:abc@host
ADDRESS = re.compile(
    r"(\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@\"'<>]{0,200}:)(?!\[redacted)([^\s/@\"'<>]+)(?=@)", re.I
)
# -a user:abc | --user user:abc | -A user:abc (ab, weighttp, hey, oha, curl)
LOGIN = re.compile(
    r"((?:^|[\s\"'])(?:-a|-A|-P|-u|--user)[\s\"',]+[^\s:\"',/]+:)(?!//|\d+\b|\[redacted)([^\s\"',]+)",
    re.MULTILINE,
)
# Keys whose shape alone says what they are.
SHAPES = re.compile(
    r"(?<![\w-])(?:"
    r"ls_(?:agent|api|user|job)_[A-Za-z0-9_]{6,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{15,}"
    r"|xox[abprs]-[\w-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}"
    r"|[sr]k_(?:live|test)_\w{10,}|npm_\w{30,}|pypi-\w{20,}"
    r"|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"
    r")"
)
PRIVATE_KEY = re.compile(
    r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----)"
)


class Redactor:
    """Knows the secrets of one run."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        values = {
            value for value in known if len(value) >= SHORTEST_KNOWN and not _is_number(value)
        }
        written = {form for value in values for form in _forms(value)}
        # The longest first: a secret that holds another must not be left half there.
        ordered = sorted(written, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def text(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(MARK, text)
        if "PRIVATE KEY" in text:
            text = PRIVATE_KEY.sub(rf"\1{MARK}\2", text)
        small = text.lower()
        if any(word in small for word in LIKELY):
            text = MEMBERS.sub(rf"\1\2{MARK}\2", text)
            for place in (MEMBER, HEADER, PARAMETER):
                text = place.sub(_mask, text)
        if "@" in text:
            text = ADDRESS.sub(_mask, text)
        if any(flag in text for flag in FLAGS):
            text = LOGIN.sub(_mask, text)
        return SHAPES.sub(MARK, text) if any(start in text for start in STARTS) else text

    def value(self, value: Any, name: str = "") -> Any:
        """A JSON value, by the names of its members as well."""
        if isinstance(value, str):
            return MARK if value and is_sensitive(name) else self.text(value)
        if isinstance(value, Mapping):
            return {self.text(key): self.value(each, key) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(each, name) for each in value]
        return value

    def line(self, argv: Iterable[str]) -> list[str]:
        """A command line, word by word; a flag and its value are looked at together."""
        words = list(argv)
        shown = [self.text(word) for word in words]
        for number in range(1, len(words)):
            pair = f"{words[number - 1]} {words[number]}"
            hidden = self.text(pair)
            if hidden != pair and shown[number] == words[number] and words[number - 1] in FLAGS:
                shown[number] = hidden[len(words[number - 1]) + 1 :]
        return shown

    def file(self, path: Path) -> bool:
        """Rewrite the file where it holds a secret; True when it did. Any bytes are kept."""
        part = path.with_name(path.name + ".part")
        changed = False
        with path.open("rb") as source, part.open("wb") as target:
            for block in _blocks(source):
                # latin-1 maps every byte to one character and back, whatever the encoding was.
                text = block.decode("latin-1")
                hidden = self.text(text)
                changed = changed or hidden != text
                target.write(hidden.encode("latin-1", errors="replace"))
        if changed:
            part.replace(path)
        else:
            part.unlink()
        return changed


def is_sensitive(name: str) -> bool:
    """Whether a header, parameter or member of this name holds a secret."""
    return SENSITIVE.fullmatch(name) is not None


def _mask(match: re.Match[str]) -> str:
    return match.group(1) + MARK


def _is_number(value: str) -> bool:
    """Numbers are never taken out by value: they could be a figure of the result."""
    return re.fullmatch(r"[\d.,+-]+", value) is not None


def _forms(value: str) -> Iterable[str]:
    """How tools write a text: as it is, in an address, in JSON, as credentials, as UTF-8 bytes."""
    plain = (value, quote(value), quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1])
    encoded = base64.b64encode(value.encode()).decode().rstrip("=")
    bytes_as_latin = value.encode().decode("latin-1")
    escaped = json.dumps(value, ensure_ascii=False)[1:-1]
    return {*plain, encoded, bytes_as_latin, escaped, quote(value).lower()}


def _blocks(source: Any) -> Iterable[bytes]:
    """Blocks that end with a line: a secret is never cut in two."""
    while block := source.read(BLOCK_BYTES):
        yield block + source.readline()
