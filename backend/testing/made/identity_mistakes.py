"""Mistakes to plant in a made upload: figures that do not hold together, and parts."""

from dataclasses import replace

from backend.runs.checks.identities import ONE_AT_A_TIME, SAMPLED_RATES
from backend.testing.made.figures import PrintedFigures
from backend.testing.made.mistakes import Mistake, change_figures, prints_figures, raise_rate


def _double_mean(figures: PrintedFigures) -> None:
    figures.mean_us *= 2


IDENTITY_MISTAKES: dict[str, Mistake] = {
    "impossible-throughput": Mistake(
        text="the printed rate is 20 % higher than the counts",
        plant=change_figures(raise_rate),
        fits=lambda tool: prints_figures(tool) and tool.name not in SAMPLED_RATES,
        needs=("reported_rps", "elapsed_s", "attempts_most"),
    ),
    "impossible-load": Mistake(
        text="the mean latency is twice what it was",
        plant=change_figures(_double_mean),
        fits=lambda tool: prints_figures(tool) and tool.name in ONE_AT_A_TIME,
        needs=("throughput_rps", "connections"),
    ),
    "impossible-counts": Mistake(
        is_certain=True,
        text="the output has one status code more than requests",
        needs=("attempts_most",),
        edit=lambda trial: replace(trial, status_counts={"200": (trial.attempts_most or 0) + 1}),
    ),
    "partial-samples": Mistake(
        is_certain=True,
        text="the files hold rows of a part of the requests",
        edit=lambda trial: replace(trial, partial_samples="The rows hold 40 of 900 requests."),
    ),
}
