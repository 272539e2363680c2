"""Whom a web process refuses when large bodies take its room."""

import pytest

from backend.config import body_shares
from backend.config.bodies import Refusal
from backend.config.body_shares import share_of
from backend.ingest.limits import LARGE_BODIES, LEAST_BYTES_PER_S, SLOW_AFTER_S


@pytest.fixture(autouse=True)
def _room(settings):
    settings.BODIES_MAX_BYTES = 1_000


def test_a_sender_has_a_share_and_others_have_theirs():
    with share_of(b"token", b"lab") as first:
        shares = [share_of(b"token", b"lab") for _ in range(LARGE_BODIES)]
        for share in shares[:-1]:
            share.__enter__()
        assert first.refusal_after(0) is None
        with shares[-1] as beyond, share_of(b"other", b"other") as another:
            assert beyond.refusal_after(0) == Refusal.SHARE
            assert another.refusal_after(0) is None
        for share in shares[:-1]:
            share.__exit__(None, None, None)
    assert not body_shares._bodies
    assert not body_shares._sizes


def test_announced_bytes_take_no_room_and_who_holds_most_is_refused():
    with share_of(b"a", b"lab") as large, share_of(b"b", b"other") as small:
        large.add(900)
        small.add(99)
        assert (large.refusal_after(0), small.refusal_after(0)) == (None, None)
        small.add(2)
        assert (large.refusal_after(0), small.refusal_after(0)) == (Refusal.SHARE, None)
    assert not body_shares._sizes


def test_a_body_that_does_not_get_on_is_given_up():
    with share_of() as share:
        assert share.refusal_after(SLOW_AFTER_S) is None
        assert share.refusal_after(SLOW_AFTER_S + 1) == Refusal.SLOW
        share.add(LEAST_BYTES_PER_S * (SLOW_AFTER_S + 1))
        assert share.refusal_after(SLOW_AFTER_S + 1) is not None
        body_shares.settings.BODIES_MAX_BYTES = 1 << 20
        assert share.refusal_after(SLOW_AFTER_S + 1) is None
