"""The scope that each operation of the API asks of a token: one table, enforced and documented.

A session of a browser has no scopes; its user's role decides. An operation without an entry is
refused to every token, as one with NO_TOKEN, and a test asks for an entry for each.
"""

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from backend.accounts.models import Token
from backend.accounts.workspace.scopes import Scope
from backend.api.protocol.errors import Problem

# Any of these sets of scopes is enough.
Needed = tuple[frozenset[Scope], ...]

ANY_TOKEN: Needed = (frozenset(),)
READ: Needed = (frozenset({Scope.RUNS_READ}),)
UPLOAD: Needed = (frozenset({Scope.RUNS_WRITE}), frozenset({Scope.AGENT}))
FOLLOW: Needed = (*READ, *UPLOAD)
# What is changed is shown in the answer, so a token of a build that only uploads changes nothing.
CHANGE: Needed = (frozenset({Scope.RUNS_READ, Scope.RUNS_WRITE}),)
AGENT: Needed = (frozenset({Scope.AGENT}),)
ADMIN: Needed = (frozenset({Scope.ADMIN}),)
READ_OR_ADMIN: Needed = (*READ, *ADMIN)
# What sends results out of the service, by an archive, a feed or a channel: what the token could
# read one by one, so it takes the scope that reads.
READ_AND_ADMIN: Needed = (frozenset({Scope.RUNS_READ, Scope.ADMIN}),)
# For people alone: what an owner decides, and workspaces of their own.
NO_TOKEN: Needed = ()

# By the name of the route, then by method.
NEEDED_SCOPES: dict[str, dict[str, Needed]] = {
    "me": {"GET": ANY_TOKEN},
    "limit-list": {"GET": ANY_TOKEN},
    "workspace-usage": {"GET": READ},
    "openapi": {"GET": ANY_TOKEN},
    "leaked-token-list": {"POST": ANY_TOKEN},
    "token-list": {"GET": ADMIN, "POST": ADMIN},
    "token": {"DELETE": ADMIN},
    "audit-list": {"GET": ADMIN},
    "export-list": {"GET": READ_AND_ADMIN, "POST": READ_AND_ADMIN},
    "export": {"GET": READ_AND_ADMIN, "DELETE": ADMIN},
    "export-file-api": {"GET": READ_AND_ADMIN},
    "workspace-list": {"GET": READ, "POST": NO_TOKEN},
    "workspace-settings-api": {"GET": READ_OR_ADMIN, "PATCH": ADMIN, "DELETE": NO_TOKEN},
    "workspace-link": {"POST": NO_TOKEN, "DELETE": NO_TOKEN},
    "member-list": {"GET": ADMIN},
    "member": {"PATCH": ADMIN, "DELETE": ADMIN},
    "invitation-list": {"GET": ADMIN, "POST": ADMIN},
    "invitation-api": {"DELETE": ADMIN},
    "feed-token-list": {"GET": READ_AND_ADMIN, "POST": READ_AND_ADMIN},
    "feed-token": {"DELETE": READ_AND_ADMIN},
    "agent-list": {"GET": READ},
    "session-meet": {"POST": AGENT},
    "heartbeat": {"POST": AGENT},
    "observations": {"POST": AGENT},
    "upload-list": {"GET": READ, "POST": UPLOAD},
    "upload-preview": {"POST": UPLOAD},
    "upload": {"GET": FOLLOW},
    "part-list": {"GET": UPLOAD},
    "part": {"PUT": UPLOAD},
    "compare": {"GET": READ},
    "compare-csv": {"GET": READ},
    "compare-pair-api": {"GET": READ},
    "facets": {"GET": READ},
    "gate": {"GET": READ},
    "explore-api": {"GET": ANY_TOKEN},
    "trials-csv": {"GET": READ},
    "trials-parquet": {"GET": READ},
    "run-list": {"GET": READ},
    "run": {"GET": READ, "PATCH": CHANGE, "DELETE": CHANGE},
    "run-sharing": {"GET": READ, "PATCH": CHANGE},
    "run-sharing-revoke": {"POST": CHANGE},
    "shared-run": {"GET": ANY_TOKEN},
    "correction": {"DELETE": CHANGE},
    "dismissal-list": {"GET": READ, "POST": CHANGE},
    "dismissal": {"DELETE": CHANGE},
    "renames": {"POST": CHANGE},
    "run-progress": {"GET": READ},
    "run-plan": {"GET": READ},
    "trial-list": {"GET": READ},
    "trial": {"GET": READ},
    "trial-timeline": {"GET": READ},
    "server-list": {"GET": READ},
    "host-list": {"GET": READ},
    "workload-list": {"GET": READ},
    "restore-run-api": {"POST": CHANGE},
    "trash-list": {"GET": READ},
    "merge-list": {"GET": READ, "POST": CHANGE},
    "merge": {"DELETE": CHANGE},
    "artefact": {"GET": READ},
    "result-set-list": {"GET": READ, "POST": CHANGE},
    "result-set": {"GET": READ, "PATCH": CHANGE},
    "result-set-changes-api": {"GET": READ},
    "result-set-withdraw": {"POST": CHANGE},
    "result-set-revoke": {"POST": CHANGE},
    "view-list": {"GET": READ, "POST": CHANGE},
    "view": {"PATCH": CHANGE, "DELETE": CHANGE},
    "alert-list": {"GET": READ},
    "alert": {"GET": READ, "PATCH": CHANGE},
    "alert-rule-list": {"GET": READ, "POST": CHANGE},
    "alert-rule": {"PATCH": CHANGE, "DELETE": CHANGE},
    "channel-list": {"GET": READ_OR_ADMIN, "POST": READ_AND_ADMIN},
    "channel": {"DELETE": ADMIN},
    "channel-test": {"POST": ADMIN},
    "channel-secret": {"GET": ADMIN, "POST": ADMIN},
    "delivery-list": {"GET": READ_AND_ADMIN},
}


def needed_scopes(route: str, method: str) -> Needed:
    """The sets of scopes of which one is enough; empty, so never enough, without an entry."""
    return NEEDED_SCOPES.get(route, {}).get("GET" if method == "HEAD" else method, ())


def scopes_in_words(needed: Needed) -> str:
    """`runs:write or agent`."""
    return " or ".join(" and ".join(sorted(scopes)) for scopes in needed)


class HasScope(BasePermission):
    """Refuses a token that lacks the scope of the operation, whatever it asks for."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Raises Problem 403. A method that the address does not have is answered 405 later."""
        method = request.method or ""
        if not isinstance(request.auth, Token) or not hasattr(view, method.lower()):
            return True
        match = request.resolver_match
        needed = needed_scopes(match.url_name or "" if match else "", method)
        if method == "OPTIONS" or any(scopes <= set(request.auth.scopes) for scopes in needed):
            return True
        raise _lacking(request.auth, needed)


def _lacking(token: Token, needed: Needed) -> Problem:
    """Why the token is refused."""
    if not needed:
        return Problem(
            403,
            "Not for tokens",
            "No token may do this, whatever its scopes: it takes a person who is signed in.",
            hint="Sign in with a browser, on the pages of Loadsheet.",
        )
    return Problem(
        403,
        "Scope is missing",
        f"This token has the scopes {', '.join(token.scopes) or 'none'}; this request needs "
        f"{scopes_in_words(needed)}.",
        hint="Make a token with this scope on the Tokens page of the workspace.",
    )
