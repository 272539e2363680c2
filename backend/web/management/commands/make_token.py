"""manage.py make_token: an agent's token of a workspace."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.accounts import tokens
from backend.accounts.models import TokenKind, Workspace


class Command(BaseCommand):
    help = "Print a new agent token. It is shown this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workspace", required=True, help="slug of the workspace")
        parser.add_argument("--name", required=True, help="what the token is for")

    def handle(self, *args: Any, **options: Any) -> None:
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is None:
            slugs = ", ".join(Workspace.objects.values_list("slug", flat=True)[:20])
            raise CommandError(
                f"There is no workspace {options['workspace']!r}. There are: {slugs or 'none'}."
            )
        clear = tokens.issue(
            TokenKind.AGENT,
            workspace,
            user=None,
            name=options["name"][:120],
            lifetime=tokens.AGENT_LIFETIME,
        )
        self.stdout.write(clear)
