"""manage.py sign_in_link: a link that signs one user in, once."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.accounts.models import TokenKind, User
from backend.accounts.tokens import tokens
from backend.accounts.workspace import access
from backend.links import link_to


class Command(BaseCommand):
    help = "Print the path of a one-time sign-in link, valid for 12 hours."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", default="demo", help="whom it signs in (default: demo)")
        parser.add_argument("--next", default="/", help="path to open then (default: /)")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["next"].startswith("/"):
            raise CommandError(f"--next is {options['next']!r}, expected a path that begins with /")
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['user']!r}. Make it first: make_demo.")
        workspace = access.workspaces_of(user).first()
        if workspace is None:
            raise CommandError(
                f"The user {user.username!r} is a member of no workspace, and a sign-in link needs "
                f"one. Make one: manage.py make_workspace SLUG --member {user.username}. Or give "
                f"the user a password: manage.py make_user {user.username} --new-password"
            )
        clear = tokens.issue(
            TokenKind.LINK,
            workspace,
            user=user,
            name="sign-in link",
            lifetime=tokens.LINK_LIFETIME,
        )
        self.stdout.write(link_to("sign-in", clear, query={"next": options["next"]}))
