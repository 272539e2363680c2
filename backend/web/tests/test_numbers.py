"""Figures in pages: what stands in them for the browser, and for readers without scripts."""

import pytest
from django.template import engines


def shown(text, **context):
    return engines["django"].from_string(text).render(context)


@pytest.mark.parametrize(
    ("value", "step", "expected"),
    [
        (6000.5, None, '<data value="6000.5" data-format="rate"\n    >\n  6000.5\n</data>'),
        (
            12_000,
            10.0,
            '<data value="12000" data-format="rate"\n    data-step="10.0">\n  12000\n</data>',
        ),
        (None, None, '<data value="" data-format="rate"\n    >\n  unknown\n</data>'),
        (0, 0, '<data value="0" data-format="rate"\n    >\n  0\n</data>'),
        ("<b>", None, '<data value="&lt;b&gt;" data-format="rate"\n    >\n  &lt;b&gt;\n</data>'),
    ],
)
def test_a_number_is_written_plainly_and_unknown_as_a_word(value, step, expected):
    text = '{% number value=value kind="rate" step=step %}'
    assert shown(text, value=value, step=step) == f"\n{expected}\n"


def test_a_figure_that_the_page_does_not_have_is_empty():
    assert 'value=""' in shown('{% number value=figure.value kind="time" %}')
