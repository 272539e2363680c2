"""A row of a list of runs is what the fields of its serializer say."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from rest_framework.serializers import Serializer

from backend.api.runs.runs import ListedRunSerializer, RunRowSerializer
from backend.links import link_to
from backend.runs.catalogue.listing import RunRow

FULL = RunRow(
    id=UUID(int=7),
    workspace="lab",
    started_at=datetime(2026, 3, 2, 9, 30, 0, 123456, UTC),
    recorded_at=datetime(2026, 3, 2, 9, 31, tzinfo=UTC),
    interrupted=False,
    is_open=True,
    labels={"branch": "main", "größe": "7"},
    trials=12,
    failed_trials=1,
    warmups=2,
    is_partial=True,
    servers=("caddy 2.10", "nginx"),
    workloads=("hello",),
    tools=("ab", "wrk"),
    server_host="bench-1",
    name="caddy 2.10, nginx · hello · ab, wrk",
    throughput_rps=1e16,
)
EMPTY = replace(
    FULL,
    started_at=None,
    labels={},
    servers=(),
    workloads=(),
    tools=(),
    server_host=None,
    name="",
    throughput_rps=None,
)


def test_a_row_is_what_the_fields_say():
    for serializer in (RunRowSerializer(), ListedRunSerializer()):
        for row in (FULL, EMPTY, replace(FULL, is_open=False), replace(FULL, interrupted=True)):
            by_fields = Serializer.to_representation(serializer, _Linked(row))
            assert list(serializer.to_representation(row).items()) == list(by_fields.items())


class _Linked:
    """A row with the link that its serializer writes."""

    def __init__(self, row):
        self._row = row
        self.url = link_to("run", row.id)

    def __getattr__(self, name):
        return getattr(self._row, name)
