"""The addresses that a workspace mails to."""

from django.apps import apps
from django.conf import settings
from django.db.models import F, QuerySet

from backend.accounts.models import User


def mailed_addresses(users: QuerySet[User]) -> set[str]:
    """The addresses of these accounts that mails may go to.

    With a mail server, those that were confirmed: who makes an account by invitation can type the
    address of a stranger, who would get every message of the workspace.
    """
    rows = users.filter(is_active=True).exclude(email="")
    if settings.SENDS_MAIL:
        rows = rows.filter(emailaddress__verified=True, emailaddress__email__iexact=F("email"))
    return set(rows.values_list("email", flat=True))


def own_addresses(user: User) -> list[str]:
    """The addresses that are surely those of the account: with a mail server, the confirmed ones.

    Who types the address of a stranger must not delete what others keep of it.
    """
    if not settings.SENDS_MAIL:
        return [user.email] if user.email else []
    rows = apps.get_model("account", "EmailAddress")._base_manager.filter(user=user, verified=True)
    return list(rows.values_list("email", flat=True))
