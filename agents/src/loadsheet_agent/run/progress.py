"""Progress on stderr while a plan runs: a live bar in a terminal, else one line per trial."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Protocol

from loadsheet_agent.plan.steps import MEASURE, Step
from loadsheet_agent.tools import Glance


class Progress(Protocol):
    """Shows each step from `begin` to `end`; `tick` is called many times a second between."""

    clock: Clock

    def __enter__(self) -> Progress: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def begin(self, step: Step) -> None: ...

    def tick(self) -> None: ...

    def end(self, step: Step, error: str | None, glance: Glance) -> None: ...

    def drop(self, step: Step) -> None: ...


# Assumed for a trial with a number of requests.
GUESS_S = 10.0


class Clock:
    """Time left: the planned time of the remaining steps, scaled by measured ÷ planned so far.

    An adaptive plan counts with its first repeats, until these have fixed how many follow.
    """

    def __init__(self, steps: tuple[Step, ...], rest_s: float) -> None:
        self._rest_s = rest_s
        self.total = sum(map(self._length, steps))
        self.count = len(steps)
        self.finished = 0
        self._has_durations = all(step.duration_s is not None for step in steps)
        self._done = 0.0
        self._began = time.monotonic()
        self._step_began = self._began
        self._step_length = 0.0

    def _length(self, step: Step) -> float:
        return (GUESS_S if step.duration_s is None else step.duration_s) + self._rest_s

    def extend(self, steps: Sequence[Step]) -> None:
        """More steps will follow than were planned."""
        self.count += len(steps)
        self.total += sum(map(self._length, steps))

    def drop(self, step: Step) -> None:
        """A planned step will not be made."""
        self.count -= 1
        self.total -= self._length(step)

    def begin(self, step: Step) -> None:
        self._step_began = time.monotonic()
        self._step_length = self._length(step)
        if self.finished >= self.count:
            self.count += 1
            self.total += self._step_length

    def end(self) -> None:
        self._done += self._step_length
        self._step_length = 0.0
        self.finished += 1

    def position(self) -> float:
        """Planned seconds of the steps so far, of `total`."""
        return self._done + min(time.monotonic() - self._step_began, self._step_length)

    def left_s(self) -> float | None:
        """None while no trial with a number of requests has ended."""
        elapsed = time.monotonic() - self._began
        if not self._done and not self._has_durations:
            return None
        stretch = elapsed / self._done if self._done else 1.0
        if self._has_durations:
            stretch = max(stretch, 1.0)
        return max(self.total - self.position(), 0.0) * stretch

    def left(self) -> str:
        seconds = self.left_s()
        return "? left" if seconds is None else f"{clock_text(seconds)} left"

    def step_seconds(self) -> float:
        return time.monotonic() - self._step_began


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
    """The load tool's own figures; empty where it gives none."""
    rate, p99_s, errors = glance.throughput_rps, glance.p99_s, glance.error_rate
    figures = [
        "" if rate is None else f"{rate:,.0f}/s".replace(",", "\u202f"),
        "" if p99_s is None else f"p99 {p99_s * 1000:.3g} ms",
        "" if not errors else f"{errors:.2%} errors",
    ]
    return " · ".join(figure for figure in figures if figure)


class PlainProgress:
    """One line per trial on stderr; stdout stays free for results."""

    def __init__(self, steps: tuple[Step, ...], *, rest_s: float) -> None:
        self.clock = Clock(steps, rest_s)

    def __enter__(self) -> PlainProgress:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def begin(self, step: Step) -> None:
        self.clock.begin(step)

    def drop(self, step: Step) -> None:
        self.clock.drop(step)

    def tick(self) -> None:
        return

    def end(self, step: Step, error: str | None, glance: Glance) -> None:
        took = self.clock.step_seconds()
        self.clock.end()
        total = str(self.clock.count)
        count = f"[{self.clock.finished:{len(total)}}/{total}]"
        figures = glance_text(glance)
        outcome = f"{took:.1f} s" + (f" · {figures}" if figures else "")
        outcome = outcome if error is None else f"FAILED: {error}"
        line = f"{count} {describe(step)} · {outcome} · {self.clock.left()}"
        sys.stderr.write(line + "\n")
        sys.stderr.flush()


class LiveProgress:
    """One bar on stderr, drawn four times a second at most."""

    def __init__(self, steps: tuple[Step, ...], *, rest_s: float) -> None:
        self.clock = Clock(steps, rest_s)
        self._bar = _rich_bar()
        self._task = self._bar.add_task(
            "starting", total=self.clock.total, count="", left="", last=""
        )
        self._next_tick = 0.0

    def __enter__(self) -> LiveProgress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, step: Step) -> None:
        self.clock.begin(step)
        count = f"{self.clock.finished + 1}/{self.clock.count}"
        self._bar.update(
            self._task,
            description=describe(step),
            count=count,
            total=self.clock.total,
        )

    def drop(self, step: Step) -> None:
        self.clock.drop(step)

    def tick(self) -> None:
        # Drawing takes CPU from the load tool.
        now = time.monotonic()
        if now >= self._next_tick:
            self._next_tick = now + 0.25
            self._draw()

    def end(self, step: Step, error: str | None, glance: Glance) -> None:
        self.clock.end()
        self._bar.update(self._task, last=glance_text(glance))
        self._draw()
        if error is not None:
            self._bar.console.print(f"[red]✗[/red] {describe(step)}:", error, highlight=False)

    def _draw(self) -> None:
        self._bar.update(
            self._task,
            completed=self.clock.position(),
            left=self.clock.left(),
            refresh=True,
        )


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


def choose_progress(steps: tuple[Step, ...], *, rest_s: float) -> Progress:
    if sys.stderr.isatty():
        return LiveProgress(steps, rest_s=rest_s)
    return PlainProgress(steps, rest_s=rest_s)
