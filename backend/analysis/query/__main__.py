"""`scripts/fix`: the fields of a comparison."""

import sys

from backend.analysis.query.field import Field
from backend.analysis.query.field_table import TABLE

HEAD = """# Fields of a comparison

What results may differ in. A field with a text under *keeps* is a filter. A field with *yes* can
lie on the axis (`x`), make series (`series`) and divide the chart into panels (`facet`). How fields
are used is in [comparing](comparing.md).

This page is printed from `backend/analysis/query/field_table.py` by
`scripts/fix`.

| field | name | keeps | axis, series, panels |
|---|---|---|---|
"""


def page() -> str:
    """The text of docs/fields.md."""
    return HEAD + "".join(_row(field) for field in TABLE if field.is_filter or field.is_axis)


def _row(field: Field) -> str:
    return f"| `{field.id}` | {field.label} | {field.help} | {'yes' if field.is_axis else 'no'} |\n"


if __name__ == "__main__":
    sys.stdout.write(page())
