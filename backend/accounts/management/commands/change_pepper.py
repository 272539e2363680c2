"""manage.py change_pepper: what still depends on former peppers after TOKEN_PEPPER was replaced."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand
from django.db import transaction

from backend.accounts.adapter import encrypt_again
from backend.accounts.models import BEARER_KINDS, Token
from backend.accounts.token_format import pepper_id

# What allauth stores encrypted, by the member of its data.
ENCRYPTED = ("secret", "seed")


class Command(BaseCommand):
    help = "Encrypt second factors with the new pepper, and count tokens of former peppers."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{_encrypt_factors()} second factors are encrypted with TOKEN_PEPPER.")
        usable = Token.objects.filter(kind__in=BEARER_KINDS, revoked_at=None)
        former = usable.exclude(pepper_id=pepper_id()).count()
        if former:
            self.stdout.write(
                f"{former} tokens were not used since the change. Their next use stores them under "
                "TOKEN_PEPPER. Remove a value from FORMER_TOKEN_PEPPERS when this count is 0, or "
                "to end these tokens."
            )
        else:
            self.stdout.write("No token needs FORMER_TOKEN_PEPPERS. Invitations do, for 7 days.")


@transaction.atomic
def _encrypt_factors() -> int:
    factors = Authenticator.objects.select_for_update().exclude(type=Authenticator.Type.WEBAUTHN)
    for factor in factors:
        for name in ENCRYPTED:
            if name in factor.data:
                factor.data[name] = encrypt_again(factor.data[name])
        factor.save(update_fields=["data"])
    return len(factors)
