"""Signatures, against the example of the Standard Webhooks specification."""

import base64
import hashlib
import hmac
import re
import threading
import time
from http.server import ThreadingHTTPServer

import httpx
import pytest

from backend.deliveries.channels import renew_secret
from backend.deliveries.models import Delivery
from backend.deliveries.queue import Message, enqueue_for
from backend.deliveries.signing import secret_of, signature
from backend.testing.worked_off import send_due

MESSAGE = Message("alert.new", "New alert", "p99 is worse.", "http://127.0.0.1:8000/x", {"a": 1})


def test_the_example_of_the_specification():
    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    body = b'{"test": 2432232314}'
    expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body) == expected


def test_a_receiver_can_verify_what_it_gets(channel, receiver):
    delivery = enqueue_for(channel, MESSAGE)
    assert send_due() == 1
    ((headers, body),) = receiver.requests
    key = base64.b64decode(secret_of(channel).removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{digest}"
    assert headers["webhook-id"] == str(delivery.pk)


@pytest.fixture
def guide(settings):
    """What the receiver in docs/api.md defines."""
    text = (settings.BASE_DIR / "docs" / "api.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if "def is_from_loadsheet" in block]
    defined = {"__name__": "receiver"}
    exec(block, defined)
    return defined


def sent_to(channel, receiver):
    """A message as it arrived: its headers and its bytes."""
    enqueue_for(channel, MESSAGE)
    send_due()
    return receiver.requests[-1]


def test_the_verifier_of_the_guide_takes_what_was_signed_and_nothing_else(guide, channel, receiver):
    verify, secret = guide["is_from_loadsheet"], secret_of(channel)
    headers, body = sent_to(channel, receiver)
    assert verify(secret, headers, body)
    signature = headers["webhook-signature"]
    several = {**headers, "webhook-signature": f"v1a,x v1,AAAA {signature}"}
    assert verify(secret, several, body)
    assert not verify(secret, headers, body + b" ")
    for name, text in (
        ("webhook-id", "another"),
        ("webhook-timestamp", str(int(headers["webhook-timestamp"]) + 1)),
        ("webhook-timestamp", "soon"),
        ("webhook-signature", ""),
        ("webhook-signature", "v1,é"),
        ("webhook-signature", signature.replace("v1,", "v2,")),
    ):
        assert not verify(secret, {**headers, name: text}, body), text
    assert not verify(secret, {}, body)
    renew_secret(channel)
    assert not verify(secret_of(channel), headers, body)


def test_the_verifier_of_the_guide_refuses_a_replay_after_five_minutes(
    guide, channel, receiver, monkeypatch
):
    verify, secret = guide["is_from_loadsheet"], secret_of(channel)
    headers, body = sent_to(channel, receiver)
    sent_at = int(headers["webhook-timestamp"])
    for age_s, is_taken in ((299, True), (301, False), (-301, False)):
        monkeypatch.setattr(time, "time", lambda age_s=age_s: sent_at + age_s)
        assert verify(secret, headers, body) is is_taken, age_s


def test_the_receiver_of_the_guide_handles_a_message_once(
    guide, channel, receiver, monkeypatch, capsys
):
    headers, body = sent_to(channel, receiver)
    headers = {name: text for name, text in headers.items() if name.startswith("webhook-")}
    monkeypatch.setenv("WEBHOOK_SECRET", secret_of(channel))
    server = ThreadingHTTPServer(("127.0.0.1", 0), guide["Receiver"])
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_port}/"
        statuses = [
            httpx.post(address, content=content, headers=headers, timeout=60).status_code
            for content in (body, body, body + b" ")
        ]
    finally:
        server.shutdown()
        server.server_close()
    assert statuses == [204, 204, 401]
    assert capsys.readouterr().out == "alert.new New alert http://127.0.0.1:8000/x\n"


def test_another_secret_ends_the_earlier_one(channel):
    first = secret_of(channel)
    renew_secret(channel)
    assert secret_of(channel) != first
    # The secret is in no column.
    assert not Delivery.objects.filter(text__contains=first).exists()
