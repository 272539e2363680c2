"""Mistakes to plant in a made upload: one for each check of a trial."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from backend.runs.checks import CheckInput
from backend.runs.checks.identities import SAMPLED_RATES
from backend.testing.made.figures import PrintedFigures
from backend.testing.made.requests import Law, draw_law, lognormal
from backend.testing.made.texts import MadeTool
from backend.testing.made.uploads import SECONDS, MadeUpload, make_trial, upload_of

Plant = Callable[[MadeUpload, Generator], None]
TICK_US = 15_625
# When the server stops answering, and for how long.
STALL_S = (3.2, 2.3)
STALLED_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """`text`: the mistake in words. `fits`: the tools in whose output it can be.

    `needs`: what the checks must know of the trial; a tool that does not print it cannot show the
    mistake. `edit`: for a mistake that the made outputs cannot hold, a change of what is read.
    `median_us`: the range of latencies to plant it in, and `is_coarse`: also where the tool's steps
    are too coarse for them. `law`: of the latencies; any law, without it. `is_certain`: the mistake
    is a fact beside the figures, so that nothing is left to chance.
    """

    text: str
    plant: Plant = lambda _upload, _draw: None
    fits: Callable[[MadeTool], bool] = lambda _tool: True
    needs: tuple[str, ...] = ()
    edit: Callable[[CheckInput], CheckInput] = lambda trial: trial
    median_us: tuple[float, float] = (2_000, 50_000)
    is_coarse: bool = False
    law: Law | None = None
    is_certain: bool = False

    def make(self, draw: Generator, tool: MadeTool) -> MadeUpload:
        """An upload with the mistake."""
        low, high = self.median_us
        least = low if self.is_coarse else max(low, 16 * tool.step_us)
        median_us = least * (high / low) ** draw.random()
        law = self.law or draw_law(draw)
        upload = upload_of(tool, make_trial(draw, tool, law, median_us))
        self.plant(upload, draw)
        return upload


def prints_figures(tool: MadeTool) -> bool:
    return not tool.has_rows


def _is_closed(tool: MadeTool) -> bool:
    return not tool.is_open


def _set(name: str, key: str, value: Any) -> Plant:
    """A mistake that is one value of what the agent says."""

    def plant(upload: MadeUpload, _draw: Generator) -> None:
        getattr(upload, name)[key] = value

    return plant


def _set_field(name: str, value: Any) -> Plant:
    return lambda upload, _draw: setattr(upload, name, value)


def answer(code: int, low: float, high: float) -> Plant:
    """A share of the requests, between these, is answered with this status."""

    def plant(upload: MadeUpload, draw: Generator) -> None:
        trial = upload.trial
        count = max(round(draw.uniform(low, high) * trial.count), 1)
        status = trial.status.copy()
        status[draw.choice(trial.count, count, replace=False)] = code
        upload.trial = replace(trial, status=status)

    return plant


def change_figures(change: Callable[[PrintedFigures], None]) -> Plant:
    return lambda upload, _draw: setattr(upload, "change", change)


def _copy_mean(figures: PrintedFigures) -> None:
    figures.percentiles_us["99"] = figures.mean_us


def _halve_mean(figures: PrintedFigures) -> None:
    figures.mean_us /= 2


def raise_rate(figures: PrintedFigures) -> None:
    figures.rate_rps *= 1.2


def _remake(upload: MadeUpload, draw: Generator, median_us: float, **options: Any) -> None:
    """Other requests in the place of those of the upload. `options`: as for `make_trial`."""
    trial = make_trial(draw, upload.tool, lognormal(0.3), median_us, **options)
    remade = upload_of(upload.tool, trial)
    upload.trial, upload.load = remade.trial, remade.load


def _hurry(upload: MadeUpload, draw: Generator) -> None:
    _remake(upload, draw, 4 * upload.tool.step_us)


def _first(low: int, high: int) -> Plant:
    def plant(upload: MadeUpload, draw: Generator) -> None:
        upload.trial = upload.trial.first(int(draw.integers(low, high)))

    return plant


def _tick(upload: MadeUpload, _draw: Generator) -> None:
    upload.trial = upload.trial.with_latency(np.ceil(upload.trial.latency_us / TICK_US) * TICK_US)


def _delay_acknowledgements(upload: MadeUpload, draw: Generator) -> None:
    waits = draw.uniform(40_000, 41_500, upload.trial.count)
    is_hit = draw.random(upload.trial.count) < draw.uniform(0.15, 0.9)
    upload.trial = upload.trial.with_latency(upload.trial.latency_us + waits * is_hit)


def _slow_a_few(upload: MadeUpload, draw: Generator) -> None:
    is_hit = draw.random(upload.trial.count) < 0.05
    upload.trial = upload.trial.with_latency(upload.trial.latency_us * np.where(is_hit, 60, 1))


def _send_late(upload: MadeUpload) -> None:
    """An open loop whose sender stops and then sends all at once."""
    trial = upload.trial
    begin, length = STALL_S
    is_late = (trial.start_s > begin) & (trial.start_s < begin + length)
    upload.trial = replace(trial, start_s=np.where(is_late, begin + length, trial.start_s))


def _stall(upload: MadeUpload, draw: Generator) -> None:
    _remake(upload, draw, 10 ** draw.uniform(2.5, 3.5), duration_s=STALLED_SECONDS, stall_s=STALL_S)
    if upload.tool.is_open:
        _send_late(upload)


def _slow_down(upload: MadeUpload, draw: Generator) -> None:
    """Over 12 s, the server loses 40 % of its throughput."""
    trial = upload.trial
    start_s = trial.start_s * 3
    is_kept = draw.random(trial.count) > 0.4 * start_s / start_s.max()
    upload.trial = replace(
        trial,
        elapsed_s=trial.elapsed_s * 3,
        asked_s=trial.elapsed_s * 3,
        start_s=start_s[is_kept],
        latency_us=trial.latency_us[is_kept],
        status=trial.status[is_kept],
    )


def _lose_half(upload: MadeUpload, _draw: Generator) -> None:
    upload.load = {"requests": upload.trial.count}
    upload.kept_share = 0.5


def offer_more(upload: MadeUpload, draw: Generator) -> None:
    """More requests a second were asked for than the load tool sent."""
    upload.load["rate_rps"] = (upload.trial.rate_rps or 0.0) * draw.uniform(1.05, 2)


def _use_few_ports(upload: MadeUpload, _draw: Generator) -> None:
    upload.workload["keepalive"] = False
    upload.facts["client"]["ip_local_port_range"] = "50000 52000"


def _lose_ports(trial: CheckInput, share: float) -> CheckInput:
    return replace(trial, client_errors=round(share * (trial.requests_completed or 0)))


MISTAKES: dict[str, Mistake] = {
    "error-rate": Mistake(
        text="0.1 to 0.9 % of the responses are 500",
        plant=answer(500, 0.001, 0.009),
        needs=("error_rate",),
    ),
    "error-rate-high": Mistake(
        text="2 to 60 % of the responses are 500",
        plant=answer(500, 0.02, 0.6),
        needs=("error_rate",),
    ),
    "status-not-2xx": Mistake(
        is_certain=True,
        text="one response in ten is a 503 that counts as success",
        edit=lambda trial: replace(
            trial,
            status_counts={"200": 9, "503": 1},
            requests_ok=trial.requests_completed,
        ),
    ),
    "errors-unknown": Mistake(
        is_certain=True,
        text="the output does not tell failures",
        edit=lambda trial: replace(trial, error_rate=None),
    ),
    "incomplete": Mistake(
        is_certain=True,
        text="the output ends early",
        edit=lambda trial: replace(trial, incomplete=True),
    ),
    "exit-code": Mistake(is_certain=True, text="exit status 1", plant=_set_field("exit_code", 1)),
    "throughput-disagrees": Mistake(
        text="the printed rate, a mean of samples, is 20 % higher than the counts",
        plant=change_figures(raise_rate),
        fits=lambda tool: prints_figures(tool) and tool.name in SAMPLED_RATES,
        needs=("reported_rps", "elapsed_s"),
    ),
    "overload": Mistake(
        text="5 to 100 % more requests were offered than answered",
        plant=offer_more,
        fits=lambda tool: tool.is_open,
        needs=("throughput_rps",),
    ),
    "percentile-order": Mistake(
        text="p90 and p99 stand under each other's name",
        plant=change_figures(lambda figures: figures.swap("90", "99")),
        fits=prints_figures,
        median_us=(20_000, 80_000),
        law=lognormal(0.5),
    ),
    "p99-equals-mean-or-max": Mistake(
        text="the mean is printed as p99, and the tool's steps are below p99 ÷ 200",
        plant=change_figures(_copy_mean),
        # In whole milliseconds, p99 would have to be above 200 ms.
        fits=lambda tool: prints_figures(tool) and tool.step_us <= 100,
        median_us=(22_000, 80_000),
        law=lognormal(0.5),
    ),
    "resolution": Mistake(
        text="half of the requests take at most 4 of the tool's steps",
        plant=_hurry,
        fits=lambda tool: tool.step_us >= 100 and not tool.is_open,
    ),
    "tail-samples": Mistake(text="200 to 900 requests", plant=_first(200, 900)),
    "far-tail-samples": Mistake(
        text="1,000 to 9,000 requests",
        plant=_first(1_000, 9_000),
        fits=lambda tool: tool.has_rows or tool.name in ("oha", "autocannon"),
    ),
    "clock-tick": Mistake(
        text="the client's clock ticks every 15.625 ms",
        plant=_tick,
        # wrk adds latencies that are no multiples.
        fits=lambda tool: tool.name != "wrk",
        median_us=(20_000, 60_000),
        law=lognormal(0.5),
    ),
    "delayed-ack": Mistake(
        text="15 to 90 % of the responses wait 40 ms for an acknowledgement",
        plant=_delay_acknowledgements,
        fits=lambda tool: tool.name != "wrk",
        median_us=(300, 1_000),
        is_coarse=True,
        law=lognormal(0.3),
    ),
    "two-populations": Mistake(
        text="5 % of the requests take 60 times as long",
        plant=_slow_a_few,
        # wrk adds so many slow requests that its median rises too.
        fits=lambda tool: tool.name != "wrk",
    ),
    "littles-law": Mistake(
        text="the mean latency is half of what it was",
        plant=change_figures(_halve_mean),
        fits=lambda tool: prints_figures(tool) and _is_closed(tool),
        needs=("throughput_rps", "elapsed_s"),
    ),
    "too-short": Mistake(
        text="0.1 to 1.8 s",
        plant=lambda upload, draw: upload.end_after(draw.uniform(0.1, 1.8)),
        fits=_is_closed,
        needs=("elapsed_s",),
        median_us=(300, 3_000),
        is_coarse=True,
    ),
    "unsteady": Mistake(
        text="the server loses 40 % of its throughput over 12 s",
        plant=_slow_down,
        fits=lambda tool: tool.has_seconds,
    ),
    "stall": Mistake(
        text="nothing is answered (or sent, in an open loop) for 2.3 s of 10 s",
        plant=_stall,
        # wrk adds the requests that were not sent, so that its p99 shows the stall.
        fits=lambda tool: tool.has_seconds or (_is_closed(tool) and tool.name != "wrk"),
        needs=("requests_completed", "elapsed_s"),
    ),
    "missing-requests": Mistake(
        text="half of the lines are lost", plant=_lose_half, fits=lambda tool: tool.has_rows
    ),
    "same-host": Mistake(is_certain=True, text="one host", plant=_set_field("same_host", True)),
    "unknown-server-version": Mistake(
        is_certain=True, text="no version", plant=_set("server", "version", None)
    ),
    "unknown-host": Mistake(is_certain=True, text="no host", plant=_set_field("has_host", False)),
    "session-part": Mistake(
        is_certain=True, text="three agents", plant=_set_field("session", {"parts": 3})
    ),
    "ephemeral-ports": Mistake(
        is_certain=True,
        text="2,001 local ports and no keep-alive",
        plant=_use_few_ports,
        needs=("elapsed_s",),
    ),
    "link-speed": Mistake(
        is_certain=True,
        text="a link as fast as the payload",
        plant=lambda upload, _draw: upload.facts["server"].update(nic_speed_mbit=0.01),
        needs=("transfer_rate_bytes_s",),
    ),
    "load-tool-cpu": Mistake(
        is_certain=True,
        text="the load tool used all of its threads",
        plant=lambda upload, _draw: upload.resources.update(client_cpu_s=5 * 6 * SECONDS),
        needs=("elapsed_s",),
    ),
    "client-cores": Mistake(
        is_certain=True,
        text="all cores of the client host busy",
        plant=_set("resources", "client_cpu_per_core", [0.99, 1.0, 0.98, 1.0]),
    ),
    "cpu-steal": Mistake(
        is_certain=True, text="30 % steal", plant=_set("resources", "client_cpu_steal", 0.3)
    ),
    "cpu-governor": Mistake(
        is_certain=True,
        text="a governor that saves power",
        plant=lambda upload, _draw: upload.facts["server"].update(cpu_governor="powersave"),
    ),
    "development-mode": Mistake(
        is_certain=True,
        text="NODE_ENV=development",
        plant=_set("server", "configuration", {"NODE_ENV": "development"}),
    ),
    "redirects": Mistake(
        text="2 to 60 % of the responses are 302",
        plant=answer(302, 0.02, 0.6),
        # These print what is below 400 as one count.
        fits=lambda tool: tool.name not in ("bombardier", "autocannon"),
        needs=("status_counts",),
    ),
    "client-fault": Mistake(
        is_certain=True,
        text="2 % of the attempts found no local port",
        edit=lambda trial: _lose_ports(trial, 0.02),
    ),
    "client-fault-few": Mistake(
        is_certain=True,
        text="0.5 % of the attempts found no local port",
        edit=lambda trial: _lose_ports(trial, 0.005),
    ),
    "contradicts-envelope": Mistake(
        is_certain=True,
        text="the envelope declares twice the connections",
        plant=lambda upload, _draw: upload.load.update(connections=2 * upload.trial.connections),
        fits=lambda tool: tool.name in ("ab", "wrk", "autocannon", "bombardier"),
    ),
    "not-as-asked": Mistake(
        is_certain=True,
        text="the envelope declares another path",
        plant=_set("workload", "path", "/other"),
        fits=lambda tool: tool.name in ("ab", "wrk", "autocannon", "bombardier"),
    ),
    "one-host": Mistake(
        is_certain=True,
        text="the load tool called 127.0.0.1",
        edit=lambda trial: replace(
            trial, evidence=replace(trial.evidence, url="http://127.0.0.1:8080/")
        ),
    ),
    "tool-disagrees": Mistake(
        is_certain=True,
        text="two totals differ",
        edit=lambda trial: replace(trial, disagreements=("Two totals differ.",)),
    ),
}
