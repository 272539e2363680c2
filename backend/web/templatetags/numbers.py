"""`{% number value=… kind=… step=… %}`: a figure that the browser writes in the units of people.
`{{ value|known }}`: a fact.

A tag, and no template that is included: the page of a large run has a hundred thousand of them.
"""

from django.template import Library
from django.templatetags.l10n import unlocalize
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

register = Library()


@register.filter
def known(value: object) -> str:
    """The fact in words, or that it is unknown: None, or an empty text."""
    if value is None or value == "":
        return SafeString('<span class="unknown">unknown</span>')
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(unlocalize(value))


@register.simple_tag
def number(value: object, kind: str, step: float | None = None) -> SafeString:
    """`kind`: rate, time (µs), ratio, count or bytes. `step`: what the load tool rounds to."""
    shown = "unknown" if value is None else _plain(value)
    stored = "" if value is None else shown
    step_of = f' data-step="{_plain(step)}"' if step else ""
    head = f'<data value="{stored}" data-format="{conditional_escape(kind)}"{step_of}>'
    # Each piece is escaped above. Without a space behind it: a comma may follow.
    return mark_safe(f"{head}{shown}</data>")  # noqa: S308


@register.simple_tag
def number_cell(
    value: object, kind: str, step: float | None = None, classes: str = "number"
) -> SafeString:
    """The figure in a cell of a table that can be sorted by it."""
    key = "" if value is None else _plain(value)
    head = f'<td class="{conditional_escape(classes)}" data-sort-value="{key}">'
    # Each piece is escaped above.
    return mark_safe(f"{head}{number(value, kind, step)}</td>")  # noqa: S308


def _plain(value: object) -> str:
    return str(conditional_escape(unlocalize(value)))
