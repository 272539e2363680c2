"""manage.py make_demo: the user, workspace and a token of the demonstration."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from backend.accounts.models import Membership, Role, TokenKind, User, Workspace
from backend.accounts.tokens import tokens
from backend.accounts.workspace.workspaces import WorkspaceRefused, own_workspace

NAME = "demo"


class Command(BaseCommand):
    help = 'Make the demo user and workspace if missing; prints {"workspace": …, "token": …}.'

    def handle(self, *args: Any, **options: Any) -> None:
        with transaction.atomic():
            workspace, user = _workspace(), _user()
            Membership.objects.update_or_create(
                user=user, workspace=workspace, defaults={"role": Role.OWNER}
            )
            clear = tokens.issue(
                TokenKind.AGENT,
                workspace,
                user=user,
                name=NAME,
                lifetime=tokens.AGENT_LIFETIME,
            )
        self.stdout.write(json.dumps({"workspace": workspace.slug, "token": clear}))


def _workspace() -> Workspace:
    try:
        return own_workspace(NAME, {"name": "Demo"})
    except WorkspaceRefused as refused:
        raise CommandError(f"{refused} {refused.hint}") from None


def _user() -> User:
    user = User.objects.filter(username=NAME).first()
    # No password: the demo user signs in with a one-time link only.
    if user is not None and user.has_usable_password():
        raise CommandError("The user name “demo” belongs to a person, so there is no demo.")
    return user or User.objects.create_user(username=NAME, password=None)
