"""Parts of pages: `{% section %}`, `{% field %}` of a form, `{% post_button %}`."""

from django import template
from django.template.context import Context
from django.urls import reverse
from django.utils.html import format_html, format_html_join
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


@register.simple_tag(takes_context=True)
def post_button(
    context: Context,
    text: str,
    route: str,
    *args: object,
    about: str = "",
    kind: str = "",
    **sent: str,
) -> SafeString:
    """A form of one button, which posts `sent` to the route with these arguments.

    `about`: what the button acts on, for screen readers. `kind`: button-main or button-quiet.
    """
    hidden = {"csrfmiddlewaretoken": context["csrf_token"], **sent}
    return format_html(
        '<form method="post" action="{}">{}'
        '<button class="button {}" type="submit">{}{}</button></form>',
        reverse(route, args=args),
        format_html_join("", '<input type="hidden" name="{}" value="{}">', hidden.items()),
        kind,
        text,
        format_html('<span class="visually-hidden">: {}</span>', about) if about else "",
    )
