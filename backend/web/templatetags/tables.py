"""Tables: `{% table %}`, the box in which a wide one scrolls, with its name for screen readers.

Its heads by `{% heads %}`, or each by `{% sortable %}`. Also `{% copied %}`: a text to copy.
"""

from textwrap import dedent

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()

# By the kind of the figures under a head: the unit that it shows, which the browser may change.
_UNITS = {"rate": " req/s", "time": " µs", "ratio": "", "bytes": " bytes", "seconds": " s"}
_ARROWS = {"higher": "↑", "lower": "↓"}


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
    """The heads between the tags, and behind them the rows, as a table.

    `classes` and `box`: CSS classes of the table and of its box. `is_sortable`: people sort it by
    its heads. `has_columns`: people choose its columns.
    """
    heads, row, rows = content.partition("<tr")
    return format_html(
        '<div class="table-box{}" tabindex="0" role="region" aria-label="Table: {}">'
        '<table{}{}{}><caption class="visually-hidden">{}</caption>'
        "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>",
        f" {box}" if box else "",
        caption,
        _attribute("class", classes),
        " data-sortable" if is_sortable else "",
        " data-columns" if has_columns else "",
        caption,
        SafeString(heads),
        SafeString(row + rows),
    )


@register.simple_tag
def heads(*texts: str, numbers: str = "", hidden: str = "") -> SafeString:
    """The heads of columns by which a table is not sorted.

    `numbers`: those of columns of figures, separated by commas. `hidden`: of a last column with
    buttons, for screen readers; empty if there is no such column.
    """
    figures = numbers.split(", ")
    columns = [(_attribute("class", "number" if text in figures else ""), text) for text in texts]
    if hidden:
        columns.append(("", format_html('<span class="visually-hidden">{}</span>', hidden)))
    return format_html_join("\n", '<th scope="col"{}>{}</th>', columns)


@register.simple_tag
def sortable(
    text: str,
    first: str = "ascending",
    *,
    order: str = "",
    classes: str = "",
    kind: str = "",
    better: str = "",
) -> SafeString:
    """The head of a column that people sort; `first`: the direction of the first press.

    `order`: the direction that the column has already. `kind`: of its figures, as `{% number %}`
    takes it, or seconds. `better`: higher or lower.
    """
    unit = _UNITS.get(kind)
    mark = '&nbsp;<span class="better" title="{} is better">{}</span>'
    return format_html(
        '<th scope="col"{}{}{}>'
        '<button class="sort" type="button" data-sort="{}">{}{}{}</button></th>\n',
        _attribute("class", classes),
        _attribute("data-format", "" if kind == "seconds" else kind),
        _attribute("aria-sort", order),
        first,
        text,
        "" if unit is None else format_html('<span class="unit">{}</span>', unit),
        format_html(mark, better, _ARROWS[better]) if better else "",
    )


@register.simple_block_tag
def copied(content: str, id_: str, label: str) -> SafeString:
    """The text between the tags, without its indentation, to copy. `label`: of the button."""
    return format_html(
        '<div class="code"><pre id="{}"><code>{}</code></pre><button class="button" type="button"'
        ' data-copy="{}" aria-label="{}">Copy</button></div>',
        id_,
        SafeString(dedent(content).strip()),
        id_,
        label,
    )


def _attribute(name: str, value: str) -> str:
    return format_html(' {}="{}"', name, value) if value else ""
