"""manage.py make_workspace: a workspace, and who belongs to it."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from backend.accounts.models import Membership, Role, User, Workspace


class Command(BaseCommand):
    help = "Make a workspace if it is missing, and make a user its member."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the workspace's name in addresses, as in /w/SLUG/")
        parser.add_argument("--name", default="", help="its name on pages (default: the slug)")
        parser.add_argument("--member", default="", help="a user to make a member of it")
        parser.add_argument(
            "--role",
            default=Role.OWNER,
            choices=Role.values,
            help="the role of the member (default: owner)",
        )

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        workspace = self._workspace(options["slug"], options["name"])
        if options["member"]:
            self._member(workspace, options["member"], options["role"])

    def _workspace(self, slug: str, name: str) -> Workspace:
        workspace = Workspace.objects.filter(slug=slug).first()
        if workspace is not None:
            if name and workspace.name != name:
                Workspace.objects.filter(pk=workspace.pk).update(name=name)
                self.stdout.write(f"Workspace {slug}: renamed to {name}.")
            else:
                self.stdout.write(f"Workspace {slug}: exists already.")
            return workspace
        workspace = Workspace(slug=slug, name=name or slug)
        try:
            workspace.full_clean()
        except ValidationError as error:
            raise CommandError(f"The slug is {slug!r}: {error.messages[0]}") from None
        workspace.save()
        self.stdout.write(f"Workspace {slug}: made.")
        return workspace

    def _member(self, workspace: Workspace, username: str, role: str) -> None:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(
                f"There is no user {username!r}, so nothing was changed. Make the user first: "
                f"manage.py make_user {username}"
            )
        _, is_new = Membership.objects.update_or_create(
            user=user, workspace=workspace, defaults={"role": role}
        )
        verb = "is now" if is_new else "is"
        self.stdout.write(f"User {username} {verb} {role} of {workspace.slug}.")
