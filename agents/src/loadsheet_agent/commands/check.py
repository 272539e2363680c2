"""`loadsheet check --baseline SIDE REQUIREMENT...`: fail a build that got slower."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loadsheet_agent.commands.check_report import as_junit, as_markdown, as_text
from loadsheet_agent.commands.output import put, put_json, say
from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.upload.gate import Question, ask_verdict
from loadsheet_agent.upload.target import require_target

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
    answer = ask_verdict(target, _question(arguments), max_wait_s=arguments.max_wait, say=say)
    allowed = frozenset(name.replace("-", "_") for name in arguments.allow)
    code = Exit.OK if answer["verdict"] in allowed else EXITS[answer["verdict"]]
    _write(arguments.markdown, as_markdown(answer, target.url, allowed))
    _write(arguments.junit, as_junit(answer, allowed))
    _report(answer, target.url, code, as_json=arguments.json)
    return code


def _question(arguments: Namespace) -> Question:
    """The query of the gate. Raises UsageError where no candidate, or two, are given."""
    candidates = [f"run={run_id}" for run_id in arguments.run]
    if arguments.candidate is not None:
        candidates.append(arguments.candidate)
    if not candidates or (arguments.candidate is not None and arguments.run):
        raise UsageError("what was built? Give --run ID (repeatable), or --candidate SIDE.")
    values = {
        "candidate": candidates,
        "baseline": [arguments.baseline],
        "require": arguments.requirements,
        **{name: getattr(arguments, name) for name in NARROWING},
        "may_differ": arguments.may_differ,
        "workspace": [arguments.workspace] if arguments.workspace else [],
    }
    return [(name, text) for name, texts in values.items() for text in texts]


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
