"""Parts of pages: `{% section %}` with its heading, and `{% field %}` of a form with its label."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_block_tag
def section(
    content: str, id_: str, title: str, *, classes: str = "section", url: str = "", link: str = ""
) -> SafeString:
    """What is between the tags, below a heading. `url` and `link`: of a link beside the heading."""
    if url:
        head = '<div class="section-head"><h2 id="{}">{}</h2>\n<a href="{}">{}</a></div>'
    else:
        head = '<h2 id="{}" class="section-head">{}</h2>'
    return format_html(
        '<section class="{}" aria-labelledby="{}">{}{}</section>',
        classes,
        id_,
        format_html(head, id_, title, url, link),
        SafeString(content),
    )


@register.simple_block_tag
def field(content: str, id_: str, label: str, *, hint: str = "") -> SafeString:
    """The input between the tags, which has this id, below its label.

    `hint`: stands below the input, which names `<id>-help` in aria-describedby.
    """
    return format_html(
        '<div class="field"><label for="{}">{}</label>{}{}</div>',
        id_,
        label,
        SafeString(content),
        format_html('<p class="hint" id="{}-help">{}</p>', id_, hint) if hint else "",
    )
