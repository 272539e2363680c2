"""Texts from strangers: names as one line without control characters, and notes as safe HTML.

Notes are Markdown by a member, shown to anyone. First rendered, then cleaned: both are needed.
"""

import re

import nh3
from markdown_it import MarkdownIt

from backend.visible_text import UNSEEN

# Also tabs and line ends: it is one line.
_INVISIBLE = re.compile(f"[{UNSEEN}\t\r\n]+")
_INVISIBLE_START = re.compile(rf"\A(?:\s|\u200b|{_INVISIBLE.pattern})+")
_BLANK = re.compile(r"\n[ \t]*\n")
# Of notes.
MAX_LENGTH = 10_000
# Of tables in notes. Each line below a head of many columns becomes a row of as many cells, so that
# 10,000 characters could be 400,000 of them.
MOST_CELLS = 3_000

_TAGS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li"),
    *("em", "strong", "s", "code", "pre", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
# No images: they would be fetched from another host, which then learns who reads.
_markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_markdown.disable("image")
_without_tables = MarkdownIt("commonmark", {"html": False}).enable("strikethrough")
_without_tables.disable("image")


def without_invisible_start(text: str) -> str:
    """`text` from its first visible character on."""
    return _INVISIBLE_START.sub("", text)


def plain(text: str, longest: int) -> str:
    """`text` without invisible characters; at most `longest` characters, with … where it is cut."""
    # Cut before the rest: the work is bounded, whatever the length of a name.
    shown = " ".join(_INVISIBLE.sub(" ", text[: 4 * longest]).split())
    if len(shown) <= longest and len(text) <= 4 * longest:
        return shown
    return f"{shown[: longest - 1].rstrip()}…"


def _most_cells(paragraph: str) -> int:
    """Of a table there, if it is one: a blank line ends it."""
    lines = paragraph.splitlines()
    return len(lines) * max((line.count("|") + 1 for line in lines), default=0)


def html_of(notes: str) -> str:
    """Safe HTML. Headings begin below those of the page; links pass on no referrer."""
    shown = notes[:MAX_LENGTH]
    most_cells = sum(map(_most_cells, _BLANK.split(shown)))
    rendered = (_markdown if most_cells <= MOST_CELLS else _without_tables).render(shown)
    lowered = rendered.replace("<h1>", "<h3>").replace("</h1>", "</h3>")
    lowered = lowered.replace("<h2>", "<h4>").replace("</h2>", "</h4>")
    return nh3.clean(
        lowered,
        tags=_TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow noopener noreferrer",
    )
