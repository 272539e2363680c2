"""The row of a token: an HMAC of the token, and never the token itself.

The pepper that signs today or a former one keyed the HMAC. A token cannot be signed again without
its clear text, so its use does that (docs/operations.md, "Replacing the pepper").
"""

from typing import Any, TypeVar

from django.db import models

from backend.accounts.credentials import token_format


class StoredToken(models.Model):
    """What is stored of the clear text."""

    lookup = models.CharField(max_length=8, db_index=True)
    digest = models.BinaryField(max_length=32)
    # Which pepper keyed the digest (see token_format.pepper_id); empty: not recorded.
    pepper_id = models.CharField(max_length=8, default="", db_default="", editable=False)

    class Meta:
        abstract = True

    def matches(self, clear: str) -> bool:
        """Whether `clear` is this token, compared in constant time."""
        return token_format.same_digest(bytes(self.digest), clear)

    def sign_again(self, clear: str) -> None:
        """Store the digest under the pepper that signs, where another pepper keyed it."""
        if self.pepper_id == token_format.pepper_id():
            return
        signature = signature_of(clear)
        self.digest, self.pepper_id = signature["digest"], signature["pepper_id"]
        type(self)._default_manager.filter(pk=self.pk).update(**signature)


Token = TypeVar("Token", bound=StoredToken)


def find_stored(rows: models.QuerySet[Token], clear: str) -> Token | None:
    """The row of this clear text, signed by the pepper of today from now on."""
    if not token_format.is_well_formed(clear):
        return None
    same_lookup = rows.filter(lookup=token_format.lookup_of(clear))
    token = next((row for row in same_lookup if row.matches(clear)), None)
    if token is not None:
        token.sign_again(clear)
    return token


def signature_of(clear: str) -> dict[str, Any]:
    """The fields of StoredToken for this clear text, under the pepper that signs."""
    return {
        "lookup": token_format.lookup_of(clear),
        "digest": token_format.digest_of(clear),
        "pepper_id": token_format.pepper_id(),
    }
