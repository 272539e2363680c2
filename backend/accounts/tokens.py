"""Making, finding and redeeming tokens."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from backend.accounts import token_format
from backend.accounts.models import Role, Token, TokenKind, User, Workspace
from backend.errors import Refused

AGENT_LIFETIME = timedelta(days=365)
LINK_LIFETIME = timedelta(hours=12)
AGENT_SCOPES = ["runs:write", "runs:read"]


class TokenRefused(Refused):
    """The token is not accepted; the message says why, `hint` what to do."""


NEW_HINT = "Make a new token in the workspace or with `manage.py make_token`."


def issue(
    kind: TokenKind, workspace: Workspace, *, user: User | None, name: str, lifetime: timedelta
) -> str:
    """Store a new token and give its clear text, which is never shown again."""
    clear = token_format.new_token(kind.value)
    Token.objects.create(
        kind=kind,
        name=name,
        workspace=workspace,
        user=user,
        scopes=AGENT_SCOPES if kind == TokenKind.AGENT else [],
        lookup=token_format.lookup_of(clear),
        digest=token_format.digest_of(clear),
        expires_at=timezone.now() + lifetime,
    )
    return clear


# Every request with a token asks this. As text it costs half of what composing it each time does.
_FIND = """
    SELECT token.*, maker.is_active AS maker_is_active, membership.role AS maker_role
    FROM accounts_token token
    LEFT JOIN accounts_user maker ON maker.id = token.user_id
    LEFT JOIN accounts_membership membership
        ON membership.user_id = token.user_id AND membership.workspace_id = token.workspace_id
    WHERE token.lookup = %s AND token.kind = %s
    """


def find(clear: str, kind: TokenKind) -> Token:
    """The valid token of `kind` with this clear text; raises TokenRefused.

    An agent's token can never do more than its maker may do in the workspace now.
    """
    if not token_format.is_well_formed(clear):
        raise TokenRefused(
            "This is not a Loadsheet token: its form or checksum is wrong.",
            hint="Copy the whole token, from ls_ to its last character.",
        )
    rows = Token.objects.raw(_FIND, [token_format.lookup_of(clear), kind])
    token = next((row for row in rows if row.matches(clear)), None)
    if token is None:
        raise TokenRefused("This token is not known here.", hint=NEW_HINT)
    if token.revoked_at is not None:
        raise TokenRefused("This token was revoked.", hint=NEW_HINT)
    if token.is_expired:
        raise TokenRefused(f"This token expired on {token.expires_at:%Y-%m-%d}.", hint=NEW_HINT)
    if token.kind == TokenKind.AGENT and token.user_id is not None:
        _limit_to_maker(token, token.maker_role, is_active=token.maker_is_active)
    return token


def _limit_to_maker(token: Token, role: str | None, *, is_active: bool) -> None:
    if role is None or not is_active:
        raise TokenRefused(
            "The person who made this token is no longer a member of its workspace.", hint=NEW_HINT
        )
    if role == Role.VIEWER:
        token.scopes = [scope for scope in token.scopes if scope != "runs:write"]


def redeem_link(clear: str) -> User:
    """Use a sign-in link once; a second use is refused."""
    token = find(clear, TokenKind.LINK)
    with transaction.atomic():
        used = Token.objects.filter(pk=token.pk, used_at=None).update(used_at=timezone.now())
    if used != 1 or token.user is None:
        raise TokenRefused(
            "This sign-in link was used before.", hint="Make another one: `manage.py sign_in_link`."
        )
    return token.user


def revoke(token: Token) -> None:
    """Refuse the token from now on; the first time it was revoked stays."""
    Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())


def touch(token: Token) -> None:
    """Remember when a token was last used, at most once a minute."""
    now = timezone.now()
    if token.used_at is None or now - token.used_at > timedelta(minutes=1):
        Token.objects.filter(pk=token.pk).update(used_at=now)
