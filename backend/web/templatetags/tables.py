"""`{% table %}`: the box in which a wide table scrolls, with its name for screen readers."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_block_tag
def table(
    content: str,
    caption: str,
    *,
    classes: str = "",
    box: str = "",
    is_sortable: bool = False,
    has_columns: bool = False,
) -> SafeString:
    """The rows between the tags as a table.

    `classes` and `box`: CSS classes of the table and of its box. `is_sortable`: people sort it by
    its heads. `has_columns`: people choose its columns.
    """
    return format_html(
        '<div class="table-box{}" tabindex="0" role="region" aria-label="Table: {}">'
        '<table{}{}{}><caption class="visually-hidden">{}</caption>{}</table></div>',
        f" {box}" if box else "",
        caption,
        format_html(' class="{}"', classes) if classes else "",
        " data-sortable" if is_sortable else "",
        " data-columns" if has_columns else "",
        caption,
        content,
    )
