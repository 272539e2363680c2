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


class MeasuresSerializer(Shape):
    throughput = MeasureSerializer(allow_null=True)
    p50 = MeasureSerializer(allow_null=True)
    p99 = MeasureSerializer(allow_null=True)
    error_rate = MeasureSerializer(allow_null=True)


class PointSerializer(Shape):
    x = Number()
    cell = Text()
    trials = serializers.IntegerField()
    overload = serializers.BooleanField(allow_null=True)
    metrics = MeasuresSerializer()
    checks = serializers.ListField(child=Text())


class SeriesSerializer(Shape):
    id = Text(help_text="Eight hexadecimal digits; the value of baseline=")
    label = Text()  # type: ignore[assignment]  # popped by DRF's metaclass
    server = Text()
    version = Text(allow_null=True)
    workload = Text(allow_null=True)
    tool = Text(allow_null=True)
    host = Text(allow_null=True)
    slot = serializers.IntegerField(help_text="Its colour on every page")
    points = PointSerializer(many=True)


class OutcomeSerializer(Shape):
    """Whether the series may be compared at all."""

    status = serializers.ChoiceField(["comparable", "caveats", "not_comparable"])
    differing = serializers.ListField(child=Text())
    reasons = serializers.ListField(child=Text())


class AxisSerializer(Shape):
    field = Text()
    label = Text()  # type: ignore[assignment]  # popped by DRF's metaclass
    values = serializers.ListField(child=Number())


class MetricSerializer(Shape):
    id = Text()
    label = Text()  # type: ignore[assignment]  # popped by DRF's metaclass
    unit = Text()
    better = serializers.ChoiceField(["higher", "lower"])


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


class RankingSerializer(Shape):
    x = Number()
    metric = Text()
    baseline = Text(allow_null=True)
    rows = RankRowSerializer(many=True)


class FiredCheckSerializer(Shape):
    id = Text()
    severity = serializers.ChoiceField(["info", "warning", "error"])
    title = Text()
    explanation = Text()
    count = serializers.IntegerField()
    cells = serializers.ListField(child=Text())
    trials = serializers.ListField(child=Text())


class SourceRunSerializer(Shape):
    id = serializers.UUIDField()
    started_at = serializers.DateTimeField(allow_null=True)
    url = Text()
    trials = serializers.IntegerField()


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
    checks = FiredCheckSerializer(many=True)
    runs = SourceRunSerializer(many=True)
    truncated = Text(allow_null=True)
