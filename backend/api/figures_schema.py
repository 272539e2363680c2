"""The JSON of a comparison, described for the OpenAPI document. Null is unknown, everywhere."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

Shape = serializers.Serializer[Any]
Number = serializers.FloatField
Text = serializers.CharField


class MeasureSerializer(Shape):
    """One figure of a point: the median of its trials, its interval and every trial's value."""

    value = Number(allow_null=True)
    low = Number(allow_null=True, help_text="Null with fewer than three trials")
    high = Number(allow_null=True)
    each = serializers.ListField(child=Number(allow_null=True))
    origin = serializers.ChoiceField(["computed", "reported"], allow_null=True)
    interval = Text(required=False, allow_null=True)


class PointSerializer(Shape):
    x = serializers.JSONField(help_text="A number, or the name of a category")
    cell = Text()
    cells = serializers.ListField(child=Text())
    trials = serializers.IntegerField()
    overload = serializers.BooleanField(allow_null=True)
    metrics = serializers.DictField(
        child=MeasureSerializer(),
        help_text="Throughput, p50, p99, error_rate and the asked metric, by their ids",
    )
    errors = serializers.DictField(  # type: ignore[assignment]  # popped by DRF's metaclass
        child=Number(allow_null=True),
        help_text="Shares of the attempts by class; null where the load tool does not tell",
    )
    checks = serializers.ListField(child=Text())


class SeriesSerializer(Shape):
    id = Text(help_text="Eight hexadecimal digits; the value of baseline=")
    label = Text()  # type: ignore[assignment]  # popped by DRF's metaclass
    server = Text()
    server_slug = Text()
    version = Text(allow_null=True)
    runtime = Text(allow_null=True)
    configuration = Text(allow_null=True)
    workload = Text(allow_null=True)
    workload_slug = Text(allow_null=True)
    tool = Text(allow_null=True)
    loop = Text()
    load = Text(allow_null=True, help_text="The load where it is not on the x axis")
    host = Text(allow_null=True)
    host_slug = Text(allow_null=True)
    facet = Text(allow_null=True)
    slot = serializers.IntegerField(help_text="Its colour on every page")
    points = PointSerializer(many=True)


class OutcomeSerializer(Shape):
    """Whether the series may be compared at all."""

    status = serializers.ChoiceField(["comparable", "caveats", "not_comparable"])
    differing = serializers.ListField(child=Text())
    reasons = serializers.ListField(child=Text())
    intent = Text(allow_null=True, help_text="The one thing that differs")
    confounded = serializers.ListField(child=Text(), help_text="What differs together")
    overridden = serializers.BooleanField(help_text="Ranked although not comparable")


class AxisSerializer(Shape):
    field = Text()
    label = Text()  # type: ignore[assignment]  # popped by DRF's metaclass
    kind = serializers.ChoiceField(["number", "category"])
    values = serializers.ListField(child=serializers.JSONField())


class MetricSerializer(Shape):
    id = Text()
    label = Text()  # type: ignore[assignment]  # popped by DRF's metaclass
    unit = Text()
    better = serializers.ChoiceField(["higher", "lower"])
    group = serializers.ChoiceField(["rate", "latency", "errors", "resources"])


class RatioSerializer(Shape):
    value = Number(allow_null=True)
    low = Number(allow_null=True)
    high = Number(allow_null=True)
    verdict = serializers.ChoiceField(["improved", "regressed", "unchanged", "inconclusive"])
    why = Text(allow_null=True)


class RankRowSerializer(Shape):
    series = Text()
    label = Text()  # type: ignore[assignment]  # popped by DRF's metaclass
    value = Number(allow_null=True)
    low = Number(allow_null=True)
    high = Number(allow_null=True)
    tier = Text(allow_null=True)
    ratio = RatioSerializer(allow_null=True)
    significant = serializers.BooleanField(allow_null=True, help_text="Beyond noise")
    relevant = serializers.BooleanField(
        allow_null=True, help_text="Beyond the workspace's threshold"
    )
    why = Text(allow_null=True, help_text="Why it has no place")


class RankingSerializer(Shape):
    x = serializers.JSONField()
    metric = Text()
    baseline = Text(allow_null=True)
    rows = RankRowSerializer(many=True)


class DismissedSerializer(Shape):
    run = Text()
    reason = Text()
    by = Text(allow_null=True)
    at = serializers.DateTimeField()


class FiredCheckSerializer(Shape):
    id = Text()
    severity = serializers.ChoiceField(["info", "warning", "error"])
    title = Text()
    explanation = Text()
    section = Text(help_text="Its section in the documentation")
    count = serializers.IntegerField()
    cells = serializers.ListField(child=Text())
    trials = serializers.ListField(child=Text())
    dismissed = DismissedSerializer(many=True, help_text="Runs where a member dismissed it")


class SourceRunSerializer(Shape):
    id = serializers.UUIDField()
    started_at = serializers.DateTimeField(allow_null=True)
    recorded_at = serializers.DateTimeField()
    url = Text()
    servers = serializers.ListField(child=Text())
    trials = serializers.IntegerField()
    open = serializers.BooleanField(required=False, help_text="Its trials still come")


class PanelSerializer(Shape):
    """One panel of a comparison that facet= divides."""

    value = Text()
    series = serializers.ListField(child=Text())
    finding = Text()
    outcome = OutcomeSerializer()
    ranking = RankingSerializer(allow_null=True)


class CurveSerializer(Shape):
    series = Text()
    count = serializers.IntegerField(help_text="Requests in the histogram")
    points = serializers.ListField(
        child=serializers.ListField(child=Number()), help_text="[percent, µs], rising"
    )


class CurvesSerializer(Shape):
    """Latency percentile curves, each of all its trials' histograms merged."""

    at = serializers.JSONField(help_text="The place on the axis; null where panels differ")
    series = CurveSerializer(many=True)


class KneeSerializer(Shape):
    """The lowest load beyond which throughput gains nothing."""

    series = Text()
    x = Number(allow_null=True)
    throughput = Number(allow_null=True)
    why = Text()


class CapacityRowSerializer(Shape):
    series = Text()
    x = Number(allow_null=True, help_text="The highest measured load under the limit")
    throughput = Number(allow_null=True)
    low = Number(allow_null=True, help_text="The highest load that is surely under it")
    high = Number(allow_null=True, help_text="The highest load that may be under it")
    why = Text()


class CapacitySerializer(Shape):
    limit_us = Number()
    rows = CapacityRowSerializer(many=True)


class RatiosSerializer(Shape):
    """Servers × workloads, each cell within its own workload."""

    baseline = serializers.DictField(child=Text())
    rows = serializers.ListField(child=Text())
    columns = serializers.ListField(child=Text())
    loads = serializers.ListField(child=serializers.JSONField())
    cells = serializers.ListField(
        child=serializers.ListField(child=RatioSerializer(allow_null=True))
    )
    means = serializers.ListField(child=RatioSerializer(allow_null=True))
    means_over = serializers.ListField(child=Text())
    means_text = Text()


class ChangeSerializer(Shape):
    """Where a series changed along versions or dates."""

    series = Text()
    x = serializers.JSONField()
    before = Number()
    after = Number()
    ratio = Number()
    low = Number(allow_null=True)
    high = Number(allow_null=True)
    verdict = Text()
    text = Text()


class FiguresSerializer(Shape):
    """A comparison: the same on the page, here, in an export and in a frozen result set."""

    schema = serializers.IntegerField()
    query = Text(help_text="The canonical query string")
    links = serializers.DictField(child=Text(), help_text="The same view as page, json and csv")
    finding = Text()
    conditions = Text()
    outcome = OutcomeSerializer()
    x = AxisSerializer()
    metric = Text()
    metrics = MetricSerializer(many=True)
    series = SeriesSerializer(many=True)
    ranking = RankingSerializer(allow_null=True, help_text="Null when not comparable")
    panels = PanelSerializer(many=True, allow_null=True, help_text="Null without facet=")
    curves = CurvesSerializer(allow_null=True)
    knees = KneeSerializer(many=True)
    capacity = CapacitySerializer(allow_null=True, help_text="Null without limit=")
    ratios = RatiosSerializer(allow_null=True, help_text="Null with one workload")
    changes = ChangeSerializer(many=True, help_text="With x=version or x=date")
    checks = FiredCheckSerializer(many=True)
    runs = SourceRunSerializer(many=True)
    truncated = Text(allow_null=True)
