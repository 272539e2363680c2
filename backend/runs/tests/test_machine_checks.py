"""The checks of machines report other programs, development servers and too few ports."""

from dataclasses import replace

import pytest

from backend.runs.checks import check_trial
from backend.runs.tests.sound_trial import SOUND, fired


@pytest.mark.parametrize(
    ("known", "share"),
    [
        ({}, "55 %"),
        ({"client_steal": 0.25}, "30 %"),
        # Interrupts are not recorded: up to 30 % may be theirs.
        ({"client_irq": None}, "35 %"),
        # The server is on the host of the load tool.
        ({"same_host": True, "server_cpu_s": 8.0}, "35 %"),
        ({"same_host": True, "server_cpu_s": None}, None),
        ({"services_cpu_s": 8.0}, "35 %"),
        ({"services_cpu_s": None}, None),
        ({"same_host": None}, None),
        ({"client_cpu_s": None}, None),
        ({"watched_s": None}, None),
    ],
)
def test_the_work_of_other_programs_is_what_load_tool_and_server_leave(known, share):
    busy = {
        "client_core_shares": (0.8, 0.8, 0.8, 0.8),
        "client_irq": 0.1,
        "watched_s": 10.0,
        "client_cpu_s": 6.0,
        "services_cpu_s": 0.0,
    }
    findings = {
        finding.id: finding.detail for finding in check_trial(replace(SOUND, **(busy | known)))
    }
    if share is None:
        assert "other-programs" not in findings
    else:
        assert f" used {share} of the processor time" in findings["other-programs"]


@pytest.mark.parametrize(
    "text",
    [
        "1.4.2-debug",
        "CMAKE flags: -O0 -g",
        "./target/debug/server",
        "environment=development NODE_ENV=development",
        "DEBUG=True",
        "command=uvicorn app:app --reload",
        "server: Werkzeug/2.3",
    ],
)
def test_a_server_for_development_is_recognised(text):
    assert "development-mode" in fired(replace(SOUND, server_texts=(text,)))


def test_the_header_of_the_answers_names_a_server_for_development():
    details = {
        finding.id: finding.detail
        for finding in check_trial(replace(SOUND, server_software="Werkzeug/3.1.9 Python/3.11"))
    }
    assert (
        details["development-mode"]
        == "The responses have the header Server: Werkzeug/3.1.9 Python/3.11."
    )
    assert "development-mode" not in fired(replace(SOUND, server_software="gunicorn/19.6.0"))


def test_ports_are_counted_against_the_hosts_own_range():
    short = replace(SOUND, keepalive=False, elapsed_s=3.0, local_ports=(50_000, 60_000))
    assert "ephemeral-ports" in fired(short)


def test_a_published_rate_without_a_time_takes_a_port_for_each_request():
    published = replace(SOUND, publication="A table", keepalive=False, elapsed_s=None)
    assert "ephemeral-ports" in fired(replace(published, requests_completed=40_000))
    assert "ephemeral-ports" not in fired(replace(published, requests_completed=20_000))
    assert "ephemeral-ports" not in fired(replace(published, requests_completed=None))
