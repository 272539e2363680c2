"""The documentation as pages of the service, so that a check can link to its section."""

import re
from collections import Counter
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import nh3
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt

from backend.accounts.workspace import access
from backend.links import link_to
from backend.web.base import visible
from backend.web.documents import agent_files

FOLDER = Path(settings.BASE_DIR) / "docs"
FIRST = "getting-started"
FEWEST_SECTIONS = 4
# In the order a newcomer reads them. Other documents follow by name.
ORDER = (
    FIRST,
    "glossary",
    "comparing",
    "correcting",
    "sharing",
    "result-sets",
    "access",
    "exports",
    "alerts",
    "checks",
    "statistics",
    "formats",
    "agents",
    "api",
    "studies",
)
_NAME = re.compile(r"(?:decisions/)?[a-z0-9-]{1,80}", re.ASCII)
_LINK = re.compile(r'href="(?!https?:|#|/)(\.\./)?([a-z0-9/-]{1,90})\.md(#[^"]{0,80})?"')
_INTEGRATION = re.compile(r'href="\.\./integrations/([a-z./]{1,60})"')
# Files of the repository without a page here: their link becomes their name.
_ELSEWHERE = re.compile(r'<a href="\.\./[^"]{0,200}"[^>]{0,40}>([^<]{0,200})</a>')
_ATTRIBUTES = {
    **{f"h{level}": {"id"} for level in range(1, 7)},
    "a": {"href", "id"},
    "td": {"align"},
    "code": {"class"},
}
# Wide blocks scroll, also by keyboard.
_SCROLLING = {tag: {"tabindex": "0"} for tag in ("pre", "table")}


class Document(NamedTuple):
    """A document as it is shown. `sections`: the id and the title of each."""

    title: str
    body: str
    sections: tuple[tuple[str, str], ...]


@require_safe
def page(request: HttpRequest, name: str = FIRST) -> HttpResponse:
    """One document. Its links to other documents lead to their pages."""
    document = FOLDER / f"{name}.md"
    if not _NAME.fullmatch(name) or not document.is_file():
        raise Http404
    title, body, sections = render_document(document)
    # For the navigation back to the workspace.
    workspace = access.workspaces_of(visible.viewer(request)).first()
    shown = {"name": name, "title": title, "body": body, "names": document_titles()}
    # A short list would only repeat what the page shows at once.
    listed = sections if len(sections) >= FEWEST_SECTIONS else ()
    context = {"nav": "guide", "workspace": workspace, "sections": listed, **shown}
    return render(request, "guide.html", context)


def render_document(path: Path) -> Document:
    """A file of Markdown as HTML. It is read again after it changed."""
    return _rendered(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=128)
def _rendered(path: Path, _changed_ns: int) -> Document:
    markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = markdown.parse(path.read_text())
    title = path.stem
    names: Counter[str] = Counter()
    sections: list[tuple[str, str]] = []
    for token, content in pairwise(tokens):
        if token.type == "heading_open":
            name = slugify(content.content)
            # A heading that comes again has a number, as where the repository is read.
            id_ = f"{name}-{names[name]}" if names[name] else name
            token.attrSet("id", id_)
            names[name] += 1
            title = content.content if token.tag == "h1" else title
            if token.tag == "h2":
                sections.append((id_, content.content.replace("`", "")))
    html = markdown.renderer.render(tokens, markdown.options, {})
    cleaned = nh3.clean(
        html,
        attributes=_ATTRIBUTES,
        set_tag_attribute_values=_SCROLLING,
        link_rel="noopener",
    )
    folder = "" if path.parent == FOLDER else f"{path.parent.name}/"
    linked = _LINK.sub(partial(_page_of, folder=folder), cleaned)
    linked = _INTEGRATION.sub(_integration_of, linked)
    return Document(title, _ELSEWHERE.sub(r"<code>\1</code>", linked), tuple(sections))


def _page_of(link: re.Match[str], *, folder: str) -> str:
    """The link to another document, as a link to its page. `folder`: of the linking document."""
    name = link[2] if link[1] else f"{folder}{link[2]}"
    section = (link[3] or "").removeprefix("#")
    return f'href="{link_to("guide-page", name, fragment=section)}"'


def _integration_of(link: re.Match[str]) -> str:
    """The link to a file for builds, as a link to where the service offers it."""
    if link[1] not in agent_files.INTEGRATION_FILES:
        return link[0]
    return f'href="{link_to("integration-file", link[1])}"'


def document_titles() -> list[tuple[str, str]]:
    """Name and title of every document."""
    every = sorted(FOLDER.glob("*.md"), key=lambda path: (_place(path.stem), path.stem))
    return [(path.stem, render_document(path).title) for path in every]


def _place(name: str) -> int:
    return ORDER.index(name) if name in ORDER else len(ORDER)
