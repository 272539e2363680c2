import threading
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from backend.accounts.models import Token
from backend.fleet import sessions
from backend.fleet.heartbeats import Heartbeat, record_heartbeat
from backend.fleet.models import Session, SessionMember
from backend.fleet.sessions import ABSENT, KEPT, LEAD, JoinRefused, JoinRequest, join_session
from backend.testing.uploads import make_tenant

RUNS = [uuid.UUID(int=number) for number in range(1, 9)]


@pytest.fixture
def token(db):
    return Token.objects.get(workspace=make_tenant("lab").workspace)


def join_request(number, step=None, **more):
    fields = {"name": "big", "parts": 2, "plan_sha256": "a" * 64, "seed": 40 + number}
    return JoinRequest(
        run=RUNS[number], host_name=f"client-{number}", step=step, **{**fields, **more}
    )


def test_a_trial_begins_once_all_are_ready_and_for_all_at_one_moment(token):
    first = join_session(token, join_request(0, 0))
    assert (first.seats, first.starts_at) == (1, None)
    before = timezone.now()
    last = join_session(token, join_request(1, 0))
    assert last.seats == 2
    assert before + LEAD <= last.starts_at <= timezone.now() + LEAD
    assert join_session(token, join_request(0, 0)).starts_at == last.starts_at


def test_the_next_trial_waits_for_all_again(token):
    for step in range(3):
        assert join_session(token, join_request(0, step)).starts_at is None
        assert join_session(token, join_request(1, step)).starts_at is not None
    assert Session.objects.get().step == 2


def test_of_ever_new_sessions_the_last_are_kept(token, monkeypatch):
    """A token may make 60,000 of them a minute, and none was ever deleted."""
    monkeypatch.setattr(sessions, "MOST_SESSIONS", 2)
    for number, name in enumerate("abcd"):
        join_session(token, join_request(number, name=name))
    join_session(token, join_request(2, name="c"))
    assert set(Session.objects.values_list("name", flat=True)) == {"c", "d"}
    assert set(SessionMember.objects.values_list("run", flat=True)) == set(RUNS[2:4])


@pytest.mark.parametrize(
    ("heard", "is_kept"), [({}, True), ({"state": "finished"}, False), ({"silent_s": -60.0}, False)]
)
def test_a_session_whose_run_goes_on_is_kept(token, monkeypatch, heard, is_kept):
    monkeypatch.setattr(sessions, "MOST_SESSIONS", 1)
    join_session(token, join_request(0))
    heartbeat = Heartbeat(**{"run": RUNS[0], "state": "running", "trials_done": 0, **heard})
    record_heartbeat(token, host_name="client-0", program="agent", version="1", heartbeat=heartbeat)
    for number, name in enumerate("ab", start=1):
        join_session(token, join_request(number, name=name))
    names = set(Session.objects.values_list("name", flat=True))
    assert names == ({"big", "b"} if is_kept else {"b"})


def test_a_session_of_long_ago_is_forgotten(token):
    join_session(token, join_request(0, name="old"))
    Session.objects.update(created_at=timezone.now() - KEPT - timedelta(minutes=1))
    join_session(token, join_request(1, name="new"))
    assert [session.name for session in Session.objects.all()] == ["new"]


def test_the_first_one_orders_the_trials(token):
    assert (
        join_session(token, join_request(0)).seed == join_session(token, join_request(1)).seed == 40
    )


def test_who_is_not_heard_any_more_is_not_ready(token):
    join_session(token, join_request(0, 0))
    SessionMember.objects.update(heard_at=timezone.now() - ABSENT - timedelta(seconds=1))
    assert join_session(token, join_request(1, 0)).starts_at is None
    assert join_session(token, join_request(0, 0)).starts_at is not None


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"plan_sha256": "b" * 64}, "another plan"),
        ({"parts": 3}, "takes 2 agents; this agent expects 3"),
        ({}, "All 2 agents of this session have joined"),
    ],
)
def test_who_does_not_belong_has_no_place(token, more, said):
    join_session(token, join_request(0))
    join_session(token, join_request(1))
    with pytest.raises(JoinRefused, match=said):
        join_session(token, join_request(2, **more))
    assert SessionMember.objects.count() == 2


def test_sessions_of_other_workspaces_are_other_sessions(token):
    join_session(token, join_request(0, 0))
    other = Token.objects.get(workspace=make_tenant("other").workspace)
    assert join_session(other, join_request(1, 0, plan_sha256="c" * 64)).starts_at is None
    with pytest.raises(JoinRefused, match="in another session"):
        join_session(other, join_request(0, 0, plan_sha256="c" * 64))


@pytest.mark.django_db(transaction=True)
def test_of_agents_that_come_at_once_none_begins_alone():
    token = Token.objects.get(workspace=make_tenant("lab").workspace)
    found, together = [], threading.Barrier(8)

    def come(number):
        together.wait()
        try:
            for _ in range(100):
                answer = join_session(token, join_request(number, 0, parts=8))
                if answer.starts_at is not None:
                    found.append(answer.starts_at)
                    return
        finally:
            connection.close()

    threads = [threading.Thread(target=come, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
