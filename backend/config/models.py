"""When each part of the service was last heard of."""

from django.db import models


class Heartbeat(models.Model):
    """The last heartbeat of a process, or of the canary, by the database's clock."""

    # The part, and the machine where several may run: worker@bench-1.
    name = models.CharField(primary_key=True, max_length=160)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} at {self.at}"
