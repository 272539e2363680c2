"""manage.py quota: how much of its limits a workspace uses, and other limits for it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.accounts.models import Workspace
from backend.accounts.workspace.quotas import set_limits
from backend.accounts.workspace.workspaces import current_slug
from backend.ingest.quota.usage import usage_of

DEFAULT = "default"
# Up to 10^18 - 1, which the database can store.
MOST_DIGITS = 18
OPTIONS = {
    "uploads_per_day": "uploads a day (UTC)",
    "stored_bytes": "bytes that it may have stored",
    "members": "members that it may have",
    "reads": "uploads of it that are read at the same time",
}


class Command(BaseCommand):
    help = "Set limits of one workspace, and print how much of each limit it uses."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the workspace's name in addresses, as in /w/SLUG/")
        for name, meaning in OPTIONS.items():
            parser.add_argument(
                f"--{name.replace('_', '-')}",
                metavar="N",
                help=f"{meaning}; “{DEFAULT}”: the limit of the service",
            )

    def handle(self, *args: Any, **options: Any) -> None:
        workspace = _workspace(options["slug"])
        given = {name: _limit(name, options[name]) for name in OPTIONS if options[name] is not None}
        if given:
            set_limits(workspace, given)
        for usage in usage_of(workspace.pk):
            self.stdout.write(f"{usage.label}: {usage.used} of {usage.limit} {usage.unit}.")


def _workspace(slug: str) -> Workspace:
    workspace = Workspace.objects.filter(slug=current_slug(slug), deleted_at=None).first()
    if workspace is None:
        raise CommandError(f"There is no workspace {slug!r}, so nothing was changed.")
    return workspace


def _limit(name: str, text: str) -> int | None:
    """The limit; None for that of the service."""
    if text == DEFAULT:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        option = name.replace("_", "-")
        raise CommandError(
            f"--{option} is {text!r}, expected a whole number of at most {MOST_DIGITS} digits or "
            f"“{DEFAULT}”. Nothing was changed."
        )
    return int(text)
