"""Making, finding and redeeming tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from backend.accounts.audit import record
from backend.accounts.credentials import token_format
from backend.accounts.credentials.stored_token import signature_of
from backend.accounts.limits.addresses import Address, is_within
from backend.accounts.models import Act, Token, TokenKind, User, Workspace
from backend.accounts.workspace.scopes import AGENT_SCOPES, scopes_of_role
from backend.accounts.workspace.workspace_lock import lock_workspace
from backend.errors import Refused
from backend.transactions import whole

AGENT_LIFETIME = timedelta(days=365)
LINK_LIFETIME = timedelta(hours=12)
# Each use writes when it was, but not more often.
SEEN_EVERY = timedelta(minutes=1)


class TokenRefused(Refused):
    """The token is not accepted; the message says why, `hint` what to do."""


NEW_HINT = "Make a new token on the Tokens page of the workspace or with `manage.py make_token`."


def issue(
    kind: TokenKind, workspace: Workspace, *, user: User | None, name: str, lifetime: timedelta
) -> str:
    """Store a new token with the scopes of its kind; returns its clear text, which is never shown
    again.
    """
    grant = Grant(AGENT_SCOPES if kind == TokenKind.AGENT else [], lifetime)
    return store(kind, workspace, user=user, name=name, grant=grant)[1]


@dataclass(frozen=True, slots=True)
class Grant:
    """What a token may do, for how long (None: for ever), and from where (empty: everywhere)."""

    scopes: Sequence[str]
    lifetime: timedelta | None
    networks: Sequence[str] = ()


@transaction.atomic
def store(
    kind: TokenKind,
    workspace: Workspace,
    *,
    user: User | None,
    name: str,
    grant: Grant,
    made_by: Token | None = None,
) -> tuple[Token, str]:
    """A new token and its clear text."""
    clear = token_format.new_token(kind.value)
    token = Token.objects.create(
        kind=kind,
        name=name,
        workspace=workspace,
        user=user,
        made_by=made_by,
        scopes=[str(scope) for scope in grant.scopes],
        networks=list(grant.networks),
        **signature_of(clear),
        expires_at=None if grant.lifetime is None else timezone.now() + grant.lifetime,
    )
    if kind != TokenKind.LINK:
        record(
            Act.TOKEN_CREATED,
            workspace,
            subject=name,
            subject_id=token.pk,
            scopes=token.scopes,
            networks=token.networks,
            expires=f"{token.expires_at:%Y-%m-%d}" if token.expires_at else None,
        )
    return token, clear


# Every request with a token asks this. As text it costs half of what composing it each time does.
_FIND = """
    SELECT token.*, maker.is_active AS maker_is_active, membership.role AS maker_role
    FROM accounts_token token
    LEFT JOIN accounts_user maker ON maker.id = token.user_id
    LEFT JOIN accounts_membership membership
        ON membership.user_id = token.user_id AND membership.workspace_id = token.workspace_id
    WHERE token.lookup = %s AND token.kind = ANY(%s)
    """


def find(clear: str, *kinds: TokenKind) -> Token:
    """The valid token of one of `kinds` with this clear text; raises TokenRefused.

    A token can never do more than its maker may do in the workspace now.
    """
    token = stored(clear, *kinds)
    if token.kind != TokenKind.LINK and token.user_id is not None:
        _limit_to_maker(token, token.maker_role, is_active=token.maker_is_active)
    if token.revoked_at is not None:
        raise TokenRefused("This token was revoked.", hint=NEW_HINT)
    if token.is_expired:
        raise TokenRefused(f"This token expired on {token.expires_at:%Y-%m-%d}.", hint=NEW_HINT)
    return token


def stored(clear: str, *kinds: TokenKind) -> Token:
    """The token of one of `kinds` with this clear text, also one that ended. Raises TokenRefused.

    A digest of a former pepper is replaced by one of the pepper that signs.
    """
    if not token_format.is_well_formed(clear):
        raise TokenRefused(
            "This is not a Loadsheet token: its format or checksum is wrong.",
            hint="Copy the whole token, from ls_ to its last character.",
        )
    names = [kind.value for kind in kinds]
    rows = Token.objects.raw(_FIND, [token_format.lookup_of(clear), names])
    token: Token | None = next((row for row in rows if row.matches(clear)), None)
    if token is None:
        raise TokenRefused("Loadsheet does not know this token.", hint=NEW_HINT)
    token.sign_again(clear)
    return token


def is_accepted(token: Token, address: Address | None) -> bool:
    """Whether the token is neither revoked nor expired, and accepted from this address."""
    is_valid = token.revoked_at is None and not token.is_expired
    return is_valid and _is_from_its_networks(token, address)


def _is_from_its_networks(token: Token, address: Address | None) -> bool:
    return not token.networks or is_within(address, token.networks)


def check_address(token: Token, address: Address | None) -> None:
    """Raise TokenRefused where the token is not accepted from this address."""
    if not _is_from_its_networks(token, address):
        raise TokenRefused(
            f"This token is not accepted from the address {address or 'of this request'}.",
            hint="Send the request from a network of the token, or make another token.",
        )


def _limit_to_maker(token: Token, role: str | None, *, is_active: bool) -> None:
    if role is None or not is_active:
        raise TokenRefused(
            "The person who made this token is no longer a member of its workspace.", hint=NEW_HINT
        )
    allowed = scopes_of_role(role)
    token.scopes = [scope for scope in token.scopes if scope in allowed]


def redeem_link(clear: str) -> User:
    """Use a sign-in link once; a second use is refused."""
    token = find(clear, TokenKind.LINK)
    with transaction.atomic():
        used = Token.objects.filter(pk=token.pk, used_at=None).update(used_at=timezone.now())
    if used != 1 or token.user is None:
        raise TokenRefused(
            "This sign-in link was already used.",
            hint="Make another one: `manage.py sign_in_link`.",
        )
    return token.user


@whole
def revoke(token: Token) -> None:
    """Refuse the token from now on, and those that it made; the first time it was revoked stays.

    A token that makes another at the same time waits (token_making.py), and then makes none.
    """
    lock_workspace(token.workspace_id)
    # Those that are open: a token may have made thousands that ended.
    open_tokens = Token.objects.filter(pk__in=_made_by(token), revoked_at=None)
    for each in open_tokens.select_related("workspace").order_by("pk"):
        if Token.objects.filter(pk=each.pk, revoked_at=None).update(revoked_at=timezone.now()):
            record(Act.TOKEN_REVOKED, each.workspace, subject=each.name, subject_id=each.pk)


def _made_by(token: Token) -> list[UUID]:
    """The token and all that it made, also below one that ended before: whoever had that one may
    have made others with it."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH RECURSIVE made AS (
                SELECT %s::uuid AS id
                UNION
                SELECT token.id FROM accounts_token token JOIN made ON token.made_by_id = made.id
            ) SELECT id FROM made
            """,
            [token.pk],
        )
        return [id_ for (id_,) in cursor.fetchall()]


def revoke_all_of(workspace_id: UUID, user_id: UUID, **_: Any) -> None:
    """Revoke the tokens of somebody who left the workspace. Links to sign in are of the account."""
    made = Token.objects.filter(workspace=workspace_id, user=user_id, revoked_at=None)
    for token in made.exclude(kind=TokenKind.LINK).select_related("workspace").order_by("pk"):
        revoke(token)


def touch(token: Token) -> None:
    """Remember when a token was last used, at most once a minute."""
    now = timezone.now()
    if token.used_at is None or now - token.used_at > SEEN_EVERY:
        # Of many requests at once, one writes.
        unseen = Q(used_at=None) | Q(used_at__lt=now - SEEN_EVERY)
        Token.objects.filter(unseen, pk=token.pk).update(used_at=now)
