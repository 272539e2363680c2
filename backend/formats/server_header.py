"""The header Server of responses, as far as it names a server (RFC 9110, section 10.2.4)."""

import re
from typing import NamedTuple

# A product, alone or with its version. Behind a version anything may follow; behind a name alone
# only a comment may, since of several words it is open which of them are the name.
_PRODUCT = re.compile(
    r"(?P<name>[A-Za-z][\w.!#$%&'*+^`|~-]*)"
    r"(?:/(?P<version>v?\d[\w.+~-]*)(?:[ \t(].*)?|[ \t]*(?:\([^()]*\))?)"
)


class Product(NamedTuple):
    """What a server calls itself; `version`: None if it does not say it."""

    name: str
    version: str | None


def read_product(header: str | None) -> Product | None:
    """The first product of the header; None if it names none.

    A proxy answers with its own name, and an operator may write anything.
    """
    match = _PRODUCT.fullmatch((header or "").strip())
    return match and Product(match["name"], match["version"])
