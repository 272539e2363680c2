"""Notes: Markdown by a member, shown to anyone. First rendered, then cleaned: both are needed."""

import nh3
from markdown_it import MarkdownIt

MAX_LENGTH = 10_000

_TAGS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li"),
    *("em", "strong", "s", "code", "pre", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
# No images: they would be fetched from another host, which then learns who reads.
_markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_markdown.disable("image")


def html_of(notes: str) -> str:
    """Safe HTML. Headings begin below those of the page; links pass on no referrer."""
    rendered = _markdown.render(notes[:MAX_LENGTH])
    lowered = rendered.replace("<h1>", "<h3>").replace("</h1>", "</h3>")
    lowered = lowered.replace("<h2>", "<h4>").replace("</h2>", "</h4>")
    return nh3.clean(
        lowered,
        tags=_TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow noopener noreferrer",
    )
