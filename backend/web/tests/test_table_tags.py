"""The tags that write tables: their heads, cells with figures, and texts to copy."""

from django.template import Context, Template


def rendered(template, **context):
    return Template(template).render(Context(context)).replace("\n", "")


def test_the_heads_of_a_table_tell_figures_from_texts():
    heads = rendered('{% heads "Name" "Trials" "Runs" numbers="Trials, Runs" hidden="Delete" %}')
    assert heads == (
        '<th scope="col">Name</th><th scope="col" class="number">Trials</th>'
        '<th scope="col" class="number">Runs</th>'
        '<th scope="col"><span class="visually-hidden">Delete</span></th>'
    )


def test_the_body_of_a_table_begins_behind_its_heads():
    rows = '{% heads "Name" %}<tr><td>{{ text }}</td></tr>'
    shown = rendered(f'{{% table "Names" %}}{rows}{{% endtable %}}', text="<b>")
    assert "Name</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>" in shown


def test_a_table_without_rows_has_its_heads():
    shown = rendered('{% table "Names" %}{% heads "Name" %}{% endtable %}')
    assert "Name</th></tr></thead><tbody></tbody></table>" in shown


def test_a_head_to_sort_by_says_its_unit_and_what_is_better():
    head = rendered('{% sortable "p99" "descending" kind="time" better="lower" %}')
    assert 'data-format="time"' in head
    assert 'data-sort="descending">p99<span class="unit"> µs</span>' in head
    assert '<span class="better" title="lower is better">↓</span>' in head


def test_seconds_stay_seconds_in_the_browser():
    head = rendered('{% sortable "CPU" kind="seconds" %}')
    assert "data-format" not in head
    assert '<span class="unit"> s</span>' in head


def test_a_cell_is_sorted_by_its_figure_and_an_unknown_one_has_none():
    cell = "{% number_cell value 'rate' %}"
    assert rendered(cell, value=1234.5).startswith('<td class="number" data-sort-value="1234.5">')
    assert '<td class="number" data-sort-value="">' in rendered(cell, value=None)
    assert "unknown" in rendered(cell, value=None)


def test_what_is_copied_is_escaped_and_not_indented():
    template = '{% copied "key" "Copy the key" %}\n    a\n      {{ text }}\n{% endcopied %}'
    shown = Template(template).render(Context({"text": "<b>"}))
    assert "<code>a\n  &lt;b&gt;</code>" in shown
    assert 'data-copy="key" aria-label="Copy the key"' in shown
