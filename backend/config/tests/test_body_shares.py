"""Whom a web process refuses when large bodies take its room, and in which shape."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from django.test import Client

from backend.config import asgi, body_shares
from backend.config.bodies import REFUSAL_KEY
from backend.config.body_shares import (
    ANSWER_MEMORY_BYTES,
    answer_kept,
    refuse_reader,
    share_of,
)
from backend.ingest.body_refusals import (
    BadAddress,
    BodyTooLarge,
    BodyTooSlow,
    TooManyBodies,
)
from backend.ingest.limits import (
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
    429: TooManyBodies("Too many at the same time."),
}


@pytest.fixture(autouse=True)
def _room(settings):
    settings.BODIES_MAX_BYTES = 1_000
    yield
    assert not body_shares._bodies
    assert not body_shares._sizes
    assert not body_shares._answers


@pytest.fixture
def stack():
    with ExitStack() as stack:
        yield stack


def test_the_network_with_most_answers_that_wait_gets_no_more_and_others_do(stack, settings):
    settings.BODIES_MAX_BYTES = 3 * ANSWER_MEMORY_BYTES
    slow, other = {"REMOTE_ADDR": "192.0.2.1"}, {"REMOTE_ADDR": "192.0.2.2"}
    stack.enter_context(answer_kept(other, ANSWER_MEMORY_BYTES + 1))
    refuse_reader(slow)
    stack.enter_context(answer_kept(slow, 2 * ANSWER_MEMORY_BYTES))
    with pytest.raises(TooManyBodies, match="are for your network"):
        refuse_reader(slow)
    refuse_reader(other)


def test_answers_that_fit_into_memory_are_not_counted(stack):
    stack.enter_context(answer_kept({"REMOTE_ADDR": "192.0.2.1"}, ANSWER_MEMORY_BYTES))
    assert not body_shares._answers


def test_a_sender_has_a_share_and_others_have_theirs(stack):
    for _ in range(LARGE_BODIES):
        stack.enter_context(share_of("token 1", "lab"))
    with pytest.raises(TooManyBodies, match=f"{LARGE_BODIES} large requests of this token"):
        stack.enter_context(share_of("token 1", "lab"))
    stack.enter_context(share_of("token 2", "lab"))
    stack.enter_context(share_of("token 3", "other"))


def test_tokens_of_one_workspace_have_a_share_together(stack):
    for number in range(LARGE_BODIES_TOGETHER):
        stack.enter_context(share_of(f"token {number}", "lab"))
    with pytest.raises(TooManyBodies, match=f"{LARGE_BODIES_TOGETHER} large requests of your"):
        stack.enter_context(share_of("token", "lab"))
    stack.enter_context(share_of("token of others", "other"))


def test_a_user_who_pays_alone_has_the_share_of_one_sender(stack):
    for _ in range(LARGE_BODIES):
        stack.enter_context(share_of("user 1", "user 1"))
    with pytest.raises(TooManyBodies):
        stack.enter_context(share_of("user 1", "user 1"))


def test_announced_bytes_take_no_room_and_who_holds_most_is_refused(stack):
    first, second = (stack.enter_context(share_of(f"token {n}", "lab")) for n in (1, 2))
    small = stack.enter_context(share_of("token 3", "other"))
    first.add(450)
    second.add(450)
    small.add(99)
    # The workspace holds most, by two tokens. A body of another one beyond the room goes on.
    small.add(400)
    with pytest.raises(TooManyBodies, match="no room"):
        first.add(1)


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
    # A browser of an earlier test leaves a loop running in this thread.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, asgi._read(body, receive, limit, None)).result()
    return body.tell()


def test_a_body_that_does_not_get_on_is_given_up(monkeypatch):
    seconds = SLOW_AFTER_S + 1
    enough = b"x" * (LEAST_BYTES_PER_S * seconds)
    assert read([enough] * 3, largest_request(), seconds=seconds, monkeypatch=monkeypatch)
    with pytest.raises(BodyTooSlow):
        read([enough[1:]] * 3, largest_request(), seconds=seconds, monkeypatch=monkeypatch)


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
