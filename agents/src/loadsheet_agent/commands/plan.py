"""`loadsheet plan check PLAN.toml` shows what a plan will do; `loadsheet plan new` writes one."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from loadsheet_agent.commands.output import put, put_json, say
from loadsheet_agent.errors import ToolMissingError, UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.host.locality import servers_are_here
from loadsheet_agent.plan.expansion import choose_tool, expand_most, planned_points
from loadsheet_agent.plan.reading import read_plan
from loadsheet_agent.run.installation import count_uninstalled, find_available
from loadsheet_agent.run.restarts import expect_restarts
from loadsheet_agent.run.summary import as_json, list_steps, summarise
from loadsheet_agent.tools import FoundTool, check, tool_paths
from loadsheet_agent.upload.secrets import redactor_for

PACKAGE = Path(__file__).resolve().parents[1]
TEMPLATE = PACKAGE / "plan.template.toml"
AA_TEMPLATE = PACKAGE / "plan.aa.toml"
SHOWN = 24


def run(arguments: Namespace) -> Exit:
    if arguments.action == "new":
        return _new(arguments)
    if not arguments.file:
        raise UsageError("no plan is given; run, for example: loadsheet plan check plan.toml")
    return _check(arguments)


def _new(arguments: Namespace) -> Exit:
    text = (AA_TEMPLATE if arguments.aa else TEMPLATE).read_text(encoding="utf-8")
    if arguments.file == "-":
        put(text.rstrip("\n"))
        return Exit.OK
    path = Path(arguments.file or ("aa.toml" if arguments.aa else "plan.toml"))
    try:
        with path.open("x", encoding="utf-8") as handle:
            handle.write(text)
    except FileExistsError as error:
        raise UsageError(f"{path} exists already; give another name.") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}).") from error
    say(f"Wrote {path}; edit it, then run `loadsheet plan check {path}`.")
    if arguments.json:
        put_json({"exit_code": 0, "path": str(path)})
    return Exit.OK


def _check(arguments: Namespace) -> Exit:
    if arguments.aa:
        raise UsageError("--aa is for `loadsheet plan new`; leave it out.")
    whole = read_plan(Path(arguments.file), is_short=arguments.short)
    servers_are_here(whole)
    available = find_available(whole)
    seed = available.plan.seed or 0
    expected = expect_restarts(available.plan, seed)
    plan, steps = expected.plan, expected.steps
    most = expand_most(plan, seed)
    check(plan.load.tool, planned_points(plan))
    try:
        tool: FoundTool | None = choose_tool(plan, tool_paths(arguments.tool_path, os.environ))
    except ToolMissingError as error:
        # A plan is often written on another machine than the one it runs on.
        say(f"Note: {error}")
        tool = None
    for sentence in available.skipped:
        say(f"Note: {sentence}")
    redactor = redactor_for(plan, None)
    to_install = count_uninstalled(available)
    if arguments.json:
        shown = redactor.value(as_json(plan, steps, most, tool))
        restarts = {"restart": plan.restart, "restarts_add_s": expected.added_s}
        head = {"exit_code": 0, "sha256": plan.sha256, "to_install": to_install}
        put_json({**head, **restarts, **shown})
        return Exit.OK
    put(redactor.text(summarise(plan, steps, most, tool, expected.expectation)))
    if to_install:
        put(f"A run first installs {to_install} of its programs, which takes extra time.")
    for line in list_steps(steps, SHOWN):
        put(redactor.text(line))
    put(f"SHA-256 of the plan: {plan.sha256}")
    return Exit.OK
