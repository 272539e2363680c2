"""`manage.py import_workspace`: make a new workspace of an archive of another one."""

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from backend.accounts.models import User
from backend.accounts.workspace.workspaces import WorkspaceRefused
from backend.storage import StorageAway
from backend.transfer.importing import Imported, import_archive
from backend.transfer.reader import ImportRefused


class Command(BaseCommand):
    help = (
        "Make a new workspace from the archive of an exported workspace. It is imported whole or "
        "not at all. Ids are new. Members, tokens and channels are not in an archive."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("archive", type=Path, metavar="FILE", help="the archive, a zip")
        parser.add_argument("--slug", required=True, help="the new workspace's name in addresses")
        parser.add_argument("--owner", default="", metavar="USER", help="who will own it")
        parser.add_argument(
            "--person",
            action="append",
            default=[],
            metavar="NAME=USER",
            help="the account here of a person in the archive; others stay unnamed; repeatable",
        )

    def handle(self, *, archive: Path, slug: str, owner: str, person: list[str], **_: Any) -> None:
        people = _people(person)
        owning = _user(owner) if owner else None
        if not archive.is_file():
            raise CommandError(f"There is no file {archive}.")
        try:
            imported = import_archive(
                archive, slug=slug, owner=owning, people=people, say=self.stdout.write
            )
        except (ImportRefused, WorkspaceRefused, StorageAway) as refused:
            raise CommandError(f"Nothing was imported. {refused}") from None
        self._print(imported)
        if owning is None:
            self.stdout.write(
                f"Nobody is a member of it. Run: manage.py make_workspace {slug} --member USER"
            )

    def _print(self, imported: Imported) -> None:
        self.stdout.write(f"Imported into the new workspace {imported.workspace.slug}:")
        for name, count in imported.rows.items():
            self.stdout.write(f"{count:>10}  {name}")
        self.stdout.write(f"{imported.files:>10}  raw files")
        if imported.closed:
            self.stdout.write(
                f"Staff of this service took down {imported.closed} of these runs and result sets; "
                "the new workspace does not share them."
            )


def _people(given: Sequence[str]) -> dict[str, User]:
    people = {}
    for pair in given:
        name, separator, username = pair.partition("=")
        if not (name and separator and username):
            raise CommandError(f"--person is {pair!r}, expected NAME=USER.")
        people[name] = _user(username)
    return people


def _user(username: str) -> User:
    user = User.objects.filter(username=username).first()
    if user is None:
        raise CommandError(f"There is no user {username!r}, so nothing was imported.")
    return user
