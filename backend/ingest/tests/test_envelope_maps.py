"""What is nested in the maps of an envelope has bounded levels, keys and values."""

import json

import pytest

from backend.ingest.envelope.envelope import read_envelope, read_host
from backend.ingest.envelope.envelope_errors import EnvelopeError
from backend.testing.reports import make_envelope
from backend.untrusted.limits import MAP_LEVELS, MAP_VALUES, NAME_LENGTH, TAIL_LENGTH

MAPS = [
    *("hosts.client.facts", "hosts.server.facts", "server.configuration", "workload.headers"),
    *("trials[0].server.configuration", "trials[0].workload.headers"),
    *("trials[0].resources", "trials[0].glance"),
]
# The map is the first level.
LISTS = json.loads("[" * (MAP_LEVELS - 1) + "]" * (MAP_LEVELS - 1))
BEYOND = [
    ({"a": [LISTS]}, f"at most {MAP_LEVELS} levels"),
    ({"a": {"b" * (NAME_LENGTH + 1): 1}}, f"at most {NAME_LENGTH} characters"),
    ({"a": ["b" * (TAIL_LENGTH + 1)]}, f"at most {TAIL_LENGTH}"),
    ({"a": [{"b": "", "c" * (NAME_LENGTH + 1): ""}]}, f"at most {NAME_LENGTH} characters"),
]
WITHIN = [{"a": LISTS}, {"a": {"b" * NAME_LENGTH: 1}}, {}]


def with_map(place, members):
    envelope = make_envelope(1)
    part, _, rest = place.partition(".")
    section = envelope["trials"][0] if part == "trials[0]" else envelope.setdefault(part, {})
    *outer, name = rest.split(".")
    for each in outer:
        section = section.setdefault(each, {})
    section[name] = members
    return envelope


@pytest.mark.parametrize("place", MAPS)
@pytest.mark.parametrize(("members", "expected"), BEYOND)
def test_a_nested_map_beyond_a_limit_is_refused(place, members, expected):
    with pytest.raises(EnvelopeError, match=expected) as refusal:
        read_envelope(with_map(place, members))
    assert place in str(refusal.value)
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize("place", MAPS)
@pytest.mark.parametrize("members", WITHIN)
def test_a_nested_map_within_the_limits_is_read(place, members):
    assert read_envelope(with_map(place, members)).entries


@pytest.mark.parametrize(("count", "is_read"), [(MAP_VALUES - 1, True), (MAP_VALUES, False)])
def test_the_values_of_all_levels_are_counted(count, is_read):
    # The list itself is one of them.
    host = {"facts": {"a": [0] * count}}
    if is_read:
        assert read_host(host, "server")["facts"] == host["facts"]
        return
    with pytest.raises(EnvelopeError, match="at most 10,000 values at all levels"):
        read_host(host, "server")
