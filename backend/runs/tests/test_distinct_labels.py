"""Workloads that are shown together are told apart by what differs between them, and no more."""

from backend.runs.models import Workload
from backend.runs.workload_labels import label_workloads


def labels_of(*workloads):
    rows = [Workload(**fields) for fields in workloads]
    labels = label_workloads(rows)
    return [labels[row.pk] for row in rows]


def test_different_names_stay_as_they_are():
    assert labels_of({"name": "json", "path": "/a"}, {"name": "html", "path": "/b"}) == [
        "json",
        "html",
    ]


def test_equal_names_get_what_differs():
    get = {"name": "json", "method": "GET", "keepalive": True, "path": "/a"}
    assert labels_of(get, {**get, "path": "/b"}, {"name": "html"}) == [
        "json (/a)",
        "json (/b)",
        "html",
    ]
    assert labels_of(get, {**get, "keepalive": False, "path": None}) == [
        "json (/a keep-alive)",
        "json (unknown path no keep-alive)",
    ]


def test_what_differs_in_nothing_shown_gets_a_part_of_its_id():
    first, second = labels_of({"name": "json"}, {"name": "json", "headers": {"a": "b"}})
    assert first != second
    assert first.startswith("json (")
