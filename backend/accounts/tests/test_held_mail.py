"""Which unsent messages are kept."""

import pytest
from django.core.mail import EmailMessage

from backend.accounts.mail import held_mail
from backend.accounts.models import HeldMessage, User

pytestmark = pytest.mark.django_db


def keep(address):
    held_mail.EmailBackend().send_messages([EmailMessage("Reset", "text", to=[address])])


def test_mails_to_addresses_without_an_account_push_out_only_each_other(monkeypatch):
    monkeypatch.setattr(held_mail, "MOST_KEPT", 3)
    User.objects.create_user("ann", "Ann@example.org")
    keep("ann@example.org")
    for number in range(6):
        keep(f"made-up-{number}@example.org")
    kept = HeldMessage.objects.values_list("to", flat=True)
    assert sorted(kept) == ["ann@example.org", *(f"made-up-{n}@example.org" for n in (3, 4, 5))]
    for _ in range(6):
        keep("ann@example.org")
    assert HeldMessage.objects.filter(to="ann@example.org").count() == 3
