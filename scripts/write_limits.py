"""Write the tables of limits in docs/operations.md again. A test compares them."""

from pathlib import Path

import django

PAGE = Path(__file__).resolve().parent.parent / "docs" / "operations.md"


def main() -> None:
    django.setup()
    # What it reads the limits of needs the settings.
    from backend.api.limits import counter_table, limit_table

    page = PAGE.read_text()
    for table in (limit_table.as_markdown(), counter_table.as_markdown()):
        head = table.partition("\n")[0]
        before, _, old_table_and_after = page.partition(head)
        after = old_table_and_after.partition("\n\n")[2]
        page = f"{before}{table}\n\n{after}"
    PAGE.write_text(page)


main()
