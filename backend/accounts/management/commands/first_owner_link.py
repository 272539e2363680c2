"""manage.py first_owner_link: the link by which the first account is made."""

from typing import Any

from django.core.management.base import BaseCommand

from backend.accounts import first_owner
from backend.links import absolute, link_to


class Command(BaseCommand):
    help = "Print the link that makes the first account, or nothing if an account exists."

    def handle(self, *args: Any, **options: Any) -> None:
        if first_owner.is_wanted():
            self.stdout.write(absolute(link_to("first-owner", first_owner.new_token())))
