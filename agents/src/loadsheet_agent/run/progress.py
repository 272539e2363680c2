"""Progress on stderr while a plan runs: a live bar in a terminal, else one line per trial."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from loadsheet_agent.plan.expansion import count_starts
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.server_spec import ServerKey, ServerSpec
from loadsheet_agent.plan.steps import MEASURE, Step
from loadsheet_agent.run.timings import Timings
from loadsheet_agent.terminal import printable
from loadsheet_agent.tools.base import Glance


class Clock:
    """Time left: what the remaining steps will take, by those that have ended and by earlier runs.

    An adaptive plan counts with its first repeats, until these have fixed how many follow.
    """

    def __init__(self, steps: tuple[Step, ...], timings: Timings) -> None:
        self.count = len(steps)
        self.finished = 0
        self.timings = timings
        self._ahead = Counter(map(_shape, steps))
        self._steps = {_shape(step): step for step in steps}
        self._starts = count_starts(timings.plan, steps)
        self._servers = {step.server.key: step.server for step in steps}
        # Warm-ups that began, and those of them that were not planned.
        self._warmups = self._more_warmups = 0
        self._is_prepared = False
        self._began = self._step_began = self._ended = time.monotonic()
        # Seconds since the last trial that servers and rests took.
        self._apart_s = 0.0
        self._current: Step | None = None
        self._ahead_s = self._seconds_ahead()

    def extend(self, steps: Sequence[Step]) -> None:
        """More steps will follow than were planned."""
        self._extend(steps)
        self._starts += count_starts(self.timings.plan, steps)
        self._ahead_s = self._seconds_ahead()

    def replan(self, plan: Plan, steps: Sequence[Step], starts: Mapping[ServerKey, int]) -> None:
        """These steps follow instead of those that were planned, and start servers so often."""
        self.timings.plan = plan
        self.count = self.finished
        self._ahead, self._starts = Counter(), Counter(starts)
        self._extend(steps)
        self._ahead_s = self._seconds_ahead()

    def add_warmup(self, step: Step) -> None:
        """The server needs another warm-up than were planned."""
        self._more_warmups += 1
        self._extend([step])

    def drop(self, step: Step) -> None:
        """A planned step will not be made."""
        self.count -= 1
        self._take_off(step)
        if not any(shape[0] == step.server.key for shape in +self._ahead):
            del self._starts[step.server.key]
            self._ahead_s = self._seconds_ahead()

    def note_prepared(self) -> None:
        """All servers are prepared; the first step follows."""
        self._ended = time.monotonic()
        self.timings.add_preparation(self._ended - self._began)
        self._is_prepared = True
        self._ahead_s = self._seconds_ahead()

    def note_start(self, server: ServerSpec, seconds: float) -> None:
        """A server was started, which took so long with what was stopped before."""
        self.timings.add_start(server, seconds)
        self._apart_s += seconds
        self._starts[server.key] = max(self._starts[server.key] - 1, 0)
        self._ahead_s = self._seconds_ahead()

    def note_rest(self, seconds: float) -> None:
        """A rest took so long."""
        self.timings.add_rest(seconds)
        self._apart_s += seconds

    def begin(self, step: Step) -> None:
        self._step_began = time.monotonic()
        self._current = step
        self.count = max(self.count, self.finished + 1)
        self._warmups += step.is_warmup
        self._take_off(step)

    def end(self) -> None:
        load_s = self._load_seconds()
        if self._current is not None:
            self.timings.add_load(self._current, load_s)
        self._ended, self._apart_s, self._current = time.monotonic(), 0.0, None
        self.finished += 1
        self._ahead_s = self._seconds_ahead()

    def position(self) -> float:
        """Seconds since the first step."""
        return time.monotonic() - self._began

    def total(self) -> float:
        """Seconds of all steps, as far as they are known."""
        return self.position() + (self.left_s() or 0.0)

    def left_s(self) -> float | None:
        """None while nothing like one of the remaining trials was measured."""
        if self._ahead_s is None:
            return None
        current = self._current and self.timings.load_s(self._current)
        return self._ahead_s + max((current or 0.0) - self._load_seconds(), 0.0)

    def left(self) -> str:
        seconds = self.left_s()
        return "? left" if seconds is None else f"{clock_text(seconds)} left"

    def step_seconds(self) -> float:
        return time.monotonic() - self._step_began

    def _extend(self, steps: Sequence[Step]) -> None:
        self.count += len(steps)
        self._ahead.update(map(_shape, steps))
        self._steps.update({_shape(step): step for step in steps})

    def _load_seconds(self) -> float:
        return max(time.monotonic() - self._ended - self._apart_s, 0.0)

    def _take_off(self, step: Step) -> None:
        """A search takes other rates than were planned: then another step of the server goes."""
        shapes = [_shape(step), *(shape for shape in self._ahead if _is_alike(shape, step))]
        taken = next((shape for shape in shapes if self._ahead[shape] > 0), None)
        if taken is not None:
            self._ahead[taken] -= 1
            self._ahead_s = self._seconds_ahead()

    def _seconds_ahead(self) -> float | None:
        """Preparation, loads, rests and starts that are still to come."""
        total = 0.0 if self._is_prepared else self.timings.preparation_s()
        for shape, count in (+self._ahead).items():
            step = self._steps[shape]
            load_s = self.timings.load_s(step)
            if load_s is None:
                return None
            times = count * (self.warmups_each() if step.is_warmup else 1.0)
            total += times * (load_s + self.timings.rest_s())
        return total + sum(
            count * self.timings.start_s(self._servers[key]) for key, count in self._starts.items()
        )

    def warmups_each(self) -> float:
        """Warm-ups for each that was planned."""
        return self._warmups / max(self._warmups - self._more_warmups, 1) or 1.0


def _shape(step: Step) -> tuple[object, ...]:
    """The same for steps that take equally long."""
    load = (step.connections, step.rate_rps, step.duration_s, step.requests, step.is_warmup)
    return (step.server.key, step.workload.name, *load)


def _is_alike(shape: tuple[object, ...], step: Step) -> bool:
    """Whether a step of that shape is of the same server and workload."""
    return shape[:2] == (step.server.key, step.workload.name)


def describe(step: Step) -> str:
    """Server, workload, load and repeat of a step in a few words."""
    repeat = f"repeat {step.repeat}/{step.repeats}"
    if step.is_warmup or step.phase != MEASURE:
        repeat = "warm-up" if step.is_warmup else f"{step.phase} {step.repeat}"
    load = f"{step.connections} connection" + ("" if step.connections == 1 else "s")
    if step.rate_rps is not None:
        load = f"{step.rate_rps:g} requests/s"
    return f"{step.server.label} · {step.workload.name} · {load} · {repeat}"


def clock_text(seconds: float) -> str:
    """Such as 4:05 or 1:04:05."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def glance_text(glance: Glance) -> str:
    """The load tool's own figures; empty if it gives none."""
    rate, p99_s, errors = glance.throughput_rps, glance.p99_s, glance.error_rate
    figures = [
        "" if rate is None else f"{rate:,.0f}/s",
        "" if p99_s is None else f"p99 {_latency_text(p99_s)}",
        "" if not errors else f"{errors:.2%} errors",
    ]
    return " · ".join(figure for figure in figures if figure)


def _latency_text(seconds: float) -> str:
    """Such as 2.5 ms or 1.35 s; of a time that the load tool rounds to 0, < 1 ms."""
    if not seconds:
        return "< 1 ms"
    # 999.6 ms would print as 1000: the larger unit begins where rounding reaches it.
    value, unit = (seconds, "s") if seconds >= 0.9995 else (seconds * 1000, "ms")
    return f"{float(f'{value:.3g}'):,g} {unit}"


class Progress:
    """Shows each step from `begin` to `end`; `tick` is called many times a second between.

    One line per trial on stderr; stdout stays free for results.
    """

    def __init__(self, steps: tuple[Step, ...], timings: Timings) -> None:
        self.clock = Clock(steps, timings)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def begin(self, step: Step) -> None:
        self.clock.begin(step)

    def drop(self, step: Step) -> None:
        self.clock.drop(step)

    def tick(self) -> None:
        return

    def note(self, sentence: str) -> None:
        """Show what the agent decides between two steps."""
        sys.stderr.write(printable(sentence) + "\n")
        sys.stderr.flush()

    def end(self, step: Step, error: str | None, glance: Glance) -> None:
        took = self.clock.step_seconds()
        self.clock.end()
        total = str(self.clock.count)
        count = f"[{self.clock.finished:{len(total)}}/{total}]"
        figures = glance_text(glance)
        outcome = f"{took:.1f} s" + (f" · {figures}" if figures else "")
        outcome = outcome if error is None else f"FAILED: {error}"
        line = f"{count} {describe(step)} · {outcome} · {self.clock.left()}"
        sys.stderr.write(printable(line) + "\n")
        sys.stderr.flush()


class LiveProgress(Progress):
    """One bar on stderr, drawn four times a second at most."""

    def __init__(self, steps: tuple[Step, ...], timings: Timings) -> None:
        super().__init__(steps, timings)
        self._bar = _rich_bar()
        self._task = self._bar.add_task(
            "starting", total=self.clock.total(), count="", left="", last=""
        )
        self._next_tick = 0.0

    def __enter__(self) -> LiveProgress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, step: Step) -> None:
        super().begin(step)
        count = f"{self.clock.finished + 1}/{self.clock.count}"
        self._bar.update(
            self._task,
            description=printable(describe(step)),
            count=count,
            total=self.clock.total(),
        )

    def tick(self) -> None:
        # Drawing takes CPU from the load tool.
        now = time.monotonic()
        if now >= self._next_tick:
            self._next_tick = now + 0.25
            self._draw()

    def note(self, sentence: str) -> None:
        self._bar.console.print(printable(sentence), markup=False, highlight=False)

    def end(self, step: Step, error: str | None, glance: Glance) -> None:
        self.clock.end()
        self._bar.update(self._task, last=glance_text(glance))
        self._draw()
        if error is not None:
            self._bar.console.print(_failed_line(f" {describe(step)}: {error}"), highlight=False)

    def _draw(self) -> None:
        self._bar.update(
            self._task,
            completed=self.clock.position(),
            left=self.clock.left(),
            refresh=True,
        )


def _failed_line(text: str) -> Any:
    """Brackets in the text are no markup, which could be wrong and raise."""
    from rich.text import Text

    return Text.assemble(("✗", "red"), printable(text))


def _rich_bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as RichProgress

    return RichProgress(
        TextColumn("{task.fields[count]}", style="bold"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[left]}", style="cyan"),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[last]}", style="green", markup=False),
        console=Console(stderr=True),
        auto_refresh=False,
    )


def choose_progress(steps: tuple[Step, ...], timings: Timings) -> Progress:
    kind = LiveProgress if sys.stderr.isatty() else Progress
    return kind(steps, timings)
