"""The link by which the first account of a new service is made."""

from datetime import timedelta

from django.core import signing
from django.db import connection

from backend.accounts.models import User

LIFETIME = timedelta(hours=12)
_SALT = "first owner"
# Of the advisory lock under which the first account is made.
LOCK_KEY = 0x10AD_5EE7_0003


def new_token() -> str:
    """A token that lets its holder make the first account. Nothing is stored: the account itself
    ends it."""
    return signing.dumps("first owner", salt=_SALT)


def is_wanted() -> bool:
    """Whether the service has no account yet."""
    return not User.objects.exists()


def is_usable(token: str) -> bool:
    """Whether the token is ours, of the last 12 hours, and no account exists."""
    try:
        signing.loads(token, salt=_SALT, max_age=LIFETIME)
    except signing.BadSignature:
        return False
    return is_wanted()


def claim(token: str) -> bool:
    """Whether the first account may be made with `token`, now and until the transaction ends.

    Two forms that are sent at once make one account: the second waits here for the first.
    """
    if not is_usable(token):
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK_KEY])
    # A form that held the lock before this one may have made the account.
    return is_wanted()
