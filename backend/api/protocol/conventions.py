"""What every operation of the document has in common: a hook of drf-spectacular.

Conditional reads and changes, keys of creations, rates and their errors work for all operations of
a kind, so they are described here and not at each view.
"""

from http import HTTPStatus
from typing import Any

from backend.api.protocol.idempotency import HEADER as KEY_HEADER
from backend.api.protocol.idempotency import MAX_LENGTH
from backend.api.protocol.preconditions import HEADER as CONDITION_HEADER
from backend.api.protocol.schema import match_of
from backend.problems import CONTENT_TYPE

PROBLEM = {"$ref": "#/components/schemas/Problem"}
METHODS = ("get", "post", "put", "patch", "delete")
_IF_NONE_MATCH = {
    "in": "header",
    "name": "If-None-Match",
    "schema": {"type": "string"},
    "description": "The ETag of an earlier answer: 304 without a body while nothing has changed",
}
_KEY = {
    "in": "header",
    "name": KEY_HEADER,
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_LENGTH, "pattern": "^[!-~]+$"},
    "description": (
        "A text of your choice for this creation. A request with the same text within 24 hours "
        "creates nothing and gets the first answer"
    ),
}
_IF_MATCH = {
    "in": "header",
    "name": CONDITION_HEADER,
    "schema": {"type": "string"},
    "description": (
        "The ETag of the whole answer as you read it. If the ETag is another now, the answer is "
        "412 and nothing changes"
    ),
}
_ETAG = {"ETag": {"schema": {"type": "string"}, "description": "Names the bytes of the answer"}}


def describe_conventions(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """The document with what all operations of a kind share."""
    for path, methods in result["paths"].items():
        view: Any = match_of(path).func
        for method, operation in methods.items():
            if method in METHODS:
                _describe(method, operation, getattr(view.cls, method))
    return result


def _describe(method: str, operation: dict[str, Any], handler: Any) -> None:
    responses = operation["responses"]
    # Also of a repeated parameter, and of a key or a condition that is not taken.
    _add_problem(responses, "400", "Bad Request")
    _add_problem(responses, "429", "Too Many Requests")
    # While the database, the storage or the parser is away or busy.
    _add_problem(responses, "503", "Service Unavailable")
    if "requestBody" in operation:
        _add_problem(responses, "413", HTTPStatus(413).phrase)
    if method == "get" and "application/json" in responses.get("200", {}).get("content", {}):
        operation.setdefault("parameters", []).append(_IF_NONE_MATCH)
        responses["200"]["headers"] = _ETAG
        responses["304"] = {"description": "Not changed since the ETag that was sent"}
    if hasattr(handler, "takes_key"):
        operation.setdefault("parameters", []).append(_KEY)
        _add_problem(responses, "409", "Conflict")
    if hasattr(handler, "takes_condition"):
        operation.setdefault("parameters", []).append(_IF_MATCH)
        responses["200"]["headers"] = _ETAG
    operation["responses"] = dict(sorted(responses.items()))


def _add_problem(responses: dict[str, Any], code: str, text: str) -> None:
    content = {CONTENT_TYPE: {"schema": PROBLEM}}
    responses.setdefault(code, {"description": text, "content": content})
