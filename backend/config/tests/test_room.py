"""Whom a web process refuses when bodies and answers take its room, and in which shape."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from django.test import Client

from backend.config.serving import asgi, room
from backend.config.serving.bodies import REFUSAL_KEY
from backend.config.serving.room import ANSWERS, BODIES, MEMORY_BYTES, share_of
from backend.untrusted.body_refusals import (
    BadAddress,
    BodyTooLarge,
    BodyTooSlow,
    NoRoom,
)
from backend.untrusted.limits import (
    ANONYMOUS_BYTES,
    LARGE_BODIES,
    LARGE_BODIES_TOGETHER,
    LEAST_BYTES_PER_S,
    SLOW_AFTER_S,
    largest_request,
)

REFUSALS = {
    400: BadAddress(),
    408: BodyTooSlow(),
    413: BodyTooLarge(ANONYMOUS_BYTES),
    429: NoRoom("Too many at the same time."),
}


@pytest.fixture(autouse=True)
def _room(settings):
    settings.BODIES_MAX_BYTES = 1_000
    yield
    assert not room._on_their_way
    for each in (BODIES, ANSWERS):
        assert not each.sizes
        assert not each.holds


@pytest.fixture
def stack():
    with ExitStack() as stack:
        yield stack


def test_an_answer_takes_room_while_it_is_written_and_is_refused_where_there_is_none(
    stack, settings
):
    settings.BODIES_MAX_BYTES = 3 * MEMORY_BYTES
    answer = asgi.Answer(stack.enter_context(ANSWERS.hold("192.0.2.1")))
    stack.callback(answer.close)
    answer.write(b"x" * MEMORY_BYTES)
    assert not ANSWERS.sizes
    answer.write(b"x")
    assert ANSWERS.sizes == {"192.0.2.1": MEMORY_BYTES + 1}
    with pytest.raises(NoRoom, match="all the room"):
        answer.write(b"x" * 2 * MEMORY_BYTES)
    assert not ANSWERS.sizes


def test_who_has_most_and_waits_for_a_silent_client_is_ended_for_others(stack):
    """The client with most does nothing more: the others would fill the disk beside it."""
    ended = []

    async def wait(held, size):
        held.add(size)
        try:
            async with held.waits():
                await asyncio.sleep(60)
        except NoRoom as refusal:
            ended.append((held.payer, size, str(refusal)))

    async def act():
        holds = [
            stack.enter_context(ANSWERS.hold(payer)) for payer in ("slow", "slow", "other", "new")
        ]
        tasks = [
            asyncio.create_task(wait(held, size))
            for held, size in zip(holds, (200, 400, 300), strict=False)
        ]
        await asyncio.sleep(0)
        holds[-1].add(150)
        await asyncio.sleep(0.01)
        assert [(payer, size) for payer, size, _ in ended] == [("slow", 400)]
        assert ANSWERS.sizes == {"slow": 200, "other": 300, "new": 150}
        # What is not ended goes on, and who went away is no refusal.
        tasks[0].cancel()
        await asyncio.wait(tasks, timeout=0.01)
        assert tasks[0].cancelled()
        assert not tasks[2].done()
        tasks[2].cancel()

    in_a_loop(act())


def test_a_body_that_ends_as_it_is_ended_for_others_is_refused(stack):
    async def act():
        held = stack.enter_context(ANSWERS.hold("slow"))
        held.add(900)
        with pytest.raises(NoRoom):
            async with held.waits():
                stack.enter_context(ANSWERS.hold("other")).add(200)
        # The end was for the wait alone.
        await asyncio.sleep(0.01)

    in_a_loop(act())


def test_a_body_that_fails_as_it_is_ended_for_others_is_answered(stack):
    """Both at once: what follows, which sends the answer, is not cancelled."""

    async def act():
        held = stack.enter_context(ANSWERS.hold("slow"))
        held.add(900)

        async def fail():
            async with held.waits():
                stack.enter_context(ANSWERS.hold("other")).add(200)
                raise BodyTooSlow

        with pytest.raises(BodyTooSlow):
            await fail()
        await asyncio.sleep(0.01)

    in_a_loop(act())


def test_a_sender_has_a_share_and_others_have_theirs(stack):
    for _ in range(LARGE_BODIES):
        stack.enter_context(share_of("token 1", "lab", "ann"))
    with pytest.raises(NoRoom, match=f"This token or user sends {LARGE_BODIES} large"):
        stack.enter_context(share_of("token 1", "lab", "ann"))
    stack.enter_context(share_of("token 2", "lab", "ann"))
    stack.enter_context(share_of("token 3", "other", "bob"))


def test_tokens_of_one_workspace_have_a_share_together(stack):
    for number in range(LARGE_BODIES_TOGETHER):
        stack.enter_context(share_of(f"token {number}", "lab", "ann"))
    with pytest.raises(NoRoom, match=f"Your workspace sends {LARGE_BODIES_TOGETHER} large"):
        stack.enter_context(share_of("token", "lab", "ann"))
    stack.enter_context(share_of("token of others", "other", "bob"))


def test_a_user_who_pays_alone_has_the_share_of_one_sender(stack):
    for _ in range(LARGE_BODIES):
        stack.enter_context(share_of("user 1", "user 1", "user 1"))
    with pytest.raises(NoRoom):
        stack.enter_context(share_of("user 1", "user 1", "user 1"))


def test_announced_bytes_take_no_room_and_who_holds_most_is_refused(stack):
    # A person may have many workspaces.
    first, second = (
        stack.enter_context(share_of(f"token {number}", f"lab {number}", "ann"))
        for number in (1, 2)
    )
    small = stack.enter_context(share_of("token 3", "other", "bob"))
    first.add(450)
    second.add(450)
    small.add(99)
    # One person holds most, by two tokens, which threads work on. Another one goes on.
    small.add(400)
    with pytest.raises(NoRoom, match="all the room"):
        first.add(1)


def in_a_loop(act):
    """A browser of an earlier test leaves a loop running in this thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, act).result()


def test_answers_to_strangers_take_nothing_of_the_room_of_bodies(stack):
    stack.enter_context(ANSWERS.hold("192.0.2.1")).add(1_000)
    stack.enter_context(share_of("token 1", "lab", "ann")).add(1_000)


def read(blocks, limit, *, seconds=0.0, monkeypatch=None):
    """Read a body of these blocks, each after so many seconds."""
    clock, sent = iter(range(1000)), iter(blocks)
    if monkeypatch:
        monkeypatch.setattr(asgi.time, "monotonic", lambda: seconds * next(clock))
    left = len(blocks)

    async def receive():
        nonlocal left
        left -= 1
        return {"type": "http.request", "body": next(sent), "more_body": left > 0}

    body = asgi.SpooledTemporaryFile()
    in_a_loop(asgi._read(body, receive, limit, None))
    return body.tell()


def test_a_body_that_does_not_get_on_is_given_up(monkeypatch):
    seconds = SLOW_AFTER_S + 1
    enough = b"x" * (LEAST_BYTES_PER_S * seconds)
    assert read([enough] * 3, largest_request(), seconds=seconds, monkeypatch=monkeypatch)
    # What came fast before does not count for what follows.
    for blocks in ([enough[1:]] * 3, [enough * 100, b"x", b"x"]):
        with pytest.raises(BodyTooSlow):
            read(blocks, largest_request(), seconds=seconds, monkeypatch=monkeypatch)


def test_a_body_is_read_up_to_its_limit():
    assert read([b"x" * 500, b"x" * 500], 1000) == 1000
    with pytest.raises(BodyTooLarge):
        read([b"x" * 500, b"x" * 501], 1000)


@pytest.mark.django_db
@pytest.mark.parametrize("status", REFUSALS)
def test_a_refusal_has_the_shape_of_others(status):
    refusal = {REFUSAL_KEY: REFUSALS[status]}
    answer, page = (Client().get(path, **refusal) for path in ("/api/v1/me", "/"))

    assert answer.status_code == page.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["detail"] == str(REFUSALS[status])
    assert str(REFUSALS[status]) in page.content.decode()
    if status == 429:
        assert answer["Retry-After"] == page["Retry-After"] == "10"
        assert "Try again in 10 seconds." in page.content.decode()
