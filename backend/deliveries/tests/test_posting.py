"""Posting to an address of a stranger: what is refused, and every way it can go wrong."""

import time

import pytest

from backend.deliveries import posting
from backend.deliveries.posting import NotSent, post


def refused(url):
    with pytest.raises(NotSent) as caught:
        post(url, b"{}", {})
    return caught.value


def test_a_2xx_answer_is_a_success(receiver, to_this_machine):
    receiver.answers = [(204, {}, b"")]
    assert post(receiver.url, b'{"a":1}', {"webhook-id": "1"}) == 204
    ((headers, body),) = receiver.requests
    assert body == b'{"a":1}'
    assert headers["webhook-id"] == "1"
    assert headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("mode", "says"),
    [("public", "expected https"), ("off", "turned webhooks off")],
)
def test_an_address_on_this_machine_gets_nothing(receiver, settings, mode, says):
    settings.WEBHOOKS = mode
    refusal = refused(receiver.url)
    assert (says in str(refusal), refusal.is_final) == (True, True)
    assert receiver.requests == []


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost", "[::ffff:127.0.0.1]"])
def test_tls_to_this_machine_is_refused_too(settings, host):
    settings.WEBHOOKS = "public"
    assert "not a public address" in str(refused(f"https://{host}:8443/"))


def test_a_redirect_is_not_followed(receiver, to_this_machine):
    receiver.answers = [(302, {"Location": "http://169.254.169.254/latest/meta-data"}, b"")]
    refusal = refused(receiver.url)
    assert refusal.status == 302
    assert "169.254.169.254" in str(refusal)
    assert "Redirects are not followed" in str(refusal)
    assert len(receiver.requests) == 1


def test_the_reason_of_a_refusal_is_shown_in_short(receiver, to_this_machine):
    receiver.answers = [(400, {}, b"no such\n channel \x00" + b"x" * 100_000)]
    refusal = refused(receiver.url)
    assert refusal.status == 400
    assert str(refusal).startswith("The receiver answered 400: no such channel xxx")
    assert len(str(refusal)) < 300


def test_a_gone_receiver_is_final(receiver, to_this_machine):
    receiver.answers = [(410, {}, b"")]
    assert refused(receiver.url).is_final


def drip(handler):
    """An answer that never ends, a byte at a time."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    try:
        while True:
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.05)
    except OSError:
        pass


def test_a_receiver_that_drips_is_left_at_the_deadline(receiver, to_this_machine, monkeypatch):
    monkeypatch.setattr(posting, "TOTAL_S", 0.5)
    receiver.answers = [drip]
    assert "did not answer within" in str(refused(receiver.url))


def test_an_endless_body_is_cut(receiver, to_this_machine):
    def endless(handler):
        handler.wfile.write(b"HTTP/1.1 500 Broken\r\n\r\n")
        try:
            while True:
                handler.wfile.write(b"y" * 65536)
        except OSError:
            pass

    receiver.answers = [endless]
    assert refused(receiver.url).status == 500


def test_a_closed_port_and_garbage_are_told(receiver, to_this_machine):
    receiver.answers = [lambda handler: handler.wfile.write(b"hello\r\n\r\n")]
    assert "could not be reached" in str(refused(receiver.url))
    assert "could not be reached" in str(refused("http://127.0.0.1:1/"))
