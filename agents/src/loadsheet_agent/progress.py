"""What a person sees while a plan runs: a live bar in a terminal, else one line per trial."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Protocol

from loadsheet_agent.steps import Step


class Progress(Protocol):
    def __enter__(self) -> Progress: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def begin(self, step: Step) -> None: ...

    def tick(self) -> None: ...

    def end(self, step: Step, error: str | None) -> None: ...


class _Clock:
    """Time left: what remains under load, stretched by how long things really took so far."""

    def __init__(self, steps: tuple[Step, ...], rest_s: float) -> None:
        self.total = sum(step.duration_s + rest_s for step in steps)
        self._rest_s = rest_s
        self._done = 0.0
        self._began = time.monotonic()
        self._step_began = self._began
        self._step_length = 0.0

    def begin(self, step: Step) -> None:
        self._step_began = time.monotonic()
        self._step_length = step.duration_s + self._rest_s

    def end(self) -> None:
        self._done += self._step_length
        self._step_length = 0.0

    def position(self) -> float:
        return self._done + min(time.monotonic() - self._step_began, self._step_length)

    def left_s(self) -> float:
        elapsed = time.monotonic() - self._began
        stretch = max(elapsed / self._done, 1.0) if self._done else 1.0
        return max(self.total - self.position(), 0.0) * stretch

    def step_seconds(self) -> float:
        return time.monotonic() - self._step_began


def describe(step: Step, repeats: int) -> str:
    what = "warm-up" if step.warmup else f"repeat {step.repeat}/{repeats}"
    unit = "connection" if step.connections == 1 else "connections"
    return f"{step.server.name} · {step.workload.name} · {step.connections} {unit} · {what}"


def clock_text(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"


class PlainProgress:
    """One line per trial on stderr; stdout stays free for results."""

    def __init__(self, steps: tuple[Step, ...], *, repeats: int, rest_s: float) -> None:
        self._total = len(steps)
        self._repeats = repeats
        self._clock = _Clock(steps, rest_s)

    def __enter__(self) -> PlainProgress:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def begin(self, step: Step) -> None:
        self._clock.begin(step)

    def tick(self) -> None:
        return

    def end(self, step: Step, error: str | None) -> None:
        took = self._clock.step_seconds()
        self._clock.end()
        width = len(str(self._total))
        count = f"[{step.ordinal + 1:{width}}/{self._total}]"
        outcome = f"{took:.1f} s" if error is None else f"FAILED: {error}"
        left = clock_text(self._clock.left_s())
        line = f"{count} {describe(step, self._repeats)} · {outcome} · {left} left"
        sys.stderr.write(line + "\n")
        sys.stderr.flush()


class LiveProgress:
    def __init__(self, steps: tuple[Step, ...], *, repeats: int, rest_s: float) -> None:
        self._total = len(steps)
        self._repeats = repeats
        self._clock = _Clock(steps, rest_s)
        self._bar = _rich_bar()
        self._task = self._bar.add_task("starting", total=self._clock.total, count="", left="")
        self._next_tick = 0.0

    def __enter__(self) -> LiveProgress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, step: Step) -> None:
        self._clock.begin(step)
        count = f"{step.ordinal + 1}/{self._total}"
        self._bar.update(self._task, description=describe(step, self._repeats), count=count)

    def tick(self) -> None:
        # Ticks come far more often than an eye can use; drawing takes CPU from the load tool.
        now = time.monotonic()
        if now >= self._next_tick:
            self._next_tick = now + 0.25
            self._draw()

    def end(self, step: Step, error: str | None) -> None:
        self._clock.end()
        self._draw()
        if error is not None:
            self._bar.console.print(
                f"[red]✗[/red] {describe(step, self._repeats)}:", error, highlight=False
            )

    def _draw(self) -> None:
        left = f"{clock_text(self._clock.left_s())} left"
        self._bar.update(self._task, completed=self._clock.position(), left=left, refresh=True)


def _rich_bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as RichProgress

    return RichProgress(
        TextColumn("{task.fields[count]}", style="bold"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[left]}", style="cyan"),
        TextColumn("{task.description}", markup=False),
        console=Console(stderr=True),
        auto_refresh=False,
    )


def choose_progress(steps: tuple[Step, ...], *, repeats: int, rest_s: float) -> Progress:
    if sys.stderr.isatty():
        return LiveProgress(steps, repeats=repeats, rest_s=rest_s)
    return PlainProgress(steps, repeats=repeats, rest_s=rest_s)
