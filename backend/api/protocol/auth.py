"""Who asks: a token in the Authorization header, or a browser's session."""

from typing import cast
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.utils.functional import SimpleLazyObject
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.request import Request

from backend.accounts import audit
from backend.accounts.limits import throttle
from backend.accounts.limits.addresses import sender_address
from backend.accounts.limits.limiters import UPLOADS
from backend.accounts.models import BEARER_KINDS, Token, User
from backend.accounts.sign_in import recent_sign_in
from backend.accounts.tokens import tokens
from backend.accounts.workspace import access
from backend.accounts.workspace.scopes import Scope
from backend.accounts.workspace.workspace_links import shared_ids
from backend.api.protocol.errors import Problem, sign_in_needed
from backend.api.protocol.rates import count_request
from backend.links import link_to
from backend.problems import CHALLENGE

FORM_HINT = "Send the header: Authorization: Bearer ls_api_… or ls_agent_…"


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer ls_…`. A wrong token is refused, never treated as none."""

    def authenticate(self, request: Request) -> tuple[User | AnonymousUser, Token] | None:
        header = get_authorization_header(request)
        if not header:
            return None
        token = _find(clear_text(header), request)
        tokens.touch(token)
        audit.acting_with(token)
        # Most requests ask nothing of the user: then its row is not read.
        user = cast(User, SimpleLazyObject(lambda: token.user or AnonymousUser()))
        return user, token

    def authenticate_header(self, request: Request) -> str:
        return CHALLENGE


def clear_text(header: bytes) -> str:
    """The token in an Authorization header; raises Problem 401 where the form is another."""
    scheme, _, rest = header.partition(b" ")
    try:
        clear = rest.strip().decode("ascii")
    except UnicodeDecodeError:
        clear = ""
    if scheme.lower() != b"bearer" or not clear:
        raise Problem(
            401,
            "Bad Authorization header",
            "The Authorization header is not of the form: Bearer <token>.",
            hint=FORM_HINT,
        )
    return clear


def _find(clear: str, request: Request) -> Token:
    try:
        token = tokens.find(clear, *BEARER_KINDS)
        tokens.check_address(token, sender_address(request.META))
    except tokens.TokenRefused:
        # 178 bits cannot be guessed, so a wrong token is one more request of nobody. Only wrong
        # tokens ask the cache: those of others never delay a valid one.
        count_request(request._request, throttle.network_of(request.META))
        raise
    return token


def actor_of(request: Request) -> Token | User | None:
    """The token or the user that sent the request; None for an anonymous one."""
    if isinstance(request.auth, Token):
        return request.auth
    return request.user if isinstance(request.user, User) else None


def viewer_name(request: Request) -> str:
    """The key of the sender's share of slow work."""
    return access.name_of_viewer(actor_of(request), request.META)


def required_actor(request: Request) -> Token | User:
    """As actor_of; raises Problem 401 for an anonymous request, whatever it asks for."""
    actor = actor_of(request)
    if actor is None:
        raise sign_in_needed()
    return actor


def require_recent_sign_in(request: Request) -> None:
    """Raise Problem 403 for a session whose person must first prove who it is; no token must."""
    django_request = request._request
    if actor_of(request) == django_request.user and recent_sign_in.is_proof_needed(django_request):
        raise Problem(
            403,
            "Sign in again",
            "You signed in more than "
            f"{settings.ACCOUNT_REAUTHENTICATION_TIMEOUT // 60} minutes ago.",
            hint="Confirm your password, code or key at "
            f"{link_to('account_reauthenticate')}, then send the request again.",
        )


def readable_ids(request: Request) -> list[UUID]:
    """The workspaces whose runs the sender may read, public and shared ones included.

    Raises Problem 401 if there is none, as for a sender without a token.
    """
    ids = [*access.readable_ids(actor_of(request)), *_shared_ids(request)]
    if not ids:
        required_actor(request)
    return ids


def question_ids(request: Request) -> list[UUID]:
    """The workspaces that a comparison of the sender may ask.

    Without signing in, only a public or shared workspace that the query names; raises Problem 401
    for others.
    """
    slug = request.query_params.get("workspace")
    ids = access.ids_for_question(actor_of(request), slug, shared=_shared_ids(request))
    if not ids:
        required_actor(request)
    return ids


def _shared_ids(request: Request) -> list[UUID]:
    """The workspaces whose link the browser opened; none for a token."""
    return [] if isinstance(request.auth, Token) else shared_ids(request.session)


def author_of(actor: Token | User) -> User | None:
    """The user who answers for what `actor` does; None if the maker of a token is gone."""
    return actor.user if isinstance(actor, Token) else actor


def agents_token(request: Request, *, to: str) -> Token:
    """The token of an agent, counted as one more request of it; 403 or 429 else."""
    token = required_actor(request)
    if not isinstance(token, Token) or Scope.AGENT not in token.scopes:
        raise Problem(
            403,
            "Not allowed",
            f"It takes a token with the scope agent to {to}.",
            hint="Make a token on the Agents page of the workspace.",
        )
    throttle.require(UPLOADS, throttle.payer_of(token.pk))
    return token
