"""What ends when a value is removed from FORMER_TOKEN_PEPPERS."""

from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from backend.accounts.credentials.token_format import pepper_id
from backend.accounts.models import BEARER_KINDS, Token, TokenKind
from backend.accounts.workspace.invitations import usable_invitations
from backend.accounts.workspace.workspace_links import working_links
from backend.feeds.tokens import signed_tokens


def count_unmoved() -> dict[str, int]:
    """By kind, how many usable tokens, links and invitations a former pepper keys."""
    return {kind: rows.exclude(pepper_id=pepper_id()).count() for kind, rows in _usable().items()}


def _usable() -> dict[str, QuerySet[Any]]:
    lasting = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    tokens = Token.objects.filter(lasting, revoked_at=None, workspace__deleted_at=None)
    return {
        "tokens": tokens.filter(kind__in=BEARER_KINDS),
        "sign-in links": tokens.filter(kind=TokenKind.LINK, used_at=None),
        "links of workspaces": working_links(),
        "invitations": usable_invitations(),
        "feed tokens": signed_tokens(),
    }
