"""Whether servers are started again before each repeat, where the plan leaves that open.

All trials of one process share what its start happened to lay out in memory, so a figure of one
start says little of the next start, however many trials it rests on. A start for each repeat costs
the starts and, because a fresh process is cold, their warm-ups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, replace

from loadsheet_agent.errors import PlanError
from loadsheet_agent.plan.expansion import count_starts, expand, expand_most
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.server_spec import ServerKey
from loadsheet_agent.plan.steps import Step
from loadsheet_agent.run.progress import clock_text
from loadsheet_agent.run.timings import Timings, read_timings

# Restarts may make a run longer by this share.
MOST_LONGER = 0.1


@dataclass(frozen=True)
class Restarts:
    """`plan` with its restarts settled, and the fewest trials it takes.

    `sentence`: what restarts before each repeat cost. None where the plan itself says when servers
    are restarted, and where a restart before each repeat changes nothing. `added_s`: seconds that
    they add to the run; None without a sentence, and where the cost is unknown.
    """

    plan: Plan
    steps: tuple[Step, ...]
    sentence: str | None = None
    added_s: float | None = None

    @property
    def expectation(self) -> str | None:
        """The sentence before the run."""
        if self.added_s is None:
            return self.sentence
        return f"{self.sentence} The times of the first repeat decide."

    def left_from(
        self, step: Step, servers: Container[ServerKey]
    ) -> tuple[tuple[Step, ...], Counter[ServerKey]]:
        """The steps of these servers from a trial on, and how often they start each server.

        Empty if the trial is none of the steps, as where a search chose its rate.
        """
        steps = tuple(each for each in self.steps if each.server.key in servers)
        keys = [each.key for each in steps]
        before = keys.index(step.key) if step.key in keys else len(keys)
        starts = count_starts(self.plan, steps)
        return steps[before:], starts - count_starts(self.plan, steps[:before])


def expect_restarts(plan: Plan, seed: int) -> Restarts:
    """By what earlier runs on this machine measured; the run itself settles it."""
    return settle_restarts(plan, seed, read_timings(plan))


def settle_restarts(plan: Plan, seed: int, timings: Timings, warmups_each: float = 1.0) -> Restarts:
    """`warmups_each`: warm-ups for each that is planned.

    Raises PlanError for more trials than a run may have.
    """
    if plan.restart != "auto":
        return Restarts(plan, expand(plan, seed))
    once, again = (replace(plan, restart=word) for word in ("never", "each-repeat"))
    steps = expand(once, seed)
    try:
        more_steps, _ = expand(again, seed), expand_most(again, seed)
    except PlanError:
        return Restarts(once, steps, _too_many_text(plan))
    if count_starts(once, steps) == count_starts(again, more_steps):
        return Restarts(once, steps)
    run_s, longer_s = (
        replace(timings, plan=each).total_s(taken, warmups_each)
        for each, taken in ((once, steps), (again, more_steps))
    )
    if run_s is None or longer_s is None:
        return Restarts(once, steps, _unknown_text(plan))
    return _weigh(Restarts(once, steps), Restarts(again, more_steps), run_s, longer_s)


def _weigh(once: Restarts, again: Restarts, run_s: float, longer_s: float) -> Restarts:
    """`again`, where its seconds are few enough; both say what restarts cost."""
    added_s, share = longer_s - run_s, longer_s / run_s - 1
    cost = f"about {_time_text(added_s)} ({_percent_text(share)}) to the run"
    restarting, limit = f"Restarting {_names(again.plan)} before each repeat", MOST_LONGER
    if share <= limit:
        return replace(again, sentence=f"{restarting} adds {cost}.", added_s=added_s)
    sentence = (
        f"{restarting} would add {cost}, which is more than {_percent_text(limit)}, so it is not "
        'done; restart = "each-repeat" in the plan restarts all the same.'
    )
    return replace(once, sentence=sentence, added_s=added_s)


def _unknown_text(plan: Plan) -> str:
    return (
        f"The first repeat shows what restarting {_names(plan)} before each repeat costs. It is "
        f"done where it makes the run at most {_percent_text(MOST_LONGER)} longer."
    )


def _too_many_text(plan: Plan) -> str:
    return (
        f"Restarting {_names(plan)} before each repeat would make too many trials for one run, so "
        "it is not done."
    )


def _names(plan: Plan) -> str:
    labels = [server.label for server in plan.servers if server.start is not None]
    return " and ".join(labels) if len(labels) < 3 else f"the {len(labels)} servers"


def _time_text(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else clock_text(seconds)


def _percent_text(share: float) -> str:
    percent = share * 100
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.2g} %"
