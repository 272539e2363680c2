from pathlib import Path

from backend.analysis.query.__main__ import page


def test_the_page_of_fields_is_what_the_table_says():
    kept = Path(__file__).parents[4] / "docs" / "fields.md"
    assert kept.read_text() == page(), "run: scripts/fix"
