"""Which load tool carries out a plan."""

from __future__ import annotations

from collections.abc import Mapping

from loadsheet_agent.errors import UsageError
from loadsheet_agent.plan.expansion import expand, expand_most
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.tools import FoundTool, choose
from loadsheet_agent.tools.base import LoadPoint


def choose_tool(plan: Plan, paths: Mapping[str, str]) -> FoundTool:
    """The load tool that can do every load point of the plan, warm-ups included.

    Raises PlanError where no load tool can, ToolMissingError where none of them is installed.
    """
    chosen = choose(plan.load.tool, planned_points(plan), paths)
    if plan.max_rate is not None and not chosen.tool.tells_p99:
        raise UsageError(
            f"{chosen.tool.name} does not report the p99 that [max_rate] limits; use wrk2, "
            "vegeta or k6."
        )
    return chosen


def planned_points(plan: Plan) -> list[LoadPoint]:
    """Every load point of the plan, with the servers' addresses as they are written."""
    steps = (*expand(plan), *(expand_most(plan) if plan.max_rate else ()))
    return [step.load_point(step.server.url, plan.load.threads) for step in steps]
