"""Tokens in the addresses of private feeds."""

import uuid

from django.db import models
from django.utils import timezone

from backend.accounts.credentials.stored_token import StoredToken
from backend.accounts.models import Token, User, Workspace


class FeedToken(StoredToken):
    """Lets a feed reader read the feeds of a workspace for a member, until either ends.

    The clear text is shown once. `made_by`: the API token whose request made it. Then it opens the
    feeds only while, and from where, that token is accepted.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    made_by = models.ForeignKey(Token, on_delete=models.CASCADE, related_name="+", null=True)
    name = models.CharField(max_length=120, default="")
    # Empty: made before feed tokens had the form of others. Its digest is a plain SHA-256.
    lookup = models.CharField(max_length=8, default="", db_default="", db_index=True)
    digest = models.BinaryField(max_length=32, unique=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"feed token {self.name}"
