"""What plans, load tools and services say stays text on the terminal of whoever runs the agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadsheet_agent.commands.output import put, put_json, say
from loadsheet_agent.plan.expansion import expand
from loadsheet_agent.plan.reading import parse_plan
from loadsheet_agent.run.progress import LiveProgress, Progress
from loadsheet_agent.run.timings import Timings
from loadsheet_agent.tools.base import Glance

HOSTILE = "a\x1b[2J\x9b\u202eb\r\x07"
SHOWN = "a\ufffd[2J\ufffd\ufffdb\ufffd\ufffd"


def test_what_is_said_moves_no_cursor(capsys: pytest.CaptureFixture[str]):
    say(f"{HOSTILE}\n\tc")
    put(HOSTILE)
    put_json({"name": "\x9b"})
    told = capsys.readouterr()
    assert told.err == f"{SHOWN}\n\tc\n"
    assert told.out == f'{SHOWN}\n{{"name": "\x9b"}}\n'


@pytest.mark.parametrize("kind", [LiveProgress, Progress])
def test_progress_shows_an_error_as_it_is(kind: type, capsys: pytest.CaptureFixture[str]):
    server = 'name = "[/red]"\nurl = "http://127.0.0.1:{port}"\nstart = ["x"]\n'
    load = "[load]\nconnections = [1]\nrequests = 5\n"
    text = f'{load}[[servers]]\n{server}[[workloads]]\nname = "w"\n'
    plan = parse_plan(text, name="plan", directory=Path.cwd(), environ={})
    (step, *_) = steps = expand(plan)
    progress: Progress = kind(steps, Timings(plan))
    with progress:
        progress.begin(step)
        progress.end(step, "it said [/x]\x1b", Glance())
        progress.note("decided [/y]\x1b")
    shown = capsys.readouterr().err
    assert "[/red]" in shown
    assert "it said [/x]\ufffd" in shown
    assert "decided [/y]\ufffd" in shown
