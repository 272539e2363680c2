"""Artefacts in parts: what is acknowledged is there, and nothing counts before the whole is."""

import base64
import hashlib
import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connections
from django.test import Client
from django.utils import timezone

from backend.accounts.models import Token
from backend.ingest.models import Artefact, Part, Upload
from backend.ingest.queue.worker import process
from backend.ingest.receiving import incoming
from backend.ingest.receiving import receive as receiving
from backend.storage import open_artefact, storage
from backend.testing.uploads import WRK, make_envelope, make_file, make_tenant, make_trial
from backend.untrusted.sandbox import fair_slots, slots

URL = "/api/v1/uploads"
# Long enough for several parts.
TEXT = (WRK + "\n" + "# padding to some kilobytes\n" * 400).encode()
PIECE = 4000


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def digest(data):
    return f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:"


class Sender:
    """Sends one artefact the way an agent does."""

    def __init__(self, tenant, data=TEXT, upload_id=None):
        self.client, self.headers, self.data = Client(), tenant.headers, data
        self.id, self.whole = str(upload_id or uuid.uuid4()), sha256(data)
        self.pieces = [data[start : start + PIECE] for start in range(0, len(data), PIECE)]

    def put(self, number, data=None, **headers):
        data = self.pieces[number] if data is None else data
        headers = {"content-digest": digest(data), **self.headers, **headers}
        path = f"{URL}/{self.id}/parts/{self.whole}/{number}"
        kind = "application/octet-stream"
        return self.client.put(path, data, content_type=kind, headers=headers)

    def put_all(self):
        return [self.put(number).status_code for number in range(len(self.pieces))]

    def there(self, headers=None):
        return self.client.get(f"{URL}/{self.id}/parts", headers=headers or self.headers).json()

    def post(self, *files, trials=(), names=("big.txt",), **changed):
        whole = {
            "sha256": self.whole,
            "size_bytes": len(self.data),
            "parts": len(self.pieces),
            **changed,
        }
        envelope = {**make_envelope(0), "id": self.id, "trials": list(trials)}
        wholes = [{"name": name, **whole} for name in names]
        data = {"envelope": json.dumps(envelope), "parts": json.dumps(wholes)}
        if files:
            data["file"] = list(files)
        return self.client.post(URL, data, headers=self.headers)


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    monkeypatch.setattr("backend.ingest.artefacts.parts.LEAST_PART_BYTES", PIECE)


def problem(answer, status):
    assert answer.status_code == status, answer.content
    assert answer["content-type"] == "application/problem+json"
    return answer.json()


@pytest.fixture
def tenant(db):
    return make_tenant()


@pytest.fixture
def sender(tenant):
    return Sender(tenant)


def files_of(tmp_path):
    return [path for path in tmp_path.rglob("parts/*") if path.is_file()]


def test_parts_in_any_order_make_the_artefact(sender, tmp_path):
    assert len(sender.pieces) > 2
    for number in reversed(range(len(sender.pieces))):
        assert sender.put(number).status_code == 201
    assert not Upload.objects.exists()
    trial = {**make_trial(0), "artefacts": ["big.txt", "small.txt"]}
    answer = sender.post(make_file("beside it", name="small.txt"), trials=[trial])
    assert answer.status_code == 202
    big, small = sorted(Artefact.objects.all(), key=lambda each: each.name)
    assert (big.name, big.sha256, big.size_bytes) == ("big.txt", sender.whole, len(TEXT))
    assert small.name == "small.txt"
    with open_artefact(big.sha256) as stored:
        assert stored.read() == TEXT
    assert not Part.objects.exists()
    assert files_of(tmp_path) == []


def test_what_came_in_parts_is_read_like_any_other(sender):
    sender.put_all()
    upload_id = sender.post().json()["id"]
    process(uuid.UUID(upload_id))
    upload = Upload.objects.get()
    assert (upload.state, upload.run.trials.count()) == ("parsed", 1)


def test_the_list_tells_what_is_there(sender):
    assert sender.there() == {"received": False, "parts": []}
    sender.put(2)
    sender.put(0)
    found = sender.there()["parts"]
    assert [(part["artefact"], part["number"]) for part in found] == [
        (sender.whole, 0),
        (sender.whole, 2),
    ]
    assert found[0]["sha256"] == sha256(sender.pieces[0])
    assert found[0]["size_bytes"] == PIECE


def test_a_part_sent_twice_is_one(sender, tmp_path):
    assert [sender.put(0).status_code for _ in range(3)] == [201, 200, 200]
    assert Part.objects.count() == len(files_of(tmp_path)) == 1


def test_a_part_with_other_bytes_is_refused_and_changes_nothing(sender):
    sender.put(0)
    refused = problem(sender.put(0, b"something else"), 409)
    assert "Part 0 came before" in refused["detail"]
    assert sender.there()["parts"][0]["sha256"] == sha256(sender.pieces[0])


@pytest.mark.django_db(transaction=True)
def test_the_same_part_from_many_connections_is_one(tmp_path):
    sender = Sender(make_tenant())

    def put(_):
        try:
            return sender.put(0).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        codes = sorted(pool.map(put, range(16)))
    assert codes == [200] * 15 + [201]
    assert Part.objects.count() == len(files_of(tmp_path)) == 1


def test_a_part_that_was_damaged_on_the_way_is_not_kept(sender, tmp_path):
    answer = sender.put(0, sender.pieces[0][:-1], **{"content-digest": digest(sender.pieces[0])})
    assert "were announced" in problem(answer, 408)["detail"]
    assert sender.there()["parts"] == []
    assert not Part.objects.exists()
    assert files_of(tmp_path) == []


def test_the_upload_waits_for_its_last_part(sender):
    for number in range(1, len(sender.pieces)):
        sender.put(number)
    refused = problem(sender.post(), 424)
    assert refused["missing"] == [0]
    assert not Upload.objects.exists()
    sender.put(0)
    assert sender.post().status_code == 202


@pytest.mark.parametrize(
    "changed", [{"size_bytes": len(TEXT) - 1}, {"parts": 1}], ids=["size", "parts"]
)
def test_parts_that_are_not_the_whole_make_no_upload(sender, changed, tmp_path):
    sender.put_all()
    refused = problem(sender.post(**changed), 422)
    assert "were named" in refused["detail"]
    assert not Upload.objects.exists()
    assert not Artefact.objects.exists()


def test_the_whole_hash_decides(tenant):
    """Each part as announced, and yet another artefact than was named."""
    liar = Sender(tenant)
    liar.whole = sha256(b"another")
    liar.put_all()
    problem(liar.post(), 422)
    assert not Upload.objects.exists()
    assert not Part.objects.exists()


def test_sent_again_after_a_lost_answer_it_needs_no_parts(sender):
    sender.put_all()
    first = sender.post()
    assert sender.there() == {"received": True, "parts": []}
    again = sender.post()
    assert (first.status_code, again.status_code) == (202, 200)
    assert first.json()["id"] == again.json()["id"]
    assert "already received" in problem(sender.put(0), 409)["detail"]
    other = Sender(make_tenant("other"), data=TEXT + b"more", upload_id=sender.id)
    problem(other.post(), 409)


@pytest.mark.parametrize("was_received", [True, False])
def test_sent_again_while_the_first_request_takes_the_parts_it_is_received(
    sender, monkeypatch, was_received
):
    sender.put_all()
    put_together = receiving.put_together
    firsts = []

    def after_the_first(*place):
        monkeypatch.setattr(receiving, "put_together", put_together)
        if was_received:
            firsts.append(sender.post().status_code)
        Part.objects.all().delete()
        return put_together(*place)

    monkeypatch.setattr(receiving, "put_together", after_the_first)

    again = sender.post()
    assert (firsts, again.status_code) == (([202], 200) if was_received else ([], 424))
    assert Upload.objects.count() == was_received


def test_an_artefact_of_many_names_is_put_together_once(sender, monkeypatch):
    sender.put_all()
    opened = []
    files = type(storage().rest)
    open_part = files.open_part
    monkeypatch.setattr(
        files, "open_part", lambda *place: opened.append(place) or open_part(*place)
    )
    names = [f"{number}.txt" for number in range(31)]

    assert sender.post(names=names).status_code == 202
    assert len(opened) == len(sender.pieces)
    assert {artefact.sha256 for artefact in Artefact.objects.all()} == {sender.whole}
    assert Artefact.objects.count() == len(names)


def test_parts_are_put_together_by_turns(sender, monkeypatch):
    sender.put_all()
    monkeypatch.setattr(fair_slots, "PATIENCE_S", 0.0)
    none_left = slots.Slots(running=1, waiting=1)
    none_left._running.append("other")
    monkeypatch.setattr(receiving, "LONG_WORK", none_left)

    assert problem(sender.post(), 503)["title"] == "Busy"
    none_left._running.remove("other")
    assert sender.post().status_code == 202


def test_only_the_last_part_may_be_small(sender):
    small = len(sender.pieces) - 1
    assert sender.put(small).status_code == 201
    refused = problem(sender.put(0, b"x"), 400)
    assert "is not the last" in refused["detail"]
    assert f"{PIECE:,}" in refused["detail"]
    assert "is not the last" in problem(sender.put(small + 1, b"x"), 400)["detail"]
    assert Part.objects.count() == 1
    assert sender.put(0).status_code == 201


def test_a_small_part_is_not_followed(sender):
    assert sender.put(1).status_code == 201
    problem(sender.put(0, b"x"), 400)


def test_small_parts_count_as_parts_of_the_least_size(tenant, settings):
    settings.PARTS_MAX_BYTES = 3 * PIECE
    answers = [Sender(tenant, data=b"%d" % number).put(0) for number in range(4)]

    assert [answer.status_code for answer in answers] == [201, 201, 201, 429]
    assert f"counted as {PIECE:,} at least" in problem(answers[-1], 429)["detail"]


def test_an_upload_has_a_limit_of_files(sender, monkeypatch):
    monkeypatch.setattr(incoming, "FILES", 2)
    sender.put_all()

    assert "at most 2" in problem(sender.post(names=["a", "b", "c"]), 400)["detail"]
    assert sender.post(names=["a", "b"]).status_code == 202


def test_another_workspaces_parts_do_not_exist(sender):
    sender.put_all()
    other = Sender(make_tenant("other"), upload_id=sender.id)
    assert other.there() == {"received": False, "parts": []}
    assert problem(other.post(), 424)["missing"][0] == 0
    assert sender.post().status_code == 202
    # Nor does the upload they became.
    assert other.there() == {"received": False, "parts": []}


def test_parts_need_a_token_that_may_write(sender, tenant, client):
    client.force_login(tenant.user)
    assert client.get(f"{URL}/{sender.id}/parts").status_code == 403
    Token.objects.update(scopes=["runs:read"])
    problem(sender.put(0), 403)
    sender.headers = {}
    problem(sender.put(0), 401)


def test_abandoned_parts_are_swept(sender, tmp_path, settings):
    sender.put_all()
    old = timezone.now() - timedelta(seconds=settings.PARTS_KEPT_S + 1)
    Part.objects.filter(number=0).update(begun_at=old)
    Part.objects.create(  # cut off before its bytes were durable
        workspace=Part.objects.first().workspace,
        upload_id=uuid.uuid4(),
        artefact_sha256="0" * 64,
        number=0,
        begun_at=old,
    )
    call_command("collect")
    left = len(sender.pieces) - 1
    assert Part.objects.count() == len(files_of(tmp_path)) == left
    assert problem(sender.post(), 424)["missing"] == [0]
    sender.put(0)
    assert sender.post().status_code == 202


def test_a_lost_file_of_a_part_is_a_missing_part(sender, tmp_path):
    sender.put_all()
    gone = Part.objects.get(number=1)
    (tmp_path / "artefacts" / "parts" / str(gone.pk)).unlink()
    assert problem(sender.post(), 424)["missing"] == [1]
    assert sender.put(1).status_code == 201
    assert sender.post().status_code == 202


def test_limits(sender, settings, monkeypatch):
    with monkeypatch.context() as smaller:
        smaller.setattr("backend.api.uploads.parts.MAX_PART_BYTES", PIECE - 1)
        assert f"{PIECE:,}" in problem(sender.put(0), 413)["detail"]
    settings.PARTS_MAX_BYTES = 2 * PIECE - 1
    assert sender.put(0).status_code == 201
    full = sender.put(1)
    assert f"{PIECE:,} bytes of parts wait in this workspace" in problem(full, 429)["detail"]
    assert int(full["Retry-After"]) > 0
    settings.UPLOAD_MAX_BYTES = PIECE + 1
    assert f"have {2 * PIECE:,} bytes" in problem(sender.put(1), 413)["detail"]
    problem(sender.post(), 413)
    assert Part.objects.count() == 1


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"content-digest": ""}, 400), ({"content-digest": "md5=:AAAA:"}, 400)],
)
def test_a_part_without_its_checksum_is_refused(sender, headers, status):
    assert "Content-Digest" in problem(sender.put(0, **headers), status)["hint"]


@pytest.mark.parametrize("place", ["abc/0", "A" * 64 + "/0", f"{'0' * 64}/10000"])
def test_a_bad_address_is_refused(sender, place):
    answer = sender.client.put(
        f"{URL}/{sender.id}/parts/{place}",
        b"x",
        content_type="application/octet-stream",
        headers={**sender.headers, "content-digest": digest(b"x")},
    )
    assert "number below" in problem(answer, 400)["detail"]


@pytest.mark.parametrize("parts", ["", "{", "{}", "[1]", '[{"name": "x"}]', "[" * 100_000])
def test_a_bad_list_of_parts_is_refused(client, tenant, parts):
    data = {"parts": parts, "envelope": json.dumps(make_envelope(0))}
    problem(client.post(URL, data, headers=tenant.headers), 400)


def test_an_upload_of_parts_needs_its_id(sender):
    data = {"parts": json.dumps([{"name": "a", "sha256": "0" * 64, "size_bytes": 1, "parts": 1}])}
    answer = sender.client.post(URL, data, headers=sender.headers)
    assert "id under which" in problem(answer, 400)["detail"]


def test_a_part_whose_first_request_was_killed_counts_once(sender, settings):
    """Its row stays for a while, and holds no room that the same part needs."""
    settings.UPLOAD_MAX_BYTES = settings.PARTS_MAX_BYTES = PIECE
    workspace = Token.objects.get().workspace
    killed = {"upload_id": sender.id, "artefact_sha256": sender.whole, "size_bytes": PIECE}
    Part.objects.create(workspace=workspace, number=0, **killed)
    assert sender.put(0).status_code == 201
