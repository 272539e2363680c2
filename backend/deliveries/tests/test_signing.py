"""Signatures, against the example of the Standard Webhooks specification."""

import base64
import hashlib
import hmac
import re
import textwrap

from backend.deliveries.channels import renew_secret
from backend.deliveries.models import Delivery
from backend.deliveries.queue import Message, enqueue_for, send_due
from backend.deliveries.signing import secret_of, signature

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


def test_the_receiver_in_the_documentation_verifies_them(channel, receiver, settings):
    text = (settings.BASE_DIR / "docs" / "alerts.md").read_text()
    (block,) = re.findall(
        r"((?:^    .*\n|^\n)*^    def is_from_loadsheet.*\n(?:^    .*\n)*)", text, re.M
    )
    documented = {}
    exec(textwrap.dedent(block), documented)
    verify, secret = documented["is_from_loadsheet"], secret_of(channel)
    enqueue_for(channel, MESSAGE)
    send_due()
    ((headers, body),) = receiver.requests
    assert verify(secret, headers, body)
    assert not verify(secret, headers, body + b" ")
    assert not verify(secret, {**headers, "webhook-timestamp": "1600000000"}, body)
    renew_secret(channel)
    assert not verify(secret_of(channel), headers, body)


def test_another_secret_ends_the_earlier_one(channel):
    first = secret_of(channel)
    renew_secret(channel)
    assert secret_of(channel) != first
    # The secret is in no column.
    assert not Delivery.objects.filter(text__contains=first).exists()
