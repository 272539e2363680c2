import pytest

from backend.accounts import throttle, upload_counts


@pytest.fixture
def counted(monkeypatch):
    """How many uploads are counted at a time; at most `allowed` in all."""
    counts, allowed = [], [1_000_000]

    def seconds_until_upload(sender, *, count=1):
        if sum(counts) + count > allowed[0]:
            return 7
        counts.append(count)
        return 0

    monkeypatch.setattr(throttle, "seconds_until_upload", seconds_until_upload)
    monkeypatch.setattr(upload_counts, "_blocks", {})
    return counts, allowed


def test_a_busy_sender_is_counted_in_growing_blocks(counted):
    counts, _ = counted
    assert all(upload_counts.may_upload("rig") for _ in range(100))
    assert counts == [1, 2, 4, 8, 16, 32, 32, 32]


def test_a_sender_that_pauses_is_counted_one_by_one(counted, monkeypatch):
    counts, _ = counted
    monkeypatch.setattr(upload_counts, "BLOCK_S", -1.0)
    assert all(upload_counts.may_upload("rig") for _ in range(3))
    assert counts == [1, 1, 1]


def test_a_low_limit_is_counted_exactly(counted, settings):
    settings.UPLOADS_PER_MINUTE = 5
    counts, allowed = counted
    allowed[0] = 5
    assert [upload_counts.may_upload("rig") for _ in range(7)] == [True] * 5 + [False] * 2
    assert counts == [1] * 5


def test_near_the_limit_the_last_uploads_still_go_through(counted):
    counts, allowed = counted
    allowed[0] = 20
    assert [upload_counts.may_upload("rig") for _ in range(22)] == [True] * 20 + [False] * 2
    assert sum(counts) == 20


def test_senders_are_counted_apart(counted):
    counts, _ = counted
    assert upload_counts.may_upload("one")
    assert upload_counts.may_upload("other")
    assert counts == [1, 1]
