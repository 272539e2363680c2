"""manage.py change_pepper: what still depends on former peppers after TOKEN_PEPPER was replaced."""

from collections.abc import Iterable
from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand
from django.db import transaction

from backend.accounts.sign_in.adapter import encrypt_again
from backend.config.recovery.former_peppers import count_unmoved

# What allauth stores encrypted, by the member of its data.
ENCRYPTED = ("secret", "seed")


class Command(BaseCommand):
    help = "Encrypt second factors with the new pepper, and count what former peppers still key."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{_encrypt_factors()} second factors are encrypted with TOKEN_PEPPER.")
        counts = count_unmoved()
        if not any(counts.values()):
            self.stdout.write(f"No {_listed(counts)} need FORMER_TOKEN_PEPPERS.")
            return
        for kind, count in counts.items():
            self.stdout.write(f"{count} {kind} were not used since the change.")
        self.stdout.write(
            "The next use of each stores it under TOKEN_PEPPER. Remove a value from "
            "FORMER_TOKEN_PEPPERS when each of these counts is 0, or to end what they count."
        )


@transaction.atomic
def _encrypt_factors() -> int:
    factors = Authenticator.objects.select_for_update().exclude(type=Authenticator.Type.WEBAUTHN)
    for factor in factors:
        for name in ENCRYPTED:
            if name in factor.data:
                factor.data[name] = encrypt_again(factor.data[name])
        factor.save(update_fields=["data"])
    return len(factors)


def _listed(kinds: Iterable[str]) -> str:
    *others, last = kinds
    return f"{', '.join(others)} or {last}"
