"""The JSON of result sets: what requests carry and what is answered."""

from typing import Any, get_args
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from backend.accounts.takedown_models import Takedown
from backend.api.protocol.strict import StrictSerializer
from backend.api.protocol.taken_down import HELP, TakenDownSerializer
from backend.api.protocol.workspaces import workspace_field
from backend.links import link_to, result_set_link
from backend.sharing.models import Kind, ResultSet, State, Visibility
from backend.sharing.readers import readers_of, readers_of_runs
from backend.sharing.text import MAX_LENGTH
from backend.stats import Verdict


class KeepSerializer(StrictSerializer):
    """What to keep."""

    query = serializers.CharField(
        allow_blank=True, max_length=8_000, help_text="The query string of the comparison"
    )
    kind = serializers.ChoiceField(
        Kind.choices,
        default=Kind.FROZEN,
        help_text="frozen: the figures as they are now; live: the question, answered anew",
    )
    title = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)
    notes = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=MAX_LENGTH, help_text="Markdown"
    )
    visibility = serializers.ChoiceField(Visibility.choices, default=Visibility.PRIVATE)
    expires_at = serializers.DateTimeField(required=False, default=None, allow_null=True)
    workspace = workspace_field()


class EditSerializer(StrictSerializer):
    """What to change; what is left out stays. The title of a frozen one is part of its bytes."""

    title = serializers.CharField(required=False, max_length=200)
    notes = serializers.CharField(required=False, allow_blank=True, max_length=MAX_LENGTH)
    visibility = serializers.ChoiceField(Visibility.choices, required=False)
    expires_at = serializers.DateTimeField(required=False, allow_null=True)
    superseded_by = serializers.UUIDField(
        required=False, allow_null=True, help_text="The id of the newer one, of the same workspace"
    )


class WithdrawSerializer(StrictSerializer):
    """The reason, which readers of the link see later."""

    reason = serializers.CharField(max_length=1_000)


class ResultSetSerializer(serializers.ModelSerializer[ResultSet]):
    """A saved comparison with its link. The snapshot of a frozen result set never changes."""

    id = serializers.UUIDField(source="link", help_text="Changes when the link is revoked")
    workspace = serializers.CharField(source="workspace.slug")
    kind = serializers.ChoiceField(Kind.choices)
    state = serializers.ChoiceField(State.choices)
    author = serializers.CharField(source="author.username", allow_null=True, read_only=True)
    superseded_by = serializers.SerializerMethodField(
        help_text="The page of the newer result set, where the reader may see it"
    )
    sha256 = serializers.SerializerMethodField(
        help_text="SHA-256 of the bytes at json_url; null when live"
    )
    readers = serializers.SerializerMethodField(help_text="Who may read it now, and why")
    taken_down = serializers.SerializerMethodField(help_text=HELP)
    newer_runs = serializers.SerializerMethodField(
        help_text="Newer runs that the query also selects. Null if unknown, and for readers of a "
        "frozen result set who may not read the runs of its workspace"
    )
    withdrawn_reason = serializers.SerializerMethodField()
    url = serializers.CharField(source="path", read_only=True, help_text="The page")
    json_url = serializers.SerializerMethodField(help_text="The snapshot, byte for byte")
    csv_url = serializers.SerializerMethodField()
    png_url = serializers.SerializerMethodField(help_text="The chart as an image")
    badge_url = serializers.SerializerMethodField(help_text="An SVG for a README")
    embed_url = serializers.SerializerMethodField(
        help_text="For embedding in other pages; null while it is private"
    )

    class Meta:
        model = ResultSet
        fields = ["id", "workspace", "kind", "state", "title", "notes", "author", "query"]
        fields += [
            "visibility",
            "readers",
            "taken_down",
            "created_at",
            "expires_at",
            "superseded_by",
        ]
        fields += ["withdrawn_at", "withdrawn_reason", "sha256", "newer_runs", "url", "json_url"]
        fields += ["csv_url", "png_url", "badge_url", "embed_url"]

    def get_superseded_by(self, result_set: ResultSet) -> str | None:
        newer = result_set.superseded_by
        is_visible = newer is not None and (
            self._is_member(result_set) or result_set.may_name(newer)
        )
        return newer.path if newer is not None and is_visible else None

    def _is_member(self, result_set: ResultSet) -> bool:
        return result_set.workspace_id in self.context["workspaces"]

    def get_sha256(self, result_set: ResultSet) -> str | None:
        return result_set.sha256 or None

    def get_readers(self, result_set: ResultSet) -> str:
        # Of a list, looked up together.
        by_workspace = self.context.get("readers_of_runs")
        of_runs = (
            readers_of_runs(result_set.workspace)
            if by_workspace is None
            else by_workspace[result_set.workspace_id]
        )
        return readers_of(result_set, of_runs, self._takedown_of(result_set))

    @extend_schema_field(TakenDownSerializer(allow_null=True))
    def get_taken_down(self, result_set: ResultSet) -> dict[str, Any] | None:
        takedown = self._takedown_of(result_set)
        return None if takedown is None else TakenDownSerializer(takedown).data

    def _takedown_of(self, result_set: ResultSet) -> Takedown | None:
        found: Takedown | None = self.context["takedowns"].get(result_set.pk)
        return found

    def get_newer_runs(self, result_set: ResultSet) -> int | None:
        counts: dict[UUID, int | None] = self.context["newer_runs"]
        return counts.get(result_set.pk)

    def get_withdrawn_reason(self, result_set: ResultSet) -> str | None:
        return result_set.withdrawn_reason or None

    def get_json_url(self, result_set: ResultSet) -> str:
        return result_set_link(result_set.link, "json")

    def get_csv_url(self, result_set: ResultSet) -> str:
        return result_set_link(result_set.link, "csv")

    def get_png_url(self, result_set: ResultSet) -> str:
        return result_set_link(result_set.link, "png")

    def get_badge_url(self, result_set: ResultSet) -> str:
        return result_set_link(result_set.link, "svg")

    def get_embed_url(self, result_set: ResultSet) -> str | None:
        return link_to("embed", result_set.link) if result_set.is_shared else None


class ReadResultSetSerializer(ResultSetSerializer):
    """A result set, asked for by itself."""

    figures = serializers.DictField(
        required=False, help_text="If expanded: as in the bytes at json_url"
    )

    class Meta(ResultSetSerializer.Meta):
        fields = [*ResultSetSerializer.Meta.fields, "figures"]


class PlaceSerializer(serializers.Serializer[Any]):
    """A point of a series."""

    series = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # popped by DRF's metaclass
    x = serializers.JSONField(help_text="A number, or the text of a category")
    trials = serializers.IntegerField()


class ChangedFigureSerializer(PlaceSerializer):
    metric = serializers.CharField()
    before = serializers.FloatField(allow_null=True)
    after = serializers.FloatField(allow_null=True)
    ratio = serializers.FloatField(allow_null=True, help_text="After ÷ before over the trials")
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    verdict = serializers.ChoiceField(list(get_args(Verdict)), allow_null=True)
    why = serializers.CharField(allow_null=True)


class ChangedHeadlineSerializer(serializers.Serializer[Any]):
    finding = serializers.CharField()
    outcome = serializers.CharField()


class RenamedSerializer(serializers.Serializer[Any]):
    before = serializers.CharField()
    after = serializers.CharField()


class ChangesSerializer(serializers.Serializer[Any]):
    """What the same runs give now, against what was frozen."""

    changed = serializers.BooleanField()
    before = ChangedHeadlineSerializer()
    after = ChangedHeadlineSerializer(allow_null=True, help_text="Null when every run is gone")
    missing_runs = serializers.ListField(child=serializers.UUIDField())
    figures = ChangedFigureSerializer(many=True)
    gone = PlaceSerializer(many=True)
    new = PlaceSerializer(many=True)
    renamed = RenamedSerializer(many=True)
