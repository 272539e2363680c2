"""A plan in a few lines, before anything runs: its trials, load tool, order and time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loadsheet_agent.plan.plan import SIDES, Plan
from loadsheet_agent.plan.schedule import first_repeats
from loadsheet_agent.plan.steps import Step
from loadsheet_agent.run.progress import clock_text, describe
from loadsheet_agent.run.timings import read_timings
from loadsheet_agent.tools import FoundTool


def summarise(
    plan: Plan,
    steps: tuple[Step, ...],
    most: tuple[Step, ...],
    tool: FoundTool | None,
    restarts: str | None = None,
) -> str:
    """`steps`: the fewest trials the plan takes; `most`: the most.

    `restarts`: a sentence about restarts between repeats.
    """
    points = {(step.connections, step.rate_rps) for step in steps}
    shape = [_count(len(plan.servers), "server"), _count(len(plan.workloads), "workload")]
    if plan.max_rate is None:
        shape += [_count(len(points), "load point"), _count(plan.repeats, "repeat")]
    if plan.adaptive:
        shape[-1] = f"{first_repeats(plan)} to {plan.adaptive.most_repeats} repeats"
    trials = f"{_trials(steps, most)}{_with_tool(tool)}"
    head = f"{' x '.join(shape)}: {trials}, {_time(plan, steps, most)}."
    return "\n".join([head, *_notes(plan), *([restarts] if restarts else [])])


def list_steps(steps: tuple[Step, ...], most: int) -> list[str]:
    """The first trials in their order, one a line."""
    width = len(str(len(steps)))
    shown = [f"  {number:{width}}  {describe(step)}" for number, step in enumerate(steps[:most], 1)]
    left = len(steps) - most
    return shown if left <= 0 else [*shown, f"  {'…':>{width}}  and {left} more"]


def as_json(
    plan: Plan, steps: tuple[Step, ...], most: tuple[Step, ...], tool: FoundTool | None
) -> dict[str, Any]:
    return {
        "trials_least": _measured(steps),
        "trials_most": _measured(most),
        "warmups_least": len(steps) - _measured(steps),
        "seconds_least": expected_seconds(plan, steps),
        "seconds_most": expected_seconds(plan, most),
        "tool": None if tool is None else tool.tool.name,
        "tool_version": None if tool is None else tool.version,
        "steps": [
            {
                "server": step.server.name,
                "variant": step.server.variant,
                "side": step.server.side,
                "workload": step.workload.name,
                "connections": step.connections,
                "rate_rps": step.rate_rps,
                "duration_s": step.duration_s,
                "requests": step.requests,
                "repeat": step.repeat,
                "warmup": step.is_warmup,
                "phase": step.phase,
            }
            for step in steps
        ],
    }


def _measured(steps: tuple[Step, ...]) -> int:
    return sum(not step.is_warmup for step in steps)


def _trials(steps: tuple[Step, ...], most: tuple[Step, ...]) -> str:
    least, greatest = _measured(steps), _measured(most)
    warmups = len(steps) - least
    if least == greatest:
        return trials_text(least, warmups)
    return f"{least} to {trials_text(greatest, warmups)}"


def trials_text(trials: int, warmups: int) -> str:
    """`36 trials and 12 warm-ups`, wherever trials are counted."""
    return f"{_count(trials, 'trial')} and {_count(warmups, 'warm-up')}"


def _with_tool(tool: FoundTool | None) -> str:
    if tool is None:
        return ""
    return f" with {tool.tool.name} {tool.version or '(version unknown)'}"


def expected_seconds(plan: Plan, steps: tuple[Step, ...]) -> float | None:
    """How long the run takes, by earlier runs on this machine, else by the durations of its trials.

    None if they have a number of requests and nothing like them was measured here. The
    installation of servers is not part of it.
    """
    return read_timings(plan).total_s(steps)


def _time(plan: Plan, steps: tuple[Step, ...], most: tuple[Step, ...]) -> str:
    least_s, most_s = expected_seconds(plan, steps), expected_seconds(plan, most)
    if least_s is None or most_s is None:
        return "time unknown until it was run here (trials have a number of requests, no duration)"
    if round(least_s) == round(most_s):
        return f"about {clock_text(least_s)}"
    return f"about {clock_text(least_s)} to {clock_text(most_s)}"


def _notes(plan: Plan) -> Iterator[str]:
    """A sentence for each rule of the plan that changes which trials are made, or how."""
    if (limits := plan.max_rate) is not None:
        yield (
            f"Looking for the highest rate with p99 up to {limits.p99_ms:g} ms and at most "
            f"{limits.error_rate:.3%} errors, from {limits.start_rate:g} requests/s on, to within "
            f"{limits.precision:.0%}; then {_count(plan.repeats, 'trial')} to confirm it."
        )
    if (adaptive := plan.adaptive) is not None:
        yield (
            f"{first_repeats(plan)} repeats first, then as many as "
            f"±{adaptive.interval * 100:.3g} % needs, at most {adaptive.most_repeats}."
        )
    if names := [server.name for server in plan.servers if server.side == SIDES[0]]:
        yield (
            "Measures this machine against itself: sides A and B are the same server "
            f"({', '.join(names)})."
        )
    if plan.is_one_alive and len(plan.servers) > 1:
        yield 'One server runs at a time; alive = "all" lets them run side by side.'
    if (steady := plan.steady) is not None:
        yield (
            f"Warm-ups are repeated until three agree within {steady.within * 100:.3g} %, at "
            f"most {steady.most}."
        )


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
