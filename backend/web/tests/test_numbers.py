"""Figures in pages: what stands in them for the browser, and for readers without scripts."""

import pytest
from django.template import engines


def shown(text, **context):
    return engines["django"].from_string(text).render(context)


@pytest.mark.parametrize(
    ("value", "step", "expected"),
    [
        (6000.5, None, '<data value="6000.5" data-format="rate">6000.5</data>'),
        (12_000, 10.0, '<data value="12000" data-format="rate" data-step="10.0">12000</data>'),
        (None, None, '<data value="" data-format="rate">unknown</data>'),
        (0, 0, '<data value="0" data-format="rate">0</data>'),
        ("<b>", None, '<data value="&lt;b&gt;" data-format="rate">&lt;b&gt;</data>'),
    ],
)
def test_a_number_is_written_plainly_and_unknown_as_a_word(value, step, expected):
    """Without a space around it: a comma may follow."""
    text = '{% number value=value kind="rate" step=step %}'
    assert shown(text, value=value, step=step) == expected


def test_a_figure_that_the_page_does_not_have_is_empty():
    assert 'value=""' in shown('{% number value=figure.value kind="time" %}')


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, '<span class="unknown">unknown</span>'),
        ("", '<span class="unknown">unknown</span>'),
        (True, "yes"),
        (False, "no"),
        (12_000, "12000"),
        ("<b>", "&lt;b&gt;"),
    ],
)
def test_a_fact_is_written_in_words_also_where_it_is_unknown(value, expected):
    assert shown("{{ value|known }}", value=value) == expected
