"""Takes secrets out of what is kept and sent, and leaves every number as it was.

Two ways: values known to be secret (the plan's sensitive headers, {env:…} values, the agent's own
token), wherever they stand and however they are written; and places where secrets stand (headers,
parameters of addresses, JSON members, keys of well-known shapes), whatever they hold.

A scan reads the bytes once, from the first to the last. It looks for the head of a secret (`HEAD`),
which has a bounded length; the value behind a head ends at the first byte that cannot belong to it,
and the scan goes on there. So the cost depends on the size alone, not on the content of the text.

The service has this file by a link: where the agent has taken secrets out, it finds none.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, quote_plus

MARK = "[redacted]"
BLOCK_BYTES = 256 << 10
# One search looks through so much; other threads wait meanwhile.
WINDOW_BYTES = 64 << 10
# No head is longer, what is looked at behind it included.
HEAD_BYTES = 16 << 10
KEY_BYTES = 20_000
# So much of a stream waits for what follows: neither a head nor a private key is cut in two.
HELD_BYTES = HEAD_BYTES + KEY_BYTES
# A shorter value stands in too many innocent places; it is still found by its place.
SHORTEST_KNOWN = 6
MAX_NAME = 1000
_MARK = MARK.encode()
_BACKSLASH = ord("\\")
FLAGS = ("-a", "-A", "-P", "-u", "--user")

# A name that ends in one of these is a secret's; in front of the word stands nothing or - _ or .
_NAME = (
    r"(?<![a-z0-9])(?:pass(?:word|wd|phrase)|pwd|secret|api[-_]?key|access[-_]?key"
    r"|subscription[-_]?key|private[-_]?key|auth(?:orization|entication)?|credentials?"
    r"|session[-_]?id|sid|token|cookie2?|signature|sig|jwt|bearer)"
    r"(?:[-_](?!rate|time)[a-z0-9]{1,20})?"
)
SENSITIVE = re.compile(_NAME + r"\Z", re.IGNORECASE)
# In small letters. Every repetition is bounded: a search that fails has looked at few bytes.
HEAD = re.compile(
    "|".join(
        (
            _NAME + "(?:"
            # "password": "abc" | 'token': 'abc' | \"secret\":\"abc\"
            r"\\?[\"']\s{0,40}[:=]\s{0,40}(?P<opening>\\?[\"'])"
            # "Set-Cookie": ["abc", "def"]
            r"|\\?[\"']\s{0,40}:\s{0,40}\[[ \t]{0,40}(?P<list>\\?[\"']?)"
            # password = "abc" (TOML and its like)
            r"|[ \t]{0,40}[:=][ \t]{0,40}(?P<assigned>[\"'])"
            # ?token=abc& | -H Cookie=abc
            r"|=(?P<parameter>)"
            # Authorization: Bearer abc | Cookie: a=b; c=d | but not a line that ends in a figure
            r"|[ \t]{0,40}:[ \t]{0,40}(?:(?:bearer|basic|digest|token)[ \t]{1,40})?(?P<header>)"
            r"(?![\s{\"'\\])(?![\d.,]{1,40}[ \t]{0,40}(?:\Z|[\r\n,;}\]])))",
            r"(?<![\w-])(?:pass|session)=(?P<short>)",
            # http://user:abc@host
            r"://[^\s/:@\"'<>]{0,200}:(?P<password>[^\s/@\"'<>]{1,4000})@",
            # -a user:abc | --user user:abc | -A user:abc (ab, weighttp, hey, oha, curl)
            r"(?<![^\s\"'])-(?P<flag>[apu]|-user)[\s\"',]{1,20}[^\s:\"',/]{1,200}:"
            r"(?!//|\d{1,9}\b)",
            r"-----begin [a-z ]{0,40}private key-----(?P<key>)",
            # The beginnings of SHAPE.
            r"(?<![\w-])(?P<shape>ls_|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|akia|asia|aiza"
            r"|[sr]k_|npm_|pypi-|eyj)",
        )
    ).encode()
)
# Keys whose shape alone says what they are; all letters, digits, - and _ behind belong to them.
SHAPE = re.compile(
    rb"ls_(?:agent|api|link|invite|share|feed)_[A-Za-z0-9_]{6}|gh[pousr]_[A-Za-z0-9]{20}"
    rb"|github_pat_\w{20}"
    rb"|glpat-[\w-]{15}|xox[abprs]-[\w-]{10}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30}"
    rb"|[sr]k_(?:live|test)_\w{10}|npm_\w{30}|pypi-\w{20}"
    rb"|eyJ[\w-]{8,4000}\.eyJ[\w-]{8,8000}\."
)
NEXT_KEY = re.compile(rb"-----(?:begin|(?P<end>end)) [a-z ]{0,40}private key-----")
# What stands behind the beginning of a private key whose end is missing.
KEY_BODY = re.compile(rb"(?:(?:\s|\\[rn]){0,9}[A-Za-z0-9+/=]{16,200}){1,80}")
REDACTED = re.compile(rb"(?:\w{1,40}[ \t]{1,40})?\[redacted")

# Where a value ends, by the group of its head. Pairs such as \" do not end it.
_QUOTED = {
    b'"': re.compile(rb'(?P<pair>(?:\\[^\r\n])+)|["\r\n]'),
    b"'": re.compile(rb"(?P<pair>(?:\\[^\r\n])+)|['\r\n]"),
    b'\\"': re.compile(rb'\\"|(?P<pair>(?:\\[^\r\n"])+)|[\r\n]'),
    b"\\'": re.compile(rb"\\'|(?P<pair>(?:\\[^\r\n'])+)|[\r\n]"),
}
_ENDS = {
    "list": re.compile(rb"[\]\r\n]"),
    "parameter": re.compile(rb"[\s&#\"'<>\\;,)\]}]"),
    "short": re.compile(rb"[\s&#\"'<>\\;,)\]}]"),
    "header": re.compile(rb"[\r\n\"'<>\\]"),
    "flag": re.compile(rb"[\s\"',]"),
    "shape": re.compile(rb"[^\w-]"),
}
_FLAG_LETTERS = b"aAPu-"

# Where none of these stands, no head can match: most blocks of a log are numbers alone, and
# looking for a few words is quicker than looking for heads.
SIGNS = (
    *(b"pass", b"pwd", b"secret", b"key", b"auth", b"credential", b"session", b"sid", b"token"),
    *(b"cookie", b"sig", b"jwt", b"bearer", b"-a", b"-p", b"-u", b"-user"),
    *(b"ls_", b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_", b"github_pat_", b"glpat-", b"xox"),
    *(b"akia", b"asia", b"aiza", b"k_live", b"k_test", b"npm_", b"pypi-", b"eyj"),
)
FIGURES = b"0123456789.,\t\r\n "


class Redactor:
    """Knows the secrets of one run."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        values = {
            value for value in known if len(value) >= SHORTEST_KNOWN and not _is_number(value)
        }
        written = {form for value in values for form in _forms(value)}
        # The longest first: a secret that holds another must not be left half there.
        ordered = sorted(written, key=len, reverse=True)
        self._known = re.compile(b"|".join(map(re.escape, ordered))) if ordered else None
        self._longest = len(ordered[0]) if ordered else 0

    def text(self, text: str) -> str:
        data = text.encode("utf-8", "surrogatepass")
        if self._known is None and not may_hold_secret(data):
            return text
        return self.scan().end(data).decode("utf-8", "surrogatepass")

    def value(self, value: Any, name: str = "") -> Any:
        """A JSON value, by the names of its members as well."""
        return self._value(value, name, {})

    def _value(self, value: Any, name: str, seen: dict[tuple[str, str], str]) -> Any:
        # The same names and texts come with every trial: each is searched once.
        if isinstance(value, str):
            if (name, value) not in seen:
                is_secret = value and is_sensitive(name)
                seen[name, value] = MARK if is_secret else self.text(value)
            return seen[name, value]
        if isinstance(value, Mapping):
            return {
                self._value(key, "", seen): self._value(each, key, seen)
                for key, each in value.items()
            }
        if isinstance(value, (list, tuple)):
            return self._values(value, name, seen)
        return value

    def _values(
        self, values: Sequence[Any], name: str, seen: dict[tuple[str, str], str]
    ) -> list[Any]:
        if name == "command" and all(isinstance(value, str) for value in values):
            return self.line(values)
        return [self._value(value, name, seen) for value in values]

    def line(self, argv: Iterable[str]) -> list[str]:
        """A command line, word by word; a flag and its value are looked at together."""
        words = list(argv)
        shown = [self.text(word) for word in words]
        for number in range(1, len(words)):
            if words[number - 1] not in FLAGS or shown[number] != words[number]:
                continue
            pair = f"{words[number - 1]} {words[number]}"
            hidden = self.text(pair)
            if hidden != pair:
                shown[number] = hidden[len(words[number - 1]) + 1 :]
        return shown

    def scan(self) -> Scan:
        """For a stream of bytes in any encoding that holds ASCII."""
        return Scan(None if self._known is None else _KnownValues(self._known, self._longest))

    def file(self, path: Path) -> bool:
        """Rewrite the file where it holds a secret; True when it did. Any bytes are kept."""
        part = path.with_name(path.name + ".part")
        scan = self.scan()
        with path.open("rb") as source, part.open("wb") as target:
            for block in blocks(source):
                target.write(scan.feed(block))
            target.write(scan.end())
        if scan.masked:
            part.replace(path)
        else:
            part.unlink()
        return scan.masked > 0


def blocks(source: IO[bytes]) -> Iterator[bytes]:
    """The bytes of a file, cut anywhere."""
    return iter(lambda: source.read(BLOCK_BYTES), b"")


class _KnownValues:
    """A stream without the values that are known to be secret."""

    def __init__(self, values: re.Pattern[bytes], longest: int) -> None:
        self.masked = 0
        self._values, self._longest = values, longest
        self._held = b""

    def feed(self, piece: bytes, *, is_last: bool) -> bytes:
        data = self._held + piece
        # A value that begins before this place is complete.
        complete = len(data) if is_last else max(0, len(data) - self._longest + 1)
        pieces, done = [], 0
        for value in self._values.finditer(data):
            if value.start() >= complete:
                break
            pieces += [data[done : value.start()], _MARK]
            done = value.end()
            self.masked += 1
        cut = max(done, complete)
        self._held = data[cut:]
        return b"".join([*pieces, data[done:cut]])


class Scan:
    """A stream on its way through the rules.

    `masked` counts the secrets taken out, `looked_at` the bytes that were searched: the work.
    """

    def __init__(self, known: _KnownValues | None = None) -> None:
        self.masked = self.looked_at = 0
        self._known = known
        self._held = b""
        # So many bytes of `_held` were given out before: a head may ask what stands in front of it.
        self._given = 0
        # What ends the value that the last piece broke off in.
        self._value_end: re.Pattern[bytes] | None = None

    def feed(self, piece: bytes) -> bytes:
        """The next bytes that are settled."""
        return self._next(piece, is_last=False)

    def end(self, piece: bytes = b"") -> bytes:
        """The rest."""
        return self._next(piece, is_last=True)

    def _next(self, piece: bytes, *, is_last: bool) -> bytes:
        if self._known is not None:
            masked = self._known.masked
            piece = self._known.feed(piece, is_last=is_last)
            self.masked += self._known.masked - masked
        data, done = self._held + piece, self._given
        limit = len(data) - (0 if is_last else HELD_BYTES)
        if self._value_end is not None:
            done = self._skip_value(data, done, self._value_end)
        out: list[bytes] = []
        if limit > done and may_hold_secret(data):
            done = self._mask(data, done, limit, out)
        cut = max(done, limit)
        self._given = 1 if cut else 0
        self._held = data[cut - self._given :]
        out.append(data[done:cut])
        return b"".join(out)

    def _mask(self, data: bytes, done: int, limit: int, out: list[bytes]) -> int:
        """Settle the heads that begin before `limit`; returns up to where `out` holds the data."""
        small, position = data.lower(), done
        while position < limit:
            end = min(position + WINDOW_BYTES, len(data))
            head = HEAD.search(small, position, end)
            self.looked_at += (end if head is None else head.end()) - position
            if head is None:
                position = end if end == len(data) else end - HEAD_BYTES
            elif head.start() >= limit:
                break
            elif end < len(data) and end - head.start() < HEAD_BYTES:
                position = head.start()  # the window may have cut it
            else:
                begin, quote_mark, value_end = self._value(head, data, small)
                position = max(head.end(), begin)
                if value_end > begin:
                    out += [data[done:begin], quote_mark, _MARK, quote_mark]
                    self.masked += 1
                    position = done = value_end
        return done

    def _value(self, head: re.Match[bytes], data: bytes, small: bytes) -> tuple[int, bytes, int]:
        """Begin of the secret, quotes to set around the mark, and end; end is begin for none."""
        kind = head.lastgroup or ""
        begin = head.start(kind) if kind in ("list", "shape", "password") else head.end()
        if kind == "key":
            return begin, b"", self._end_of_key(data, small, begin)
        if kind == "shape":
            return begin, b"", self._end_of_shape(data, begin)
        if _holds_no_secret(head, kind, data, small):
            return begin, b"", begin
        if kind == "password":
            return begin, b"", head.end(kind)
        quote_mark = (head[kind] or b'"') if kind == "list" else b""
        ends = _QUOTED[head[kind]] if kind in ("opening", "assigned") else _ENDS[kind]
        return begin, quote_mark, self._skip_value(data, begin, ends)

    def _end_of_shape(self, data: bytes, begin: int) -> int:
        """Where a value ends that its own shape gives away; `begin` where it has not that shape."""
        shape = SHAPE.match(data, begin)
        return begin if shape is None else self._skip_value(data, shape.end(), _ENDS["shape"])

    def _skip_value(self, data: bytes, begin: int, ends: re.Pattern[bytes]) -> int:
        """Where the value ends; one that goes on behind `data` goes on in the next piece."""
        self._value_end = None
        position = begin
        while position < len(data):
            window = min(position + WINDOW_BYTES, len(data))
            end = ends.search(data, position, window)
            self.looked_at += (window if end is None else end.end()) - position
            if end is None:
                # A last backslash may be half of a pair.
                half = data[window - 1] == _BACKSLASH and window - 1 > position
                position = window - half
                if window == len(data):
                    break
            elif end.lastgroup == "pair":
                position = end.end()
            else:
                return end.start()
        self._value_end = ends
        return position

    def _end_of_key(self, data: bytes, small: bytes, begin: int) -> int:
        """A private key without its end is as long as its lines look like one."""
        following = NEXT_KEY.search(small, begin, begin + KEY_BYTES)
        end = min(begin + KEY_BYTES, len(data)) if following is None else following.start()
        self.looked_at += end - begin
        if following is None or following.lastgroup != "end":
            body = KEY_BODY.match(data, begin, end)
            return begin if body is None else body.end()
        return begin if data[begin:end] == _MARK else end


def _holds_no_secret(head: re.Match[bytes], kind: str, data: bytes, small: bytes) -> bool:
    """Whether a head is no flag of a secret, or its value is masked already."""
    if kind == "flag" and data[head.start(kind)] not in _FLAG_LETTERS:
        return True
    begin = head.start(kind) if kind == "password" else head.end()
    if kind == "list":
        begin = max(head.start(kind), head.end(kind))
    return REDACTED.match(small, begin) is not None


def is_sensitive(name: str) -> bool:
    """Whether a header, parameter or member of this name holds a secret."""
    return SENSITIVE.search(name[-MAX_NAME:]) is not None


def may_hold_secret(data: bytes) -> bool:
    """A quick look, in which a "no" is sure."""
    letters = data.translate(None, FIGURES).lower()
    return any(sign in letters for sign in SIGNS) or b"@" in letters.partition(b"://")[2]


def _is_number(value: str) -> bool:
    """Numbers are never taken out by value: they could be a figure of the result."""
    return re.fullmatch(r"[\d.,+-]+", value) is not None


def _forms(value: str) -> Iterator[bytes]:
    """How tools write a text: as it is, in an address, in JSON, as credentials, in Latin-1."""
    plain = (value, quote(value), quote(value, safe=""), quote_plus(value), quote(value).lower())
    in_json = (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
    utf8 = value.encode()
    for text in (*plain, *in_json, base64.b64encode(utf8).decode().rstrip("=")):
        yield text.encode()
    # UTF-8 that was read as Latin-1, and Latin-1 itself.
    yield utf8.decode("latin-1").encode()
    with contextlib.suppress(UnicodeEncodeError):
        yield value.encode("latin-1")
