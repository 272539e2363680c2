"""A takedown in the JSON of what members still read."""

from typing import Any

from rest_framework import serializers

from backend.accounts.takedown_models import Takedown, Thing
from backend.accounts.workspace.takedowns import members_of

HELP = "The takedown by which only members read it; null while it stands"


class TakenDownSerializer(serializers.Serializer[Takedown]):
    """What staff took down, and why. Its answer to other readers has the same members."""

    kind = serializers.ChoiceField(
        Thing.choices, help_text="What was taken down: it, or its whole workspace"
    )
    reason = serializers.CharField()
    since = serializers.DateTimeField()
    takedown = serializers.UUIDField(help_text="Name it when you object")

    def to_representation(self, instance: Takedown) -> dict[str, Any]:
        """As in the problem of status 410 and 451."""
        return members_of(instance)
