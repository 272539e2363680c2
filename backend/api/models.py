"""Keys of creations, so that a request that is sent again creates nothing twice."""

from django.db import models
from django.utils import timezone

from backend.accounts.models import Workspace


class CreationKey(models.Model):
    """An Idempotency-Key, and the answer to the request that came with it."""

    # Of a token or user: keys of two senders never meet.
    sender = models.CharField(max_length=80)
    key = models.CharField(max_length=200)
    # SHA-256 of the request's address and body.
    digest = models.BinaryField(max_length=32, editable=False)
    status = models.PositiveSmallIntegerField(default=0)
    answer = models.BinaryField(default=b"", editable=False)
    # Of what was created: the answer goes with it.
    workspace = models.ForeignKey(Workspace, null=True, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["sender", "key"], name="creation_key")]

    def __str__(self) -> str:
        return f"{self.key} of {self.sender}"
