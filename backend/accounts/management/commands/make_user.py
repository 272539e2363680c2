"""manage.py make_user: a person who signs in with a password."""

import getpass
import sys
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.accounts.models import User


class Command(BaseCommand):
    help = (
        "Make a user if missing. The password is asked for, or read from standard input, never "
        "taken from the command line, which others can see."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument(
            "--new-password", action="store_true", help="give an existing user a new password"
        )
        parser.add_argument(
            "--no-password",
            action="store_true",
            help="make a user who signs in by links only (manage.py sign_in_link)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        username = options["username"]
        user = User.objects.filter(username=username).first()
        if user is not None and not options["new_password"]:
            self.stdout.write(f"User {username}: exists already; the password is unchanged.")
            return
        is_new = user is None
        user = user or User(username=username)
        if options["no_password"]:
            user.set_unusable_password()
        else:
            user.set_password(_password(user))
        try:
            # An address from before may be one that is refused today.
            user.full_clean(exclude=["email"])
        except ValidationError as error:
            raise CommandError(f"The user name is {username!r}: {error.messages[0]}") from None
        # Of a user who was there nothing else is stored: the password was typed meanwhile.
        user.save(update_fields=None if is_new else ["password"])
        self.stdout.write(f"User {username}: {'made' if is_new else 'has a new password'}.")


def _password(user: User) -> str:
    """Typed twice at a terminal, else the first line of standard input; raises CommandError."""
    if sys.stdin.isatty():
        password = getpass.getpass("Password: ")
        if getpass.getpass("Password again: ") != password:
            raise CommandError("The two passwords differ, so nothing was changed. Try again.")
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise CommandError(" ".join(error.messages)) from None
    return password
