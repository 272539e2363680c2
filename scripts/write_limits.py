"""Write the table of limits in docs/operations.md again. A test compares the two."""

from pathlib import Path

import django

PAGE = Path(__file__).resolve().parent.parent / "docs" / "operations.md"


def main() -> None:
    django.setup()
    # What it reads the limits of needs the settings.
    from backend.api.limit_table import as_markdown

    table = as_markdown()
    head = table.partition("\n")[0]
    before, _, old_table_and_after = PAGE.read_text().partition(head)
    after = old_table_and_after.partition("\n\n")[2]
    PAGE.write_text(f"{before}{table}\n\n{after}")


main()
