"""Characters that nobody sees: each format for people shows a mark for them."""

import csv
import io
import json
import logging
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from django.contrib.auth import get_user_model
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends import smtp
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.test import Client

from backend.accounts.mail.held_mail import EmailBackend
from backend.accounts.mail.outgoing_mail import SmtpBackend
from backend.accounts.models import HeldMessage
from backend.config.environment.environment import mail_server
from backend.config.environment.logs import JsonFormatter
from backend.deliveries import payloads
from backend.deliveries.models import Delivery
from backend.runs.models import Run
from backend.sharing.models import Visibility
from backend.testing.every_text import TEXTS, name_of, overwrite_texts, text_fields
from backend.testing.scenes import make_result_set, make_scene
from backend.visible_text import MARK, escaped, visible, visible_line
from backend.web.middleware import ShowUnseenCharacters
from backend.web.tests.access_rows import ROWS
from backend.web.tests.shared_rows import SHARED
from backend.web.tests.test_access import body_of, ids_of

# ESC with a colour, the same in one character, a bell, turned text, an isolate, a null width mark.
PLANTED = "n\x1b[31m\x9b2J\x07\u202egnp\u2066x\ufeff\x85"
HIDDEN = {mark for mark in PLANTED if visible(mark) != mark}
FOR_PEOPLE = ("text/html", "text/csv", "image/svg+xml", "application/atom+xml")
# Words of ours, which no request can set, and addresses that pages link to.
OURS = {
    *("accounts.Workspace.slug", "accounts.FormerSlug.slug", "api.CreationKey.sender"),
    *("deliveries.Delivery.event", "deliveries.Channel.address", "runs.Dismissal.check_id"),
    *("runs.Series.tool", "runs.Series.loop", "runs.Trial.phase", "runs.Trial.percentiles_origin"),
}


def hidden_in(text):
    return sorted({mark for mark in text if mark in HIDDEN})


def test_what_is_not_seen_gets_a_mark_and_the_rest_stays():
    assert len(HIDDEN) == 7
    assert visible(PLANTED) == f"n{MARK}[31m{MARK}2J{MARK}{MARK}gnp{MARK}x{MARK}{MARK}"
    seen = "a\tb\nc\r\nd é 日本 🚀 العربية \u200b\u00a0"
    assert visible(seen) == seen
    assert visible("50 %\r100 %") == f"50 %{MARK}100 %"
    assert visible("50 %\r100 %", keeps_returns=True) == "50 %\r100 %"
    assert visible_line("a\r\nb\x1bc") == f"a b{MARK}c"


def test_every_control_and_every_mark_of_direction_is_shown():
    for code in (*range(32), *range(127, 160), 0x061C, *range(0x2028, 0x202F), 0xFEFF):
        mark = chr(code)
        assert visible(mark) == (mark if mark in "\t\n" else MARK), hex(code)
    assert visible("\ud800") == MARK


def test_an_escaped_line_of_json_is_the_same_json():
    line = json.dumps({"name": PLANTED, "é": 1}, ensure_ascii=False)
    assert hidden_in(escaped(line)) == []
    assert json.loads(escaped(line)) == json.loads(line)
    assert "é" in escaped(line)


def test_a_line_of_the_log():
    record = logging.makeLogRecord({"msg": "an_event", "levelname": "INFO", "name_": PLANTED})
    line = JsonFormatter().format(record)
    assert hidden_in(line) == []
    assert json.loads(line)["name_"] == PLANTED


class TestMails:
    def letter(self):
        letter = EmailMultiAlternatives("Alert", PLANTED, "from@example.org", ["to@example.org"])
        letter.subject = f"{PLANTED}\nBcc: x@example.org"
        letter.attach_alternative(f"<p>{PLANTED}</p>", "text/html")
        return letter

    def is_visible(self, letter):
        sent = letter.message()
        assert hidden_in(str(letter.subject) + letter.body) == []
        assert "\n" not in letter.subject
        for part in sent.walk():
            if part.get_content_maintype() == "text":
                assert hidden_in(part.get_payload(decode=True).decode()) == []

    def test_to_a_mail_server(self, monkeypatch):
        sent = []
        monkeypatch.setattr(
            smtp.EmailBackend, "send_messages", lambda _, mails: sent.extend(mails) or len(mails)
        )
        assert SmtpBackend().send_messages([self.letter()]) == 1
        self.is_visible(sent[0])

    def test_the_mail_server_of_a_url_is_sent_to_by_it(self, monkeypatch):
        monkeypatch.setenv("SMTP_URL", "smtp://mail.example:587")
        backend = mail_server("SMTP_URL", "mails")["EMAIL_BACKEND"]
        assert backend == f"{SmtpBackend.__module__}.{SmtpBackend.__name__}"

    @pytest.mark.django_db
    def test_kept_without_one(self):
        EmailBackend().send_messages([self.letter()])
        kept = HeldMessage.objects.get()
        assert hidden_in(kept.subject + kept.body) == []


@pytest.fixture(params=["webhook_body", "slack_body", "mail_body"])
def message(request):
    workspace = SimpleNamespace(slug="lab", name=PLANTED)
    delivery = Delivery(event="alert.new", subject=PLANTED, text=PLANTED, link="https://x.example")
    delivery._state.fields_cache["workspace"] = workspace
    return getattr(payloads, request.param)(delivery)


def test_a_message_of_a_channel(message):
    """Mails pass through the backend of mails."""
    if isinstance(message, str):
        return
    told = json.loads(message)
    assert hidden_in(told["text"] + told.get("subject", "")) == []
    assert MARK in told["text"]


def test_the_terminal_of_a_command(tmp_path):
    """`parse` writes the name of the file; the agent has a test of its own."""
    name = PLANTED.replace("/", "")
    (tmp_path / name).write_text("not an output")
    root = Path(__file__).parents[2]
    ran = subprocess.run(
        [sys.executable, root / "manage.py", "parse", tmp_path / name],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert MARK in ran.stdout + ran.stderr
    assert hidden_in(ran.stdout + ran.stderr) == []


@pytest.fixture
def planted(settings, tmp_path, own_storage, db):
    """Everything that has a name, with the hidden characters in each text somebody can choose."""
    settings.AGENT_FILES = tmp_path
    scene = make_scene()
    ids = ids_of(scene)
    workspace = scene.own.workspace
    ids["shared"] = make_result_set(workspace, Visibility.PUBLIC).pk
    overwrite_texts(workspace, planted_value, (each for each in text_fields() if is_free(each)))
    get_user_model().objects.filter(pk=scene.own.user.pk).update(is_staff=True)
    return scene, ids


def is_free(field):
    is_ours = name_of(field) in OURS or not isinstance(field, TEXTS)
    return not is_ours and not field.name.endswith(("sha256", "lookup", "pepper_id", "key"))


def planted_value(field, before, number):
    assert isinstance(field, models.CharField | models.TextField)
    return f"{PLANTED} {number}"[: field.max_length]


def addresses(ids):
    paths = {row.path for row in (*ROWS.values(), *SHARED.values()) if row.method == "get"}
    paths |= {f"/s/{ids['shared']}.{kind}" for kind in ("csv", "svg", "atom", "json")}
    paths |= {"/w/own-lab/compare?view=table", "/api/v1/compare.csv?workspace=own-lab"}
    paths |= {"/api/v1/trials.csv?workspace=own-lab", "/w/own-lab/feed.atom", "/explore"}
    paths |= {f"/w/own-lab/search?q={query}" for query in ("n", "gnp")}
    return sorted(path.format(**ids) for path in paths)


def test_no_format_for_people_shows_a_name_unchanged(planted):
    scene, ids = planted
    owner = Client()
    owner.force_login(scene.own.user)
    seen, marked = {}, set()
    for path in addresses(ids):
        answer = owner.get(path)
        kind = answer.headers.get("Content-Type", "").partition(";")[0]
        assert hidden_in("".join(answer.headers.values())) == [], path
        if kind in FOR_PEOPLE:
            body = body_of(answer).decode()
            assert hidden_in(body) == [], (path, [hex(ord(each)) for each in hidden_in(body)])
            assert int(answer.headers.get("Content-Length", len(body.encode()))) == len(
                body.encode()
            )
            seen[kind] = seen.get(kind, 0) + 1
            if MARK in body:
                marked.add(path)
    assert set(seen) >= {"text/html", "text/csv", "application/atom+xml"}
    assert seen["text/html"] > 40
    assert len(marked) > 20


def test_programs_get_the_name_as_it_was_sent(planted):
    scene, ids = planted
    Run.objects.filter(pk=scene.run.pk).update(notes=PLANTED)
    owner = Client()
    owner.force_login(scene.own.user)
    assert owner.get(f"/api/v1/runs/{ids['run']}").json()["notes"] == PLANTED


def test_a_table_stays_a_table():
    sent = io.StringIO(newline="")
    csv.writer(sent).writerows([["name", "rate"], [f"{PLANTED}\r\na second line", "1"]])
    answer = HttpResponse(sent.getvalue(), content_type="text/csv; charset=utf-8")
    shown = ShowUnseenCharacters(lambda _: answer)(HttpRequest()).content.decode()
    rows = list(csv.reader(io.StringIO(shown, newline="")))
    assert rows == [["name", "rate"], [f"{visible(PLANTED)}\r\na second line", "1"]]


def test_a_feed_stays_a_feed(planted):
    scene, _ = planted
    owner = Client()
    owner.force_login(scene.own.user)
    feed = ElementTree.fromstring(owner.get("/w/own-lab/alerts.atom").content)
    assert MARK in "".join(feed.itertext())


def test_the_name_of_a_downloaded_file(planted):
    scene, ids = planted
    owner = Client()
    owner.force_login(scene.own.user)
    answer = owner.get(f"/a/{ids['artefact']}/raw")
    assert answer.status_code == 200
    assert hidden_in(answer["Content-Disposition"]) == []
    assert not [each for each in ("%1B", "%E2%80%AE") if each in answer["Content-Disposition"]]
