"""A server that nobody named is called what its answers say, and unknown where they say nothing."""

from pathlib import Path

import pytest

from backend.ingest.queue.worker import process
from backend.runs.models import Server
from backend.testing.uploads import WRK, make_tenant, make_upload

pytestmark = pytest.mark.django_db

CAPTURES = Path(__file__).parents[2] / "formats/ab/tests/captures"
# Its answers say nginx/1.22.1.
AB = (CAPTURES / "keepalive-c10-10k-tsv-csv/stdout").read_text()


@pytest.fixture
def tenant():
    return make_tenant()


def servers_of(tenant, *texts, **server):
    upload = make_upload(
        tenant, *texts, envelope={"schema": 1, "server": server} if server else None
    )
    process(upload.pk)
    rows = Server.objects.filter(series__cells__run=upload.pk).distinct().order_by("identity")
    return [(row.name, row.version) for row in rows]


def test_the_answers_name_a_server_that_the_upload_does_not(tenant):
    assert servers_of(tenant, AB) == [("nginx", "1.22.1")]
    (server,) = Server.objects.all()
    assert server.configuration == {"address": "127.0.0.1:18110", "named_by": "its answers"}


def test_two_addresses_stay_two_servers(tenant):
    other = AB.replace("Server Port:            18110", "Server Port:            18111")
    assert other != AB
    assert servers_of(tenant, AB, other) == [("nginx", "1.22.1")] * 2


def test_a_name_that_was_given_stands(tenant):
    assert servers_of(tenant, AB, name="app") == [("app", None)]
    assert servers_of(tenant, AB, name="Nginx") == [("Nginx", "1.22.1")]
    assert servers_of(tenant, AB, name="nginx", version="1.27") == [("nginx", "1.27")]
    assert servers_of(tenant, AB, version="1.27") == [("nginx", "1.27")]


@pytest.mark.parametrize("header", ["", "Google Frontend", "<b>"])
def test_a_server_whose_answers_name_none_stays_unknown(tenant, header):
    text = AB.replace("nginx/1.22.1", header)
    assert servers_of(tenant, text) == [("unknown server at 127.0.0.1:18110", None)]


def test_a_load_tool_that_prints_no_header_names_no_server(tenant):
    ((name, version),) = servers_of(tenant, WRK)
    assert name.startswith("unknown server")
    assert version is None
