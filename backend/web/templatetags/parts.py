"""`{% part %}…{% endpart %}`: a piece of a large page, such as a row of a table.

Django joins the texts of a page at each level of its templates, so a page of 40 MB needs ten times
as much memory. A part is kept as bytes beside the page, which has a mark in its place
(`backend.web.base.large_page`).
"""

from django.template import Library
from django.template.base import Node, NodeList, Parser, Token
from django.template.context import Context

from backend.web.base.large_page import MARK, PARTS

register = Library()


class PartNode(Node):
    """Its text where the page is rendered at once; else the mark, and the text to the parts."""

    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: Context) -> str:
        text = self.nodelist.render(context)
        parts = context.get(PARTS)
        if parts is None:
            return text
        parts.append(text.encode())
        return MARK


@register.tag
def part(parser: Parser, _token: Token) -> PartNode:
    nodelist = parser.parse(("endpart",))
    parser.delete_first_token()
    return PartNode(nodelist)
