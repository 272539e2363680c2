"""What Loadsheet decides for django-allauth: who may make an account, how secrets are stored."""

import base64
import hashlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest

from backend.accounts.credentials.token_format import peppers
from backend.accounts.limits import throttle
from backend.accounts.limits.limiters import MAILS
from backend.accounts.mail.outgoing_mail import MailAway, send
from backend.accounts.sign_in import first_owner, recent_sign_in
from backend.accounts.workspace import invitations
from backend.email_address import validate_address
from backend.links import absolute

# So many may have mails of one kind sent to one address; the mailbox bears no more.
NETWORKS_THAT_ASK = 10
# In the session of a visitor who opened an invitation or the link of the first owner.
SIGN_UP_TOKEN = "sign_up_token"  # noqa: S105  the key, no secret
MAILS_THAT_ANYBODY_ASKS_FOR = (
    *("password_reset_key", "unknown_account", "account_already_exists"),
    *("email_confirmation", "email_confirmation_signup"),
)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts are for everyone where OPEN_SIGN_UP is set, else for those with an invitation."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": "The username or the password is wrong.",
        "email_password_mismatch": "The email address or the password is wrong.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return settings.OPEN_SIGN_UP or may_sign_up(request.session.get(SIGN_UP_TOKEN, ""))

    def clean_email(self, email: str) -> str:
        """The address that a form of an account gives; empty where none is needed."""
        if email:
            validate_address(email)
        return email

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """A user name with “@” could be somebody's address, by which that person signs in."""
        if "@" in username:
            raise ValidationError(
                "The user name has an “@”. Leave it out: you can sign in by your email address too."
            )
        cleaned: str = super().clean_username(username, shallow)
        return cleaned

    def save_user(self, request: HttpRequest, user, form, commit: bool = True):  # type: ignore[no-untyped-def]
        """The first account is the operator's: it may read the messages that were not sent.

        An invitation is used up by the account that it makes, so it makes one account only.
        """
        token = request.session.get(SIGN_UP_TOKEN, "")
        with transaction.atomic():
            user.is_staff = first_owner.claim(token)
            made = super().save_user(request, user, form, commit=commit)
            if not user.is_staff and not settings.OPEN_SIGN_UP:
                invitations.accept(token, made)
        return made

    def send_mail(self, template_prefix: str, email: str, context: Mapping[str, Any]) -> None:
        """Sends no further mail that anybody can ask for, after many to one address: the links of
        the earlier ones work.

        Links lead to PUBLIC_URL. django-allauth's lead to the host and port that the request
        names, so a stranger could have a link mailed that gives its token to another server.

        Raises MailAway where the mail server is away or refuses the address.
        """
        kind = template_prefix.rpartition("/")[2]
        if kind in MAILS_THAT_ANYBODY_ASKS_FOR and self._are_enough(f"{kind} {email.casefold()} "):
            return
        own = {
            name: absolute(urlsplit(link)._replace(scheme="", netloc="").geturl())
            for name, link in context.items()
            if name.endswith("_url")
        }
        known = {**context, **own, "email": email, "site": absolute("")}
        try:
            send(self.render_mail(template_prefix, email, known))
        except OSError as failed:
            # Its own text may name the person.
            raise MailAway(failed.strerror or type(failed).__name__) from None

    def _are_enough(self, mails: str) -> bool:
        """Whether the network asked for many, or all networks together for ten times as many."""
        meta = {} if self.request is None else self.request.META
        payer = (*throttle.network_of(meta, mails), throttle.Counter(mails, NETWORKS_THAT_ASK))
        return throttle.seconds_until(MAILS, payer) > 0

    def send_account_already_exists_mail(self, email: str) -> None:
        """Sign-up with the address of an account: hashes a password too, so that it takes as long
        as making an account.
        """
        make_password("as long as another")
        super().send_account_already_exists_mail(email)

    def is_reauthentication_required(self, *, app: str, **named: object) -> bool:
        """Whether `app` may ask for the password again; right after a sign-in nothing does."""
        may_ask: bool = super().is_reauthentication_required(app=app, **named)
        return may_ask and not recent_sign_in.began_lately(context.request)

    def get_client_ip(self, request: HttpRequest) -> str:
        """The address that a session is listed with; of an IPv6 address the /64 network."""
        address = throttle.address_of(request.META).partition("/")[0]
        # Sessions store it as an address.
        return "::" if address == "unknown" else address


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Secrets of authenticator apps are stored encrypted, with a key from TOKEN_PEPPER."""

    def encrypt(self, text: str) -> str:
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _cipher().decrypt(encrypted_text.encode()).decode()


def may_sign_up(token: str) -> bool:
    """Whether the token of a first owner or of an invitation allows an account."""
    if first_owner.is_usable(token):
        return True
    try:
        invitations.find(token)
    except invitations.InvitationRefused:
        return False
    return True


def encrypt_again(encrypted_text: str) -> str:
    """A stored secret under the key of the pepper that signs today."""
    return _cipher().rotate(encrypted_text.encode()).decode()


def _cipher() -> MultiFernet:
    """Encrypts with the key of the pepper that signs; decrypts with those of former ones too."""
    digests = (hashlib.sha256(b"second factor" + pepper.encode()).digest() for pepper in peppers())
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
