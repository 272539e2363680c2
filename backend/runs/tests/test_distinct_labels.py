"""Servers and workloads that are shown together are told apart by what differs, and no more."""

from backend.runs.catalogue.distinct_labels import label_servers, label_workloads
from backend.runs.models import Server, Workload


def workload_labels(*workloads):
    rows = [Workload(**fields) for fields in workloads]
    labels = label_workloads(rows)
    return [labels[row.pk] for row in rows]


def server_labels(*servers):
    rows = [Server(**fields) for fields in servers]
    labels = label_servers(rows)
    return [labels[row.pk] for row in rows]


def test_different_names_stay_as_they_are():
    assert workload_labels({"name": "json", "path": "/a"}, {"name": "html", "path": "/b"}) == [
        "json",
        "html",
    ]
    assert server_labels({"name": "nginx", "version": "1.27"}, {"name": "nginx"}) == [
        "nginx 1.27",
        "nginx",
    ]


def test_workloads_of_one_name_get_what_differs():
    get = {"name": "json", "method": "GET", "keepalive": True, "path": "/a"}
    assert workload_labels(get, {**get, "path": "/b"}, {"name": "html"}) == [
        "json (/a)",
        "json (/b)",
        "html",
    ]
    assert workload_labels(get, {**get, "keepalive": False, "path": None}) == [
        "json (/a keep-alive)",
        "json (unknown path no keep-alive)",
    ]


def test_servers_of_one_name_and_version_get_what_differs():
    nginx = {"name": "nginx", "version": "1.27", "configuration": {"workers": 2, "log": "off"}}
    assert server_labels(nginx, {**nginx, "configuration": {"log": "off"}}) == [
        "nginx 1.27 (workers=2)",
        "nginx 1.27 (no workers)",
    ]
    assert server_labels(nginx, {**nginx, "runtime": "PyPy"}, {**nginx, "version": None}) == [
        "nginx 1.27 (unknown runtime)",
        "nginx 1.27 (PyPy)",
        "nginx",
    ]


def test_what_differs_in_nothing_shown_gets_a_part_of_its_id():
    first, second = workload_labels({"name": "json"}, {"name": "json", "headers": {"a": "b"}})
    assert first != second
    assert first.startswith("json (")
