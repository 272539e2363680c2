"""`loadsheet check --baseline SIDE REQUIREMENT...`: fail a build that got slower."""

from __future__ import annotations

import subprocess
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loadsheet_agent.commands.check_report import as_junit, as_markdown, as_text
from loadsheet_agent.commands.output import put, put_json, say
from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.upload.gate import Question, ask_verdict
from loadsheet_agent.upload.target import Target, require_target

EXITS = {
    "improved": Exit.OK,
    "unchanged": Exit.OK,
    "regressed": Exit.REGRESSED,
    "too_noisy": Exit.TOO_NOISY,
    "not_comparable": Exit.NOT_COMPARABLE,
}
NARROWING = ("server", "workload", "tool", "host", "connections", "rate")


def run(arguments: Namespace) -> Exit:
    target = require_target(arguments.url, arguments.token)
    _check_arguments(arguments)
    answer = _judge(arguments, target)
    allowed = frozenset(name.replace("-", "_") for name in arguments.allow)
    code = Exit.OK if answer["verdict"] in allowed else EXITS[answer["verdict"]]
    _write(arguments.markdown, as_markdown(answer, target.url, allowed))
    _write(arguments.junit, as_junit(answer, allowed))
    _report(answer, target.url, code, as_json=arguments.json)
    return code


def _check_arguments(arguments: Namespace) -> None:
    """Raises UsageError for flags that contradict each other."""
    if arguments.measure is None:
        return
    if arguments.run:
        raise UsageError(
            "runs that --measure adds do not count with --run. Give --candidate label=KEY:VALUE "
            "instead, with a label that --measure gives its runs."
        )
    if arguments.most_runs < 2:
        raise UsageError("--measure adds runs to the first: give --most-runs 2 or more.")


def _judge(arguments: Namespace, target: Target) -> Mapping[str, Any]:
    """The answer of the service; with --measure, the first with a verdict, or the last."""
    question = _question(arguments)
    answer = ask_verdict(target, question, max_wait_s=arguments.max_wait, say=say)
    more = range(2, arguments.most_runs + 1) if arguments.measure is not None else ()
    for number in more:
        if answer["verdict"] != "too_noisy":
            break
        say(f"{answer['finding']} Measuring run {number} of at most {arguments.most_runs}.")
        if not _is_measured(arguments.measure):
            break
        answer = ask_verdict(target, question, max_wait_s=arguments.max_wait, say=say)
    return answer


def _question(arguments: Namespace) -> Question:
    """The query of the gate. Raises UsageError."""
    values = {
        "candidate": _candidates(arguments),
        "baseline": [arguments.baseline],
        "require": arguments.requirements,
        **{name: getattr(arguments, name) for name in NARROWING},
        "expect": arguments.expect,
        "may_differ": arguments.may_differ,
        "workspace": [arguments.workspace] if arguments.workspace else [],
        "most_runs": [str(arguments.most_runs)] if arguments.most_runs != 1 else [],
    }
    return [(name, text) for name, texts in values.items() for text in texts]


def _candidates(arguments: Namespace) -> list[str]:
    """Raises UsageError where no candidate, or two, are given."""
    if bool(arguments.run) == (arguments.candidate is not None):
        raise UsageError("give the candidate: --run ID (repeatable) or --candidate SIDE, not both.")
    return [arguments.candidate] if not arguments.run else [f"run={each}" for each in arguments.run]


def _is_measured(command: str) -> bool:
    """Run the caller's command; whether it did its work."""
    # What it prints would stand among our results, which may be JSON.
    done = subprocess.run(command, shell=True, stdout=sys.stderr, check=False)  # noqa: S602
    if done.returncode:
        say(f"--measure ended with exit code {done.returncode}, so no more runs are measured.")
    return not done.returncode


def _write(path: str | None, text: str) -> None:
    if path is None:
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}).") from error


def _report(answer: Mapping[str, Any], base_url: str, code: Exit, *, as_json: bool) -> None:
    text = as_text(answer, base_url)
    if as_json:
        say(text)
        put_json({"exit_code": int(code), **answer})
    else:
        put(text)
