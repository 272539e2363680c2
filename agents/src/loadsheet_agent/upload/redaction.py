"""Takes secrets out of what is kept and sent, and leaves every number as it was.

Two ways: values known to be secret (the plan's sensitive headers, {env:…} values, the agent's own
token), wherever they stand and however they are written; and places where secrets stand (headers,
parameters of addresses, JSON members, keys of well-known shapes), whatever they hold.

The agent and the service each have this file, and a test that they are equal: what one of them
has redacted the other finds nothing more in.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, quote_plus

MARK = "[redacted]"
# Small, because looking for places keeps other threads waiting.
BLOCK_BYTES = 256 << 10
LONGEST_LINE_BYTES = 16 << 20
KEY_LINES = 250
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
# In small letters: such a word, the rest of a name, and what separates it from its value. Only the
# lines around such are searched for places, which is slow.
NEAR = re.compile("(?:" + "|".join(LIKELY) + r")[\w-]{0,40}\\?[\"']?\s{0,40}[:=]")
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
# password = "abc" (TOML and its like)
ASSIGNED = re.compile(
    rf"(?<![\w-])({NAME}[ \t]*=[ \t]*([\"'])){UNMASKED}((?:(?!\2)(?:\\.|[^\r\n]))+)", re.IGNORECASE
)
# "Set-Cookie": ["abc", "def"]
MEMBERS = re.compile(
    rf"((\\?[\"']){NAME}\2\s*:\s*\[)(?![\"']\[redacted)[^\]\r\n]{{1,20000}}(?=\])", re.IGNORECASE
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
    r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)[\s\S]{0,20000}?(-----END [A-Z ]*PRIVATE KEY-----)"
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
            text = _mask_places(text, small)
        if "@" in text.partition("://")[2]:
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
            if name == "command" and all(isinstance(each, str) for each in value):
                return self.line(value)
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

    def block(self, block: bytes) -> bytes:
        """Whole lines of a file in any encoding."""
        if self._known is None and not _may_hold_secret(block):
            return block
        # latin-1 maps every byte to one character and back.
        return self.text(block.decode("latin-1")).encode("latin-1", errors="replace")

    def file(self, path: Path) -> bool:
        """Rewrite the file where it holds a secret; True when it did. Any bytes are kept."""
        part = path.with_name(path.name + ".part")
        changed = False
        with path.open("rb") as source, part.open("wb") as target:
            for block in blocks(source):
                hidden = self.block(block)
                changed = changed or hidden != block
                target.write(hidden)
        if changed:
            part.replace(path)
        else:
            part.unlink()
        return changed


def is_sensitive(name: str) -> bool:
    """Whether a header, parameter or member of this name holds a secret."""
    return SENSITIVE.fullmatch(name) is not None


# Most of a log is figures, in which none of the words looked for can be.
FIGURES = b"0123456789.,\t\r\n "
WORDS_OF_PLACES = tuple(word.encode() for word in LIKELY)
SIGNS = tuple(sign.encode() for sign in (*FLAGS, *STARTS))


def _may_hold_secret(block: bytes) -> bool:
    """A quick look, in which a "no" is sure."""
    letters = block.translate(None, FIGURES)
    small = letters.lower()
    return (
        any(word in small for word in WORDS_OF_PLACES)
        or any(sign in letters for sign in SIGNS)
        or b"@" in letters.partition(b"://")[2]
    )


def _mask_places(text: str, small: str) -> str:
    if len(small) != len(text):  # a few letters grow when they are made small
        return _mask_lines(text)
    done, pieces = 0, []
    for near in NEAR.finditer(small):
        if near.end() <= done:
            continue
        begin = max(done, text.rfind("\n", 0, near.start()) + 1)
        # The line after it as well: a value may stand there.
        end = text.find("\n", text.find("\n", near.end()) + 1 or len(text))
        end = len(text) if end < 0 else end
        pieces += [text[done:begin], _mask_lines(text[begin:end])]
        done = end
    return "".join([*pieces, text[done:]])


def _mask_lines(text: str) -> str:
    text = MEMBERS.sub(rf"\1\2{MARK}\2", text)
    for place in (MEMBER, ASSIGNED, HEADER, PARAMETER):
        text = place.sub(_mask, text)
    return text


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


def blocks(source: IO[bytes]) -> Iterator[bytes]:
    """Blocks that end with a line and cut no private key in two (in lines up to 16 MiB)."""
    while block := source.read(BLOCK_BYTES):
        block += source.readline(LONGEST_LINE_BYTES)
        for _ in range(KEY_LINES):
            if block.rfind(b"-----BEGIN ") <= block.rfind(b"-----END "):
                break
            block += source.readline(LONGEST_LINE_BYTES)
        yield block
