"""manage.py first_owner_link: the link by which the first account is made."""

from typing import Any

from django.core.management.base import BaseCommand

from backend.accounts.sign_in import first_owner
from backend.links import absolute, link_to


class Command(BaseCommand):
    help = "Print the link that makes the first account, or why there is none."

    def handle(self, *args: Any, **options: Any) -> None:
        if first_owner.is_wanted():
            self.stdout.write(absolute(link_to("first-owner", first_owner.new_token())))
        else:
            # No failure: each start asks for the link, and reads the standard output.
            self.stderr.write(
                "An account exists, so there is no link for the first one. Members of a workspace "
                "invite other people on its page Members. `manage.py sign_in_link --user NAME` "
                "prints a link that signs a user in, and `manage.py createsuperuser` makes an "
                "account of staff."
            )
