"""The site with one more field and one more text of servers, for the user with an id:

    python -m backend.testing.added_field USER < questions.json

The entries are added to their tables before anything reads the tables, as an edit of the files
would. Reads JSON with `envelopes`, each uploaded with one report, and `paths`. Prints the answers
to the paths as JSON: by path, its status and its text.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import django


def main() -> None:
    add_entries()
    django.setup()
    from django.test.utils import setup_test_environment

    setup_test_environment()
    asked = json.load(sys.stdin)
    with added_column():
        for envelope in asked["envelopes"]:
            upload(envelope)
        json.dump(answer(asked["paths"]), sys.stdout)


def add_entries() -> None:
    from backend.runs.tables import server_texts

    added = server_texts.ServerText(name="compiler", noun="compiler")
    server_texts.SERVER_TEXTS += (added,)
    # It reads the table of texts.
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


@contextmanager
def added_column() -> Iterator[None]:
    """The column of the text in the database, as the migration of the entry would make it."""
    from django.db import connection

    from backend.runs.models import Server

    (column,) = (each for each in Server._meta.concrete_fields if each.name == "compiler")
    with connection.schema_editor() as editor:
        editor.add_field(Server, column)
    try:
        yield
    finally:
        with connection.schema_editor() as editor:
            editor.remove_field(Server, column)


def upload(envelope: dict[str, Any]) -> None:
    from backend.accounts.models import Workspace
    from backend.ingest.queue.worker import receive_and_read
    from backend.ingest.receiving.receive import Sender
    from backend.testing.uploads import make_file

    user_id = UUID(sys.argv[1])
    workspace = Workspace.objects.get(memberships__user=user_id)
    sender = Sender(workspace.pk, token_id=None, user_id=user_id)
    receive_and_read(sender, [make_file(name="0.txt")], envelope)


def answer(paths: list[str]) -> dict[str, tuple[int, str]]:
    from django.contrib.auth import get_user_model
    from django.test import Client

    client = Client()
    client.force_login(get_user_model().objects.get(pk=sys.argv[1]))
    responses = {path: client.get(path) for path in paths}
    return {
        path: (response.status_code, response.content.decode())
        for path, response in responses.items()
    }


if __name__ == "__main__":
    main()
