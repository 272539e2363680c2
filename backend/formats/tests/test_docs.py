from pathlib import Path

from backend.formats.__main__ import page


def test_the_page_of_formats_is_fresh():
    kept = Path(__file__).parents[3] / "docs" / "formats.md"
    assert kept.read_text() == page(), "run: scripts/fix"
