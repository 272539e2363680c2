import contextlib
import os
import resource
import sys
import time

import psutil
import pytest

from backend.untrusted.sandbox import sandbox
from backend.untrusted.sandbox.parser_failures import ParserFailed
from backend.untrusted.sandbox.sandbox import LocalArtefact, Sandbox

pytestmark = pytest.mark.processes

PLANTED = [sys.executable, "-m", "backend.untrusted.tests.planted_child"]


@pytest.fixture
def planted(settings, monkeypatch):
    settings.PARSE_CPU_S = 1
    # On a busy machine a second of CPU time may take many of the clock's.
    monkeypatch.setattr(sandbox, "GRACE_S", 60)
    box = Sandbox(PLANTED)
    yield box
    box.close()


@pytest.fixture
def ask(planted, tmp_path):
    def ask(order, **options):
        path = tmp_path / "artefact"
        path.write_text(order)
        return planted.read([LocalArtefact("artefact", path)], tool="", **options)

    return ask


def is_group_alive(group):
    """Whether a process of it runs; a zombie has ended."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                return True
    return False


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ("ALLOCATE", "memory"),
        ("SEGFAULT", "SIGSEGV"),
        ("SPIN", "CPU time"),
        ("EXIT", "status 7"),
        ("FORK", "SIGSEGV"),
        ("FLOOD", "too large"),
    ],
)
def test_a_misbehaving_parser_fails_with_its_reason_and_the_next_request_works(ask, order, reason):
    with pytest.raises(ParserFailed, match=reason):
        ask(order)
    assert ask("FINE")["entries"] == []


def test_what_a_parser_started_ends_with_it(ask, planted):
    ask("FINE")
    group = planted.child.pid
    with pytest.raises(ParserFailed, match="SIGSEGV"):
        ask("FORK")
    deadline = time.monotonic() + 60
    while is_group_alive(group) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_group_alive(group)


def test_a_stray_print_does_not_disturb_the_answer(ask):
    assert ask("PRINT")["entries"] == []
    assert ask("FINE")["entries"] == []


@pytest.fixture
def many_open_files():
    """More than `select` can tell apart."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 1500
    if limits[1] < wanted:
        pytest.skip(f"a process may open {limits[1]} files here, {wanted} are needed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], wanted), limits[1]))
    with contextlib.ExitStack() as opened:
        for _ in range(1100):
            opened.enter_context(open(os.devnull))
        yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.usefixtures("many_open_files")
def test_a_child_of_a_process_with_many_open_files_answers(ask):
    assert ask("FINE")["entries"] == []


def test_the_child_sees_no_secret_of_the_service(planted, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret")
    child = planted._running_child()
    with open(f"/proc/{child.pid}/environ", "rb") as environ:
        assert b"secret" not in environ.read()


def test_while_the_child_works_the_parent_is_asked_again_and_again(ask, monkeypatch):
    monkeypatch.setattr(sandbox, "MEANWHILE_S", 0.05)
    calls = []
    with pytest.raises(ParserFailed):
        ask("SPIN", meanwhile=lambda: calls.append(1))
    assert len(calls) >= 2


def test_the_spare_takes_the_place_of_a_child_that_is_stopped(planted, ask):
    assert ask("FINE")["entries"] == []
    planted.start_spare()
    spare = planted.spare
    with pytest.raises(ParserFailed):
        ask("EXIT")
    assert ask("FINE")["entries"] == []
    assert (planted.child, planted.spare) == (spare, None)


def test_a_spare_that_ended_is_not_used(planted, ask):
    planted.start_spare()
    planted.spare.kill()
    planted.spare.wait()
    assert ask("FINE")["entries"] == []


def test_no_spare_is_kept_beside_a_child_that_goes_on(planted, ask):
    planted.start_spare()
    spare = planted.spare
    planted.drop_spare()
    assert planted.spare is spare, "it is the next child"
    assert ask("FINE")["entries"] == []
    planted.start_spare()
    spare = planted.spare
    planted.drop_spare()
    assert (planted.spare, spare.poll() is not None) == (None, True)
