"""What mails, web pages and Markdown put around an output, and how it is taken off.

Every change stays within its line, so the numbers of lines stay. Where one line of a page shows
several lines, a carriage return parts them.
"""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass

# Fewer quoted lines in a row may begin so by chance.
FEWEST_LINES = 3
# Lines of Gatling and of fortio begin with ">" themselves, below these lines.
OWN_MARKS = re.compile(rb"(?m)^(?:---- (?:Global Information|Requests) -|# range, mid point)")
# Levels of quotes, each with at most one space.
QUOTE = re.compile(rb"(?m)^[ \t]{0,3}(?:>(?: |\xc2\xa0)?)+")
QUOTE_SIGNS = (b"\n>", b"\n >", b"\n  >", b"\n\t>")
QUOTED_LINES = re.compile(
    rb"(?m)(?:^[ \t]{0,3}>[^\n]*(?:\n|\Z)(?:[ \t\r]{0,40}\n){0,2}){%d}" % FEWEST_LINES
)

_NAMES = rb"pre|code|samp|tt|br|p|div|span|table|tbody|thead|tr|td|th|li|ul|ol|b|strong|i|em|font"
# Not "summary", which JMeter calls its summariser.
_NAMES += rb"|html|body|head|h[1-6]|blockquote"
# A page shows itself by lines that begin or end with a tag: a "<" within a line may be a figure's.
HTML_LINE = re.compile(
    rb"(?im)^[ \t]{0,40}</?(?:%b|!doctype)\b[^<>\n]{0,300}>" % _NAMES
    + rb"|</?(?:%b)\b[^<>\n]{0,300}>[ \t]{0,40}\r?$" % _NAMES
)
# Between the cells of a table stands nothing else.
CELL = re.compile(rb"(?i)</?(?:td|th|br)\b[^<>\n]{0,2000}>")
TAG = re.compile(rb"(?i)</?(?:%b|a|u|small|center|!doctype|!--)\b[^<>\n]{0,2000}>" % _NAMES)
# What ends a line on the page.
LINE_END = re.compile(rb"(?i)(?:<br\b[^<>\n]{0,40}>|</(?:tr|p|div|li|pre|h[1-6])>)(?=[^\r\n])")
ENTITY = re.compile(rb"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});")
ELEMENT = re.compile(rb"<[?!/A-Za-z]")
_QUOTE_ENTITY = re.compile(rb"&(?:quot|apos|#34|#39|#[xX]2[27]);")
# Only this long can a text be that somebody dressed: longer ones are logs of a tool.
LONGEST = 1 << 20

# "**123**", "__1.2 ms__", "`99%`", and labels such as "**Requests/sec:**".
_FIGURE = rb"<?\d[\d.,]{0,30}(?: ?[A-Za-z%/\xc2\xb5\xce\xbc]{1,12})?"
EMPHASIS = re.compile(
    rb"(?<![*\w])\*\*(?=[^\s*])([^*\n]{1,80})(?<=\S)\*\*(?![*\w])"
    rb"|(?<![*\w])\*(%b)\*(?![*\w])"
    % _FIGURE
    + rb"|(?<![`\w])`(%b)`(?![`\w])" % _FIGURE
    + rb"|(?<!\w)__(%b)__(?!\w)" % _FIGURE
)
# A fast search comes first: most texts have no emphasis.
STAR = re.compile(rb"\*<?\d")
# The row that Markdown wants below a table's heads.
RULE = re.compile(rb"(?m)^[ \t]{0,3}\|[ \t]{0,40}:?-{3,200}:?[ \t]{0,40}\|[ \t:|-]{0,2000}\r?$")
# The same without bars at its ends. Rules of tools have no spaces around their bars.
BARE_RULE = re.compile(
    rb"(?m)^ {0,3}:?-{3,200}:?(?: {1,40}\| {1,40}:?-{3,200}:?){1,100} {0,40}\r?$"
)
ROW = re.compile(rb"(?m)^[ \t]{0,3}\|([^\n]{0,4000}?)\|?[ \t]{0,40}(\r?)$")
# A fence in the line of the output's own first or last words.
FENCED = re.compile(rb"(?m)^(```)(?=[^`\n]{0,200} [^`\n])|(?<=[^`\n])(```)[ \t]{0,40}(?=\r?$)")


@dataclass(frozen=True, slots=True)
class Dress:
    """One kind of dress: what its removal is called, whether a text wears it, and the text
    without it."""

    note: str
    is_worn: Callable[[bytes], bool]
    remove: Callable[[bytes], bytes]


def _is_page(text: bytes) -> bool:
    if b"<" not in text or text.lstrip()[:5].lower() == b"<?xml":
        return False
    has_breaks = b"<br" in text and b'"' not in text
    return has_breaks or HTML_LINE.search(text) is not None


def _is_escaped(text: bytes) -> bool:
    """Whether all such letters are written as in HTML. Where some are not, in XML or in a text of
    JSON or CSV, the others are the tool's own."""
    if b"&" not in text or ENTITY.search(text) is None or ELEMENT.search(text) is not None:
        return False
    has_quotes = b'"' in text or b"'" in text
    return not has_quotes or _QUOTE_ENTITY.search(text) is None


def _is_quoted(text: bytes) -> bool:
    if not any(sign in text for sign in QUOTE_SIGNS) or OWN_MARKS.search(text):
        return False
    return QUOTED_LINES.search(text) is not None


def _is_emphasised(text: bytes) -> bool:
    if text.lstrip()[:1] in (b"{", b"[", b"<"):
        return False
    if not any(sign in text for sign in (b"**", b"`", b"__")) and not STAR.search(text):
        return False
    return EMPHASIS.search(text) is not None


def _without_tags(lines: bytes) -> bytes:
    return TAG.sub(b"", CELL.sub(b" ", LINE_END.sub(b"\r", lines)))


def _unescaped(lines: bytes) -> bytes:
    return html.unescape(lines.decode(errors="surrogateescape")).encode(errors="surrogateescape")


def _without_emphasis(lines: bytes) -> bytes:
    return EMPHASIS.sub(lambda match: match[match.lastindex or 0], lines)


def _has_rule(text: bytes) -> bool:
    return RULE.search(text) is not None or BARE_RULE.search(text) is not None


def _without_table(text: bytes) -> bytes:
    if BARE_RULE.search(text):
        text = BARE_RULE.sub(b"", text).replace(b" | ", b"   ")
    return ROW.sub(lambda row: row[1].replace(b"|", b" ") + row[2], RULE.sub(b"", text))


# In the order in which they are taken off: a page may show a mail that quotes Markdown.
DRESSES = (
    Dress("The tags of HTML were removed.", _is_page, _without_tags),
    Dress("Letters that were escaped for HTML were restored.", _is_escaped, _unescaped),
    Dress(
        "The quote marks of a mail were removed.", _is_quoted, lambda lines: QUOTE.sub(b"", lines)
    ),
    Dress(
        "The bars of a Markdown table were removed.",
        lambda text: b"--" in text and b"|" in text and _has_rule(text),
        _without_table,
    ),
    Dress("The marks of bold or slanted text were removed.", _is_emphasised, _without_emphasis),
    Dress(
        "Code fences were given their own lines.",
        lambda text: b"```" in text and FENCED.search(text) is not None,
        lambda lines: FENCED.sub(lambda fence: fence[1] + b"\r" if fence[1] else b"\r```", lines),
    ),
)


def undressed(text: bytes) -> tuple[bytes, tuple[str, ...]]:
    """The text as its tool wrote it, and a sentence for each kind of dress that was removed."""
    notes: list[str] = []
    for dress in DRESSES:
        if dress.is_worn(text):
            text = dress.remove(text)
            notes.append(dress.note)
    return text, tuple(notes)
