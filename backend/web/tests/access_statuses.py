"""What each kind of visitor gets: a row of the matrix, and the statuses that many routes share."""

from dataclasses import dataclass, field

VISITORS = ["anonymous", "stranger", "viewer", "owner", "token", "foreign_token"]


def expected(anonymous, stranger, viewer, owner, token, foreign_token):
    return dict(
        zip(VISITORS, [anonymous, stranger, viewer, owner, token, foreign_token], strict=True)
    )


EVERYONE = expected(200, 200, 200, 200, 200, 200)
# Tokens are for the API: on a page they are nobody.
MEMBERS_PAGE = expected(404, 404, 200, 200, 404, 404)
WRITERS_PAGE = expected(404, 404, 404, 302, 404, 404)
NOBODY = expected(404, 404, 404, 404, 404, 404)
OWNERS_PAGE = expected(404, 404, 404, 200, 404, 404)
OWNERS_FORM = expected(404, 404, 404, 302, 404, 404)
# Tokens are nobody here: they are sent to sign in.
SIGNED_IN_PAGE = expected(302, 200, 200, 200, 302, 302)
LED_ON = expected(302, 302, 302, 302, 302, 302)
MEMBERS_API = expected(401, 404, 200, 200, 200, 404)
# Lists show each their own; what is in them is asserted apart.
SIGNED_IN_API = expected(401, 200, 200, 200, 200, 200)
WRITERS_DELETE = expected(401, 404, 404, 204, 204, 404)
WRITERS_API = expected(401, 404, 404, 200, 200, 404)


@dataclass(frozen=True)
class Row:
    path: str
    status: dict
    method: str = "get"
    data: dict = field(default_factory=dict)
    json: bool = False


# 400: allowed in, but it said nothing.
NOTHING_SAID = expected(400, 400, 400, 400, 400, 400)
