"""What the tests of plans share: the texts of plans, and the trials that a plan takes."""

from __future__ import annotations

from pathlib import Path

from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.reading import parse_plan
from loadsheet_agent.plan.schedule import drive
from loadsheet_agent.plan.steps import Step
from loadsheet_agent.tools.base import Glance

DEMO = Path(__file__).resolve().parents[3] / "scripts" / "demo" / "plan.toml"
SERVER = '[[servers]]\nname = "a"\nurl = "http://127.0.0.1:8000"\n'
WORKLOAD = '[[workloads]]\nname = "hello"\n'
TWO = SERVER + SERVER.replace('"a"', '"b"') + WORKLOAD
SEARCH = """
[load]
connections = [4]
[max_rate]
p99_ms = 20
start_rate = 100
most_rate = 5000
search_duration_s = 1
"""


def parse(text: str) -> Plan:
    return parse_plan(text, name="plan.toml", directory=Path("/"))


def take_all(plan: Plan, seed: int, answer) -> list[Step]:
    taken: list[Step] = []

    def take(step: Step) -> Glance:
        taken.append(step)
        return answer(step)

    drive(plan, take, seed=seed)
    return taken
