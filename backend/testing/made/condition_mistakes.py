"""Mistakes in the conditions of a trial: its source, its limits, the server and its machine."""

from dataclasses import replace

from numpy.random import Generator

from backend.testing.made.identity_mistakes import IDENTITY_MISTAKES
from backend.testing.made.mistakes import MISTAKES, TICK_US, Mistake, answer, offer_more
from backend.testing.made.uploads import MadeUpload


def _interrupt(upload: MadeUpload, draw: Generator) -> None:
    """What was answered until then is counted, and nothing is waited for."""
    trial, end_s = upload.trial, draw.uniform(1.5, 2.3)
    is_kept = trial.start_s + trial.latency_us / 1e6 <= end_s
    upload.trial = replace(
        trial,
        elapsed_s=end_s,
        start_s=trial.start_s[is_kept],
        latency_us=trial.latency_us[is_kept],
        status=trial.status[is_kept],
    )


CONDITION_MISTAKES: dict[str, Mistake] = {
    "published-figures": Mistake(
        is_certain=True,
        text="copied from a table",
        edit=lambda trial: replace(trial, publication="A table, 2011"),
    ),
    "request-limit": Mistake(
        is_certain=True,
        text="60 s were asked for, 50,000 requests were sent",
        plant=lambda upload, _draw: upload.load.update(duration_s=60.0),
        edit=lambda trial: replace(trial, requests_completed=50_000),
        fits=lambda tool: tool.name == "ab",
        needs=("elapsed_s",),
    ),
    "tick-rate": Mistake(
        is_certain=True,
        text="a request for each tick of 15.625 ms",
        edit=lambda trial: replace(trial, throughput_rps=1e6 / TICK_US),
        # The outputs of k6 and JMeter do not say whether the loop was closed.
        fits=lambda tool: not tool.is_open and tool.name not in ("k6", "JMeter CSV"),
    ),
    "compiling": Mistake(
        is_certain=True,
        text="4 s on PyPy",
        plant=lambda upload, _draw: upload.server.update(runtime="PyPy 7.3"),
        needs=("elapsed_s",),
    ),
    "closes-unannounced": Mistake(
        is_certain=True,
        text="a read error for each answer",
        edit=lambda trial: replace(
            trial,
            requests_completed=50_000,
            errors={**trial.errors, "read": 50_000 - (trial.connections or 0)},
        ),
        fits=lambda tool: tool.name == "wrk",
    ),
    "other-programs": Mistake(
        is_certain=True,
        text="70 % of the cores busy, by a load tool that used 6 %",
        plant=lambda upload, _draw: upload.resources.update(client_cpu_per_core=[0.7] * 4),
        needs=("watched_s",),
    ),
    "hung-server": Mistake(
        is_certain=True,
        text="the server does not answer after the trial",
        plant=lambda upload, _draw: upload.resources.update(server_answers_after=False),
    ),
    "not-2xx": Mistake(
        text="2 to 60 % of the responses are 500, printed as “Non-2xx”",
        plant=answer(500, 0.02, 0.6),
        fits=lambda tool: tool.name == "ab",
        needs=("not_2xx",),
    ),
    "no-answers": Mistake(
        is_certain=True,
        text="no request is answered",
        edit=lambda trial: replace(trial, requests_completed=0),
    ),
    "other-duration": Mistake(
        text="the load tool is stopped after 1.5 to 2.3 of 4 s",
        plant=_interrupt,
        needs=("elapsed_s",),
    ),
    "unsent": Mistake(
        text="5 to 100 % more requests were offered than sent",
        plant=offer_more,
        fits=lambda tool: tool.is_open,
        needs=("sent_share",),
    ),
    "answers-before-reading": Mistake(
        is_certain=True,
        text="a server that answers at once",
        plant=lambda upload, _draw: upload.server.update(
            configuration={"answers_before_reading": "yes"}
        ),
    ),
}
TRIAL_MISTAKES = MISTAKES | CONDITION_MISTAKES | IDENTITY_MISTAKES
