"""manage.py make_token: a token of a workspace, an agent's unless scopes are named."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.accounts.models import TokenKind, Workspace
from backend.accounts.tokens import tokens
from backend.accounts.workspace.scopes import AGENT_SCOPES, Scope


class Command(BaseCommand):
    help = "Print a new token. It is shown this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workspace", required=True, help="slug of the workspace")
        parser.add_argument("--name", required=True, help="what the token is for")
        parser.add_argument(
            "--scope",
            action="append",
            choices=Scope.values,
            help="what it may do; repeat for several (default: all that an agent needs)",
        )
        parser.add_argument(
            "--days",
            type=int,
            default=tokens.AGENT_LIFETIME.days,
            help="after how many days it expires (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is None:
            slugs = ", ".join(Workspace.objects.values_list("slug", flat=True)[:20])
            raise CommandError(
                f"There is no workspace {options['workspace']!r}. There are: {slugs or 'none'}."
            )
        scopes = options["scope"] or AGENT_SCOPES
        _, clear = tokens.store(
            TokenKind.AGENT if Scope.AGENT in scopes else TokenKind.API,
            workspace,
            user=None,
            name=options["name"][:120],
            grant=tokens.Grant(scopes, timedelta(days=options["days"])),
        )
        self.stdout.write(clear)
