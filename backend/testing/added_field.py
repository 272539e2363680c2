"""The site with one more field: `python -m backend.testing.added_field USER < paths`.

The entry is added to the table before anything reads the table, as an edit of the file would. Reads
paths, one a line, and prints the answers to them as JSON: by path, its status and its text.
"""

from __future__ import annotations

import json
import sys

import django

from backend.analysis.query import field_table
from backend.analysis.query.field import Field

field_table.TABLE = (
    *field_table.TABLE,
    Field(
        id="workers",
        label="Worker processes",
        noun="number of workers",
        help="Only servers with these numbers of workers",
        level="series",
        read=lambda series: series.server.configuration.get("workers"),
        of="server",
        along=("server", "configuration"),
        kind="number",
        rule="test",
    ),
)


def main() -> None:
    django.setup()
    from django.contrib.auth import get_user_model
    from django.test import Client
    from django.test.utils import setup_test_environment

    setup_test_environment()
    client = Client()
    client.force_login(get_user_model().objects.get(pk=sys.argv[1]))
    answers = {}
    for path in sys.stdin.read().splitlines():
        response = client.get(path)
        answers[path] = (response.status_code, response.content.decode())
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
