"""Mistakes in the conditions of a trial: its source, its limits, the server and its machine."""

from dataclasses import replace

from backend.testing.made.mistakes import MISTAKES, TICK_US, Mistake, answer

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
    "answers-before-reading": Mistake(
        is_certain=True,
        text="a server that answers at once",
        plant=lambda upload, _draw: upload.server.update(
            configuration={"answers_before_reading": "yes"}
        ),
    ),
}
TRIAL_MISTAKES = MISTAKES | CONDITION_MISTAKES
