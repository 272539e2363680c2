"""Ending tokens that were published, as secret scanners report them."""

import contextlib
import logging
from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import UUID

from celery import current_app
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from backend.accounts.audit import record
from backend.accounts.mail.held_mail import WorkspaceMail
from backend.accounts.mail.mailed_addresses import mailed_addresses
from backend.accounts.mail.outgoing_mail import send
from backend.accounts.models import Act, Role, Token, TokenKind, User
from backend.accounts.tokens import tokens
from backend.accounts.workspace import invitations, workspace_links
from backend.broker import BROKER
from backend.errors import NotFound
from backend.links import absolute, link_to

log = logging.getLogger(__name__)

# Of one report: as many as scanners send at a time.
MOST_REPORTED = 100
MAX_ADDRESS = 500
WARN_TASK = "accounts.warn_of_leak"


@dataclass(frozen=True, slots=True)
class Leak:
    """A text that looks like a token, and where it was seen; `url` may be empty."""

    token: str
    url: str = ""


def end_leaked(leak: Leak) -> None:
    """Revoke what has this clear text: a token of any kind, an invitation, or the link of a
    workspace. Feed tokens end in backend.feeds.

    Returns nothing and raises nothing for a text that is no token here, so that a report tells its
    sender nothing.
    """
    try:
        token = tokens.stored(leak.token, *TokenKind)
    except tokens.TokenRefused:
        invitations.end_leaked(leak.token)
        workspace_links.end_leaked(leak.token)
        return
    # Of a deleted workspace no token works, and nobody is left to be told.
    with contextlib.suppress(NotFound), transaction.atomic():
        rows = Token.objects.filter(pk=token.pk, leaked_at=None)
        if not rows.update(leaked_at=timezone.now()):
            return
        record(
            Act.TOKEN_LEAKED,
            token.workspace,
            subject=token.name,
            subject_id=token.pk,
            seen=seen_at(leak.url),
        )
        tokens.revoke(token)
        transaction.on_commit(lambda: _request_warning(token.pk, seen_at(leak.url)))


def seen_at(url: str) -> str:
    """The address without user, password, query and fragment, which may hold the secret itself."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return ""
    return f"{parts.scheme}://{host}{parts.path}"[:MAX_ADDRESS] if host else ""


def warn_of_leak(token_id: UUID, seen: str) -> None:
    """Mail the maker of the token, and the owners of its workspace."""
    token = Token.objects.select_related("workspace", "user").filter(pk=token_id).first()
    if token is None:
        return
    owners = Q(memberships__workspace=token.workspace, memberships__role=Role.OWNER)
    people = User.objects.filter(owners | Q(pk=token.user_id))
    where = f"It was seen at {seen}\n\n" if seen else ""
    page = absolute(link_to("tokens-page", token.workspace.slug))
    for address in sorted(mailed_addresses(people)):
        mail = WorkspaceMail(
            token.workspace_id,
            f"A token of {token.workspace.name} was published and is revoked",
            f"A secret scanner reported the token “{token.name}” of the workspace "
            f"{token.workspace.name}. Loadsheet no longer accepts it.\n\n{where}"
            f"Make another token and remove the published one from its place:\n\n{page}\n",
            None,
            [address],
        )
        send(mail)


def _request_warning(token_id: UUID, seen: str) -> None:
    """Queue the mails: a slow mail server delays no report. Without a broker the Tokens page still
    shows what happened.
    """
    arguments = [str(token_id), seen]
    BROKER.call(
        lambda: current_app.send_task(WARN_TASK, args=arguments, retry=False), otherwise=None
    )
