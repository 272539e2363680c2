"""A large upload that is sent again while the first is received or read: one result."""

import base64
import hashlib
import json
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections
from django.test import Client

from backend.ingest.models import Artefact, Part, State, Upload
from backend.ingest.queue.worker import drain
from backend.ingest.quota.stored_sums import recount, stored_bytes
from backend.ingest.reading import answers
from backend.runs.models import Run, Trial
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_trial
from backend.untrusted.limits import LEAST_PART_BYTES

URL = "/api/v1/uploads"
LARGE = (WRK + "\n" + "# a log of some kilobytes\n" * 40_000).encode()
PIECES = [LARGE[at : at + LEAST_PART_BYTES] for at in range(0, len(LARGE), LEAST_PART_BYTES)]


pytestmark = pytest.mark.usefixtures("own_storage")


class LargeUpload:
    """An upload of one artefact that came in parts."""

    def __init__(self, tenant):
        self.tenant, self.id = tenant, str(uuid.uuid4())
        self.sha256 = hashlib.sha256(LARGE).hexdigest()
        self.put_parts()

    def put_parts(self):
        for number, piece in enumerate(PIECES):
            path = f"{URL}/{self.id}/parts/{self.sha256}/{number}"
            digest = f"sha-256=:{base64.b64encode(hashlib.sha256(piece).digest()).decode()}:"
            headers = {**self.tenant.headers, "content-digest": digest}
            kind = "application/octet-stream"
            assert Client().put(path, piece, content_type=kind, headers=headers).status_code == 201

    def parts(self):
        path = f"{URL}/{self.id}/parts"
        return Client().get(path, headers=self.tenant.headers).json()

    def send(self):
        """The last request, again where the service is busy."""
        trial = {**make_trial(0), "artefacts": ["big.txt"]}
        whole = {
            "name": "big.txt",
            "sha256": self.sha256,
            "size_bytes": len(LARGE),
            "parts": len(PIECES),
        }
        envelope = {**make_envelope(0), "id": self.id, "trials": [trial]}
        data = {"envelope": json.dumps(envelope), "parts": json.dumps([whole])}
        while (answer := Client().post(URL, data, headers=self.tenant.headers)).status_code == 503:
            pass
        return answer


def check_one_upload(tenant):
    upload = Upload.objects.get()
    assert Artefact.objects.get().sha256 == hashlib.sha256(LARGE).hexdigest()
    assert not Part.objects.exists()
    assert stored_bytes(tenant.workspace.pk) == len(LARGE) + upload.envelope_bytes
    assert recount() == 0
    return upload


@pytest.mark.django_db(transaction=True)
def test_sent_by_several_connections_at_once_it_is_received_once():
    tenant = make_tenant()
    large = LargeUpload(tenant)

    def send(_):
        try:
            # A workspace puts one large upload together at a time: who is told to wait does so.
            while (status := large.send().status_code) == 429:
                time.sleep(0.05)
            return status
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        statuses = sorted(pool.map(send, range(6)))

    assert statuses == [200] * 5 + [202]
    check_one_upload(tenant)


@pytest.mark.django_db
def test_sent_again_while_it_is_read_in_both_lanes_it_is_read_once(settings, monkeypatch):
    tenant = make_tenant()
    large = LargeUpload(tenant)
    assert large.send().status_code == 202
    lanes, answered = [], []
    ask = answers.ask_parser

    def ask_parser(files, *, tool, meanwhile):
        settings.QUICK_READ_S = -1  # from now on, the quick lane's time is over
        lanes.append(Upload.objects.get().is_slow)
        assert large.parts() == {"received": True, "parts": []}
        answered.append(large.send())
        meanwhile()
        return ask(files, tool=tool, meanwhile=meanwhile)

    monkeypatch.setattr(answers, "ask_parser", ask_parser)
    drain()
    answered.append(large.send())

    assert lanes == [False, True]
    assert [answer.status_code for answer in answered] == [200] * 3
    assert [answer.json()["state"] for answer in answered] == ["parsing", "parsing", "parsed"]
    upload = check_one_upload(tenant)
    assert (upload.state, upload.attempts) == (State.PARSED, 1)
    assert Run.objects.count() == Trial.objects.count() == 1
