"""Requests of the API that schemathesis draws from its document, and how they are signed."""

import os
from dataclasses import dataclass
from pathlib import Path

import schemathesis
from django.conf import settings as service
from django.test import Client
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.accounts.workspace.scopes import Scope

DOCUMENT = Path(__file__).parents[3] / "docs/openapi.yaml"
# Of each operation; in full with OPENAPI_EXAMPLES=500.
IN_FULL = "OPENAPI_EXAMPLES" in os.environ
EXAMPLES = int(os.environ.get("OPENAPI_EXAMPLES", "10"))

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    # Only in full: the same requests are drawn only where the same modules are imported, and some
    # that seem to be against the document are allowed as an address has them.
    *([negative_data_rejection] if IN_FULL else []),
    # Left out:
    # - ignored_auth: who is not signed in reads what is public; test_access.py asks every route.
    # - positive_data_acceptance: queries, kinds and names have rules that no schema can say.
    # - unsupported_method, missing_required_header: they judge requests of another phase only; the
    #   first has a test below, and no operation requires a header.
]

# An answer to what the document does not allow: also one about the length of the body, which the
# service looks at first.
REFUSALS = ["400", "401", "403", "404", "405", "406", "409", "411", "413", "415", "422", "429"]

schema = schemathesis.openapi.from_path(DOCUMENT)
# A request is signed as its operation asks, so that it reaches the view.
schema.config.generation.update(with_security_parameters=False)
schema.config.checks.negative_data_rejection.expected_statuses = REFUSALS
OPERATIONS = [result.ok() for result in schema.get_all_operations()]


@dataclass(frozen=True, slots=True)
class Credentials:
    """How the owner of the workspace signs requests."""

    token: str
    session: str

    def sign(self, operation):
        """The headers and cookies with which the operation lets a request through to its view."""
        if any("token" in entry for entry in operation.definition.raw.get("security", ())):
            return {"headers": {"Authorization": f"Bearer {self.token}"}, "cookies": {}}
        cookies = {service.SESSION_COOKIE_NAME: self.session, service.CSRF_COOKIE_NAME: CSRF}
        return {"headers": {"X-CSRFToken": CSRF}, "cookies": cookies}


# Any text of this length, as long as the cookie and the header have the same.
CSRF = "x" * 32


def make_credentials(scene):
    """A token with every scope, and a session for the operations that no token may send."""
    asked = TokenRequest("All scopes", tuple(Scope))
    browser = Client()
    browser.force_login(scene.own.user)
    return Credentials(
        token=make_token(scene.own.user, scene.own.workspace, asked)[1],
        session=browser.cookies[service.SESSION_COOKIE_NAME].value,
    )


def drawn(**more):
    """Settings of hypothesis: the same requests each time, however busy the machine is."""
    return settings(
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        **more,
    )
