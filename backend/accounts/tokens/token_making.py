"""Making a token on request: which scopes, networks and lifetime its maker may give to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from backend.accounts.limits.addresses import are_within, read_networks
from backend.accounts.models import BEARER_KINDS, Token, TokenKind, User, Workspace
from backend.accounts.tokens import tokens
from backend.accounts.workspace.members import role_of
from backend.accounts.workspace.scopes import AGENT_SCOPES, Scope, scopes_of_role
from backend.accounts.workspace.workspace_lock import lock_workspace
from backend.errors import Conflict, InvalidInput

MAX_NAME = 120
LONGEST_DAYS = 3650
USUAL_DAYS = tokens.AGENT_LIFETIME.days
# Of one workspace, so that a script in a loop cannot fill the table.
MOST_USABLE = 500


class TokenNotMade(InvalidInput):
    """A token cannot be made like this. Nothing was stored."""


class TooManyTokens(Conflict):
    """The workspace has as many usable tokens as it may have."""


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """A token to make. Without `days` it never expires; without networks it works everywhere."""

    name: str
    scopes: Sequence[str]
    days: int | None = USUAL_DAYS
    networks: Sequence[str] = ()


@transaction.atomic
def make_token(actor: User | Token, workspace: Workspace, asked: TokenRequest) -> tuple[Token, str]:
    """A new token and its clear text, which is never shown again.

    Nobody gives a scope that they do not have, and no token makes one that outlives it or works
    from more networks. Raises TokenNotMade, BadNetwork and TooManyTokens.
    """
    name = " ".join(asked.name.replace("\0", " ").split())
    if not 0 < len(name) <= MAX_NAME:
        raise TokenNotMade(f"The name has {len(name)} characters; expected 1 to {MAX_NAME}.")
    lifetime = _lifetime(asked.days, actor)
    networks = _networks(asked.networks, actor)
    # First: whoever is removed meanwhile has no role behind it.
    lock_workspace(workspace.pk)
    scopes = _checked_scopes(asked.scopes, allowed=scopes_to_give(actor, workspace))
    maker = actor if isinstance(actor, Token) else None
    if maker is not None and Token.objects.exclude(revoked_at=None).filter(pk=maker.pk).exists():
        raise TokenNotMade("Your token was revoked in the meantime.")
    if usable_tokens(workspace).count() >= MOST_USABLE:
        raise TooManyTokens(
            f"The workspace has {MOST_USABLE} tokens, the limit.", hint="Revoke those not in use."
        )
    return tokens.store(
        TokenKind.AGENT if Scope.AGENT in scopes else TokenKind.API,
        workspace,
        user=actor.user if isinstance(actor, Token) else actor,
        name=name,
        grant=tokens.Grant(scopes, lifetime, networks),
        made_by=maker,
    )


def make_agent_token(maker: User, workspace: Workspace, name: str) -> str:
    """The clear text of a new token for an agent. Raises as `make_token`."""
    given = " ".join(name.replace("\0", " ").split())[:MAX_NAME]
    asked = TokenRequest(given or "agent", AGENT_SCOPES)
    return make_token(maker, workspace, asked)[1]


def scopes_to_give(actor: User | Token, workspace: Workspace) -> list[Scope]:
    """The scopes that `actor` may give to a new token of the workspace."""
    if isinstance(actor, Token):
        own = actor.workspace_id == workspace.pk and Scope.ADMIN in actor.scopes
        return [Scope(scope) for scope in actor.scopes] if own else []
    return scopes_of_role(role_of(actor, workspace))


def tokens_of(workspace: Workspace) -> QuerySet[Token]:
    """The tokens of agents and scripts, newest first, ended ones included."""
    return Token.objects.filter(workspace=workspace, kind__in=BEARER_KINDS).select_related("user")


def usable_tokens(workspace: Workspace) -> QuerySet[Token]:
    """Those that are neither revoked nor expired."""
    lasting = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return tokens_of(workspace).filter(lasting, revoked_at=None)


def _checked_scopes(given: Sequence[str], *, allowed: list[Scope]) -> list[Scope]:
    names = ", ".join(allowed) or "none"
    for scope in given:
        if scope not in allowed:
            raise TokenNotMade(f"The scope is “{scope[:40]}”; you may give: {names}.")
    if not given:
        raise TokenNotMade(f"No scope was given; expected at least one of: {names}.")
    return [scope for scope in Scope if scope in given]


def _networks(given: Sequence[str], actor: User | Token) -> list[str]:
    networks = read_networks(given)
    outer = actor.networks if isinstance(actor, Token) else []
    if not outer:
        return networks
    if not are_within(networks, outer):
        raise TokenNotMade(
            f"The networks are {', '.join(networks)}; expected parts of {', '.join(outer)}, from "
            "which your token is accepted."
        )
    return networks or list(outer)


def _lifetime(days: int | None, actor: User | Token) -> timedelta | None:
    if days is not None and not 1 <= days <= LONGEST_DAYS:
        raise TokenNotMade(
            f"The token should end after {days} days; expected 1 to {LONGEST_DAYS}, or no end."
        )
    asked = None if days is None else timedelta(days=days)
    end = actor.expires_at if isinstance(actor, Token) else None
    if end is None:
        return asked
    left = end - timezone.now()
    return left if asked is None else min(asked, left)
