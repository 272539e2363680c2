"""The queue of deliveries: nothing lost, nothing sent for ever, and nobody held up."""

import json
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.utils import timezone

from backend.accounts.models import Membership
from backend.deliveries import queue
from backend.deliveries.channels import BadChannel, ChannelRefused, add_channel, send_test
from backend.deliveries.models import Channel, Delivery
from backend.deliveries.queue import Message, claim, enqueue, enqueue_for, forget_old, send_next
from backend.errors import TooMany
from backend.testing.uploads import make_tenant
from backend.testing.worked_off import send_due

MESSAGE = Message("alert.new", "New <alert>", "p99 & more", "http://127.0.0.1:8000/x", {"a": 1})


def worker_dies():
    """The lease of what was claimed ends, and nothing else was written since the claim."""
    ended = timezone.now() - timedelta(seconds=1)
    Delivery.objects.exclude(lease_until=None).update(lease_until=ended)


def due_again():
    Delivery.objects.update(retry_at=timezone.now() - timedelta(seconds=1))


def test_a_webhook_gets_the_message_once(channel, receiver):
    enqueue_for(channel, MESSAGE)
    assert (send_due(), send_due()) == (1, 0)
    ((_, body),) = receiver.requests
    got = json.loads(body)
    assert (got["type"], got["workspace"], got["data"]) == ("alert.new", "lab", {"a": 1})
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts[0]["status"]) == ("delivered", 200)


def test_it_is_tried_again_with_growing_pauses_and_then_given_up(channel, receiver):
    receiver.answers = [(500, {}, b"down")] * 20
    enqueue_for(channel, MESSAGE)
    pauses = []
    for _ in range(20):
        before = timezone.now()
        if not send_due():
            break
        delivery = Delivery.objects.get()
        if delivery.state == "waiting":
            pauses.append(round((delivery.retry_at - before).total_seconds(), -1))
        due_again()
    assert tuple(pauses) == queue.PAUSES_S
    assert delivery.state == "failed"
    assert len(receiver.requests) == len(queue.PAUSES_S) + 1
    assert {headers["webhook-id"] for headers, _ in receiver.requests} == {str(delivery.pk)}
    assert delivery.last_reason == "The receiver answered 500: down"


def test_a_worker_that_died_loses_nothing_and_cannot_write_later(channel, receiver):
    enqueue_for(channel, MESSAGE)
    held = claim()
    assert claim() is None
    worker_dies()
    assert send_due() == 1
    queue._end(held, queue.DeliveryState.FAILED)
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.fence, delivery.lease_until) == ("delivered", 2, None)
    first, second = delivery.attempts
    assert (first["reason"], first["status"], first["seconds"]) == (queue.UNENDED, None, None)
    assert (second["reason"], second["status"]) == ("", 200)


@pytest.mark.parametrize("kind", ["webhook", "slack", "mail"])
def test_a_message_whose_sending_ends_the_worker_is_given_up(
    channel, mailbox, receiver, kind, caplog
):
    Channel.objects.filter(pk=channel.pk).update(kind=kind)
    Delivery.objects.all().delete()
    enqueue_for(mailbox if kind == "mail" else channel, MESSAGE)
    for _ in range(queue.MOST_ATTEMPTS):
        assert claim() is not None
        worker_dies()
    assert send_due() == 1
    delivery = Delivery.objects.get()
    assert (delivery.state, len(delivery.attempts)) == ("failed", queue.MOST_ATTEMPTS)
    assert delivery.last_reason == queue.UNENDED
    assert (receiver.requests, mail.outbox, send_due()) == ([], [], 0)
    assert "delivery_failed" in caplog.text


def test_attempts_that_did_not_end_count_among_those_that_failed(channel, receiver):
    receiver.answers = [(500, {}, b"down")] * 20
    enqueue_for(channel, MESSAGE)
    for _ in range(queue.MOST_ATTEMPTS // 2):
        assert claim() is not None
        worker_dies()
        assert send_due() == 1
        due_again()
    delivery = Delivery.objects.get()
    assert (delivery.state, len(delivery.attempts)) == ("failed", queue.MOST_ATTEMPTS)
    assert len(receiver.requests) == queue.MOST_ATTEMPTS // 2


def test_a_workspace_gets_one_message_at_a_time_and_holds_up_no_other(channel, receiver):
    other = add_channel(
        make_tenant("other").workspace,
        author=None,
        kind="slack",
        name="chat",
        address=receiver.url,
    )
    for _ in range(2):
        enqueue_for(channel, MESSAGE)
    assert claim().channel == channel
    assert claim() is None
    enqueue_for(other, MESSAGE)
    assert claim().channel == other


def hooks_of(owner, count):
    """A channel in each of so many workspaces of the owner."""
    hooks = []
    for number in range(count):
        workspace = make_tenant(f"{owner.username}-{number}").workspace
        Membership.objects.filter(workspace=workspace).update(user=owner)
        address = "https://silent.example/"
        hooks.append(
            add_channel(workspace, author=None, kind="webhook", name="hook", address=address)
        )
    return hooks


def test_a_person_gets_one_message_at_a_time_in_whatever_workspaces(channel):
    for each in hooks_of(make_tenant("maker").user, 2):
        enqueue_for(each, MESSAGE)
    assert claim() is not None
    assert claim() is None
    enqueue_for(channel, MESSAGE)
    assert claim().channel == channel


@pytest.mark.django_db
def test_whose_receivers_are_slow_waits_for_all_others(monkeypatch):
    """Each of 20 workspaces of one person has messages for a receiver that answers nothing."""
    clock = iter(range(0, 10_000, 10))
    monkeypatch.setattr(queue.time, "monotonic", lambda: next(clock))
    sent = []

    def send(delivery):
        sent.append(delivery.channel)
        raise queue.NotSent("silent")

    monkeypatch.setattr(queue, "send", send)
    many = hooks_of(make_tenant("many").user, 20)
    (one,) = hooks_of(make_tenant("one").user, 1)
    for channel in [*many, one]:
        for _ in range(3):
            enqueue_for(channel, MESSAGE)
    for _ in range(4):
        assert send_next()
    # Each waits 100 s after an attempt of 10 s: they take turns, whoever has more to send.
    assert sent.count(one) == 2


def test_a_fault_of_ours_stops_no_other_message(channel, receiver, monkeypatch, caplog):
    def fault(_):
        raise RuntimeError("unforeseen")

    monkeypatch.setattr(queue, "send", fault)
    enqueue_for(channel, MESSAGE)
    assert send_due() == 1
    assert "RuntimeError" in Delivery.objects.get().last_reason


def test_a_deleted_workspace_sends_nothing(channel, tenant, receiver):
    enqueue_for(channel, MESSAGE)
    tenant.workspace.deleted_at = timezone.now()
    tenant.workspace.save()
    assert send_due() == 0
    assert receiver.requests == []


def test_only_channels_of_the_topic_get_a_message(channel, tenant):
    assert enqueue(tenant.workspace, queue.Topic.RUNS, MESSAGE) == 0
    assert enqueue(tenant.workspace, queue.Topic.ALERTS, MESSAGE) == 1


def test_slack_gets_names_as_text(channel, tenant, receiver):
    chat = add_channel(
        tenant.workspace, author=None, kind="slack", name="chat", address=receiver.url
    )
    enqueue_for(chat, MESSAGE)
    send_due()
    text = json.loads(receiver.requests[0][1])["text"]
    assert text == "*<http://127.0.0.1:8000/x|New &lt;alert&gt;>*\np99 &amp; more"
    enqueue_for(chat, Message("test", "@channel <!here> *x*", "", "http://127.0.0.1:8000/x"))
    send_due()
    text = json.loads(receiver.requests[1][1])["text"]
    assert "@channel" not in text
    assert "<!here>" not in text


@pytest.fixture
def mailbox(tenant, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    tenant.user.email = "ada@example.org"
    tenant.user.save()
    return add_channel(
        tenant.workspace, author=tenant.user, kind="mail", name="me", address="Ada@example.org"
    )


def test_a_mail_goes_to_a_member(mailbox):
    send_test(mailbox)
    assert send_due() == 1
    (sent,) = mail.outbox
    assert sent.to == ["Ada@example.org"]
    assert "http://" in sent.body


def test_no_mail_goes_to_who_is_no_member_any_more(mailbox, tenant):
    send_test(mailbox)
    Membership.objects.all().delete()
    send_due()
    assert mail.outbox == []
    assert Delivery.objects.get().state == "failed"


def test_a_mail_goes_to_a_confirmed_address_only_where_a_mail_server_is_set(
    mailbox, tenant, settings
):
    settings.SENDS_MAIL = True
    typed = EmailAddress.objects.create(user=tenant.user, email="ada@example.org", primary=True)
    send_test(mailbox)
    send_due()
    assert mail.outbox == []
    assert "not a confirmed address" in Delivery.objects.get().attempts[0]["reason"]
    typed.verified = True
    typed.save()
    send_test(mailbox)
    send_due()
    assert len(mail.outbox) == 1


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"kind": "mail", "address": "stranger@example.org"}, "address of a member"),
        ({"kind": "mail", "address": "a\0@example.org"}, "address of a member"),
        ({"kind": "fax", "address": "1"}, "expected mail, webhook, slack"),
        ({"kind": "webhook", "address": "http://hooks.example/"}, "https://"),
        ({"kind": "webhook", "address": "https://user:pw@hooks.example/"}, "without user name"),
        ({"kind": "webhook", "address": "https:///nohost"}, "expected an https://"),
        ({"kind": "webhook", "address": "https://hooks.example/ x"}, "expected an https://"),
        ({"kind": "webhook", "address": "https://h.example/", "name": " "}, "name"),
        ({"kind": "webhook", "address": "https://h.example/", "topics": ["news"]}, "topics"),
    ],
)
def test_a_bad_channel_is_refused_with_what_is_expected(tenant, settings, asked, says):
    settings.WEBHOOKS = "public"
    with pytest.raises(BadChannel, match=says):
        add_channel(tenant.workspace, author=None, **{"name": "a", **asked})


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_members_see_whether_messages_are_encrypted(scheme):
    channel = Channel(kind="webhook", address=f"{scheme}://hooks.example/secret")
    assert channel.shown_address == f"{scheme}://hooks.example/…"


def test_names_are_unique_and_channels_few(channel, tenant, receiver, monkeypatch):
    with pytest.raises(ChannelRefused, match="another name"):
        add_channel(tenant.workspace, author=None, kind="slack", name="hook", address=receiver.url)
    monkeypatch.setattr("backend.deliveries.channels.MAX_CHANNELS", 1)
    with pytest.raises(ChannelRefused, match="Delete one first"):
        add_channel(tenant.workspace, author=None, kind="slack", name="b", address=receiver.url)


def test_the_log_is_kept_for_30_days(channel):
    enqueue_for(channel, MESSAGE)
    send_due()
    assert forget_old() == 0
    Delivery.objects.update(ended_at=timezone.now() - timedelta(days=31))
    assert forget_old() == 1


def test_a_channel_that_takes_nothing_fills_no_disk(channel, monkeypatch, caplog):
    monkeypatch.setattr(queue, "MOST_WAITING", 3)
    added = [enqueue_for(channel, MESSAGE) for _ in range(5)]
    assert (Delivery.objects.count(), added[3:]) == (3, [None, None])
    assert "channel_is_full" in caplog.text


def test_tests_are_few(channel, monkeypatch):
    monkeypatch.setattr("backend.deliveries.channels.TESTS_PER_HOUR", 2)
    for _ in range(2):
        send_test(channel)
    with pytest.raises(TooMany):
        send_test(channel)
