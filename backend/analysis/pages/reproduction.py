"""What somebody needs to carry out a run again: its plan, the order, and the exact programs."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from backend.runs.measured.plan import read_plan
from backend.runs.models import Run

# Where the agent took a secret out of the text.
REDACTED = "[redacted]"


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Unknown is None. `is_whole`: the plan's bytes have the hash that was sent with it, if any."""

    plan: str
    sha256: str
    is_whole: bool | None
    order: str | None
    seed: int | None
    agent: str | None
    tools: tuple[str, ...]
    tool_sha256: str | None
    has_redactions: bool


def describe_reproduction(run: Run, tools: Iterable[str]) -> Reproduction | None:
    """None for a run without a plan: a saved report tells only its command."""
    if not run.plan:
        return None
    sha256 = hashlib.sha256(run.plan.encode()).hexdigest()
    return Reproduction(
        plan=run.plan,
        sha256=sha256,
        is_whole=sha256 == run.plan_sha256 if run.plan_sha256 else None,
        order=_order(run.plan),
        seed=run.seed,
        agent=_agent(run.agent),
        tools=tuple(sorted(set(tools))),
        tool_sha256=_tool_sha256(run.facts),
        has_redactions=REDACTED in run.plan,
    )


def _order(plan: str) -> str | None:
    """As the plan says, or the agent's default; None for a plan that is not read."""
    document = read_plan(plan)
    return None if document is None else str(document.get("order", "interleaved"))[:40]


def _agent(agent: Any) -> str | None:
    if not isinstance(agent, dict):
        return None
    return " ".join(str(agent[key]) for key in ("name", "version") if agent.get(key)) or None


def _tool_sha256(facts: Any) -> str | None:
    """Of the load tool's file on the client host."""
    client = (facts.get("client") or facts.get("server") or {}) if isinstance(facts, dict) else {}
    sha256 = client.get("tool_sha256") if isinstance(client, dict) else None
    return sha256 if isinstance(sha256, str) else None
