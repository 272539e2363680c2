"""The tables: what is drawn for each row, and how many times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from simulation import cells, draws, pages, winners

COUNTS = (3, 5, 10, 30)
NOISES = (0.02, 0.03, 0.10)
DIFFERENCES = (0.02, 0.05, 0.10, 0.30)
UNEQUAL_RUNS = (3, 2, 5, 20)

Cell = Callable[[np.random.Generator, int], list[str]]


@dataclass(frozen=True)
class Table:
    """`rows`: the labels of a row, how its figures are drawn, and how many times.

    Rows whose labels differ in the column `over` only are printed as one.
    """

    columns: Sequence[str]
    rows: Sequence[tuple[tuple[str, ...], Cell, int]]
    over: str = "n"


def interval_table() -> Table:
    rows: list[tuple[tuple[str, ...], Cell, int]] = []

    def add(label: str, count: object, draw: Callable[..., Any]) -> None:
        rows.append(((label, str(count)), partial(cells.interval_cell, draw=draw), 4000))

    for noise in NOISES:
        for count in COUNTS:
            add(f"CV {noise * 100:g} %", count, partial(draws.draw_run, noise=noise, count=count))
    for count in COUNTS:
        add(
            "10 % of trials disturbed",
            count,
            partial(draws.draw_disturbed, noise=0.03, count=count),
        )
    for count in COUNTS:
        add(
            "one run, runs differ by 3 %, its own level",
            count,
            partial(draws.draw_in_run, count=count),
        )
    for runs in ((5, 5, 5), (5, 5, 5, 5), UNEQUAL_RUNS):
        words = " + ".join(map(str, runs))
        draw = partial(draws.draw_runs, runs=runs)
        add(f"{words} trials, runs differ by 3 %, any run's level", sum(runs), draw)
    for noise in (0.005, 0.03, 0.10):
        for count in (5, 30):
            draw = partial(draws.draw_rounded, noise=noise, count=count)
            add(f"10 ms in whole ms, CV {noise * 100:g} %", count, draw)
    return Table(("trials of", "n", "covers %", "half-width %", "t on all trials covers %"), rows)


def pair_table() -> Table:
    rows: list[tuple[tuple[str, ...], Cell, int]] = []

    def add(label: str, true: float, count: int, draw: Callable[..., Any]) -> None:
        cell = partial(cells.pair_cell, draw=partial(draw, count=count, difference=true))
        rows.append(((label, f"{true * 100:g} %", str(count)), cell, 3000))

    for noise in NOISES:
        for true in (0.0, *DIFFERENCES):
            for count in COUNTS:
                add(f"CV {noise * 100:g} %", true, count, partial(draws.draw_pair, noise=noise))
    for true in (0.0, 0.03):
        for count in (3, 5, 10):
            draw = partial(draws.draw_pair, noise=0.01, shared=0.05)
            add("rounds share 5 %, CV 1 %", true, count, draw)
    for true in (0.0, 0.05):
        for count in (5, 10, 30):
            draw = partial(draws.draw_disturbed_pair, noise=0.03)
            add("10 % disturbed, CV 3 %", true, count, draw)
    ours = ("told apart %", "improved or regressed %", "size uncertain %")
    return Table(("trials of", "true", "n", *ours, "Welch %", "Mann–Whitney %"), rows)


def run_table() -> Table:
    rows: list[tuple[tuple[str, ...], Cell, int]] = []
    for kind, words in (
        ("different", "different runs"),
        ("own", "the same runs, effects of each server"),
        ("shared", "the same runs, shared effects"),
    ):
        for runs in ((5,), (5, 5, 5), (5, 5, 5, 5), UNEQUAL_RUNS):
            for true in (0.0, 0.05):
                cell = partial(cells.run_pair_cell, runs=runs, difference=true, kind=kind)
                labels = words, " + ".join(map(str, runs)), f"{true * 100:g} %"
                rows.append((labels, cell, 4000))
    return Table(
        ("servers in", "trials", "true", "told apart %", "Welch on all trials %"), rows, "trials"
    )


def page_table() -> Table:
    rows: list[tuple[tuple[str, ...], Cell, int]] = []
    for noise, true in (
        *((noise, 0.0) for noise in pages.NOISES),
        (pages.ALIKE, 0.05),
        (pages.ALIKE, 0.10),
    ):
        few = noise == pages.FEW_SERIES
        for series, repeats in ((3, 8000),) if few else ((8, 2000), (16, 1000), (40, 400)):
            for count in COUNTS if true == 0 else (3, 5, 10):
                cell = partial(
                    pages.page_cell, series=series, count=count, difference=true, noise=noise
                )
                rows.append(((noise, f"{true * 100:g} %", str(series), str(count)), cell, repeats))
    ours = ("rows told %", "improved or regressed %", "Dunnett %", "Welch %")
    pairs = ("pairs told %", "Games–Howell %")
    return Table(("noise", "true", "series", "n", *ours, *pairs), rows)


def winner_table() -> Table:
    rows: list[tuple[tuple[str, ...], Cell, int]] = []
    for noise in winners.NOISE_OF_PAGES:
        for level in winners.LEVELS:
            for series, repeats in ((2, 4000), (8, 2000), (16, 1000)):
                for count in (3, 5, 10):
                    cell = partial(
                        winners.winner_cell, series=series, count=count, level=level, noise=noise
                    )
                    rows.append(((noise, level, str(series), str(count)), cell, repeats))
    figures = ("another taken %", "the best taken %", "every place true %")
    return Table(("noise", "levels", "series", "n", *figures), rows)


def advice_table() -> Table:
    rows = [
        (
            (f"{true * 100:g} %", str(count)),
            partial(cells.advice_cell, count=count, difference=true),
            500,
        )
        for true in (0.0, 0.03, 0.05, 0.10)
        for count in (3, 5, 10)
    ]
    once = ("decided after it %", "wrong %")
    again = ("decided at last %", "wrong at last %")
    return Table(("true", "n", "advice: trials a side", *once, *again), rows)


def two_stage_table() -> Table:
    rows = [
        (
            (str(count), f"± {half * 100:g} %"),
            partial(cells.two_stage_cell, count=count, half=half),
            4000,
        )
        for count in (3, 5, 10)
        for half in (0.01, 0.02)
    ]
    columns = ("n", "asked for", "covers %", "t on all trials covers %", "trials")
    return Table(columns, rows)


def knee_table() -> Table:
    rows = [
        (
            (f"{noise * 100:g} %", str(count)),
            partial(cells.knee_cell, noise=noise, count=count),
            500,
        )
        for noise in (0.01, 0.03, 0.10)
        for count in (3, 5, 10)
    ]
    return Table(("CV", "n", "right %", "wrong %", "left open %"), rows)


def change_table() -> Table:
    rows: list[tuple[tuple[str, ...], Cell, int]] = []
    for positions in (12, 20, 30):
        for between, correlation in (
            (0.0, 0.0),
            (0.03, 0.0),
            (0.03, 0.3),
            (0.03, 0.6),
            (0.03, 0.8),
        ):
            cell = partial(
                cells.change_cell, positions=positions, between=between, correlation=correlation
            )
            rows.append(((str(positions), f"{between * 100:g} %", f"{correlation:g}"), cell, 400))
    shares = ("without a change %", "a step of 5 %: %", "of 10 %: %")
    return Table(("positions", "noise between", "correlation", *shares), rows, "positions")


TABLES: dict[str, Callable[[], Table]] = {
    "intervals": interval_table,
    "pairs": pair_table,
    "runs": run_table,
    "pages": page_table,
    "winners": winner_table,
    "advice": advice_table,
    "two-stage": two_stage_table,
    "saturation": knee_table,
    "changes": change_table,
}
