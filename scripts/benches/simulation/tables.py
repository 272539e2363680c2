"""The tables: what is drawn for each row, and how many times."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from backend.stats.sample_size import MOST_ADVISED
from simulation import cells, draws, pages, winners
from simulation.grid import (
    CORRELATIONS,
    COUNTS,
    COUNTS_WITH_SLOW,
    DIFFERENCES,
    FEW,
    FINE,
    HISTORIES,
    KINDS,
    KINDS_OF_RUNS,
    KINDS_OF_UNLIKE_NOISE,
    MEAN_LOSSES,
    NOISE_OF_ROUNDED,
    NOISY,
    ORDERS,
    RUNS,
    RUNS_DIFFER_BY,
    SERIES,
    SHARED,
    SLOW_SHARES,
    SLOWER_BY,
    STARTS,
    TRUE,
    UNEVEN,
    Kind,
    in_words,
    of_kind,
)

KINDS_OF_PAGES = (*KINDS, *KINDS_OF_RUNS)
EQUAL_FIGURES = ("told apart %", "improved or regressed %", "ratio covers %", "figure covers %")
DESIGN_FIGURES = ("told apart %", "improved or regressed %", "without a reason %")
PAGE_FIGURES = ("rows told %", "improved or regressed %", "size uncertain %")

Cell = Callable[[np.random.Generator, int], list[str]]


@dataclass(frozen=True)
class Table:
    """`rows`: the labels of a row, how its figures are drawn, and how many times.

    Rows whose labels differ in the column `over` only are printed as one.
    """

    columns: Sequence[str]
    rows: Sequence[tuple[tuple[str, ...], Cell, int]]
    over: str = "n"


def _percent(share: float) -> str:
    return f"{share * 100:g} %"


def interval_table() -> Table:
    of_runs = Kind("runs differ by 3 %", KINDS_OF_RUNS[0].draw, RUNS)
    rows = [
        (
            (kind.label, in_words(runs)),
            partial(cells.interval_cell, draw=kind.draw, runs=runs),
            4000,
        )
        for kind in (*KINDS, FINE, NOISY, of_runs)
        for runs in kind.sizes
    ]
    return Table(("trials of", "n", "covers %", "half-width %", "t on all trials covers %"), rows)


def rounding_table() -> Table:
    rows = [
        ((label, in_words(runs)), partial(cells.rounding_cell, noise=noise, runs=runs), 2000)
        for label, noise in NOISE_OF_ROUNDED.items()
        for runs in COUNTS
    ]
    worst = ("covers at the worst %", "equal servers told apart at the worst %")
    return Table(("CV", "n", "covers on average %", *worst), rows)


def pair_table() -> Table:
    # A true difference of 3 % is what the aim of shared disturbances asks for.
    extra = ((of_kind(SHARED), 0.03), (UNEVEN, 0.0))
    return _pairs([*product((*KINDS, FINE), TRUE), *extra], "trials of", "n")


def slow_trial_table() -> Table:
    rows = [
        (
            (_percent(share), _percent(loss), in_words(runs)),
            partial(
                cells.equal_pair_cell,
                draw=partial(draws.draw_disturbed, noise=0.01, share=share, losses=(loss,)),
                runs=runs,
            ),
            4000,
        )
        for share, loss, runs in product(SLOW_SHARES, SLOWER_BY, COUNTS_WITH_SLOW)
    ]
    return Table(("slower trials", "by", "n", *EQUAL_FIGURES), rows)


def skew_table() -> Table:
    rows = [
        (
            (_percent(loss), in_words(runs)),
            partial(cells.equal_pair_cell, draw=partial(draws.draw_skewed, loss=loss), runs=runs),
            4000,
        )
        for loss, runs in product(MEAN_LOSSES, COUNTS_WITH_SLOW)
    ]
    return Table(("mean loss", "n", *EQUAL_FIGURES), rows)


def dependence_table() -> Table:
    rows = [
        (
            (f"{correlation:g}", in_words(runs)),
            partial(
                cells.dependence_cell,
                draw=partial(draws.draw_following, correlation=correlation),
                runs=runs,
            ),
            4000,
        )
        for correlation, runs in product(CORRELATIONS, COUNTS_WITH_SLOW)
    ]
    figures = ("told apart %", "improved or regressed %", "without a warning %", "warned of %")
    return Table(("correlation", "n", *figures), rows)


def history_table() -> Table:
    rows = [
        (
            (_percent(between), str(history)),
            partial(cells.history_cell, between=between, history=history),
            6000,
        )
        for between, history in product(RUNS_DIFFER_BY, HISTORIES)
    ]
    figures = ("told apart %", "improved or regressed %", "half-width %")
    return Table(("runs differ by", "runs of history", *figures), rows, "runs of history")


def start_table() -> Table:
    repeats = {2: 4000, 8: 1000}
    rows = [
        (
            (label, str(series), in_words(runs)),
            partial(
                cells.design_cell,
                draw=partial(draws.draw_starts, trials_of_each=trials),
                runs=runs,
                series=series,
            ),
            repeats[series],
        )
        for (label, trials, sizes), series in product(STARTS, repeats)
        for runs in sizes
    ]
    return Table(("starts", "series", "n", *DESIGN_FIGURES), rows)


def order_table() -> Table:
    rows = [
        (
            (label, in_words(runs)),
            partial(
                cells.design_cell,
                draw=partial(draws.draw_drift, in_turn=in_turn),
                runs=runs,
                series=2,
            ),
            4000,
        )
        for label, in_turn in ORDERS.items()
        for runs in COUNTS[:3]
    ]
    return Table(("order", "n", *DESIGN_FIGURES), rows)


def run_table() -> Table:
    return _pairs(product(KINDS_OF_RUNS, TRUE), "servers in", "trials")


def _pairs(kinds: Iterable[tuple[Kind, float]], label: str, size: str) -> Table:
    rows = [
        (
            (kind.label, _percent(true), in_words(runs)),
            partial(cells.pair_cell, draw=kind.draw, runs=runs, difference=true),
            4000,
        )
        for kind, true in kinds
        for runs in kind.sizes
    ]
    ours = ("told apart %", "improved or regressed %", "size uncertain %")
    return Table((label, "true", size, *ours, "Welch %", "Mann–Whitney %"), rows, size)


def page_table() -> Table:
    kinds = product((*KINDS_OF_PAGES, *KINDS_OF_UNLIKE_NOISE), SERIES)
    rows = [
        (
            (kind.label, str(series), in_words(runs)),
            partial(pages.equals_cell, draw=kind.draw, runs=runs, series=series),
            repeats,
        )
        for kind, series, repeats in (*((*each, 2000) for each in kinds), (FEW, 3, 8000))
        for runs in kind.sizes
    ]
    usual = ("Dunnett %", "Welch %", "pairs told %", "Games–Howell %")
    return Table(("trials of", "series", "n", *PAGE_FIGURES, *usual), rows)


def page_difference_table() -> Table:
    repeats = {8: 600, 16: 400, 40: 200}
    rows = [
        (
            (kind.label, _percent(true), str(series), in_words(runs)),
            partial(
                pages.differences_cell, draw=kind.draw, runs=runs, series=series, difference=true
            ),
            repeats[series],
        )
        for kind, true, series in product(KINDS_OF_PAGES, DIFFERENCES, SERIES)
        for runs in kind.sizes
    ]
    usual = ("Dunnett %", "pairs told %", "Games–Howell %")
    return Table(("trials of", "true", "series", "n", *PAGE_FIGURES, *usual), rows)


def winner_table() -> Table:
    sizes = ((2, 4000), (8, 2000), (16, 1000))
    rows = [
        (
            (noise, level, str(series), str(count)),
            partial(winners.winner_cell, series=series, count=count, level=level, noise=noise),
            repeats,
        )
        for noise, level in product(winners.NOISE_OF_PAGES, winners.LEVELS)
        for (series, repeats), count in product(sizes, (3, 5, 10))
    ]
    figures = ("another taken %", "the best taken %", "every place true %")
    return Table(("noise", "levels", "series", "n", *figures), rows)


def advice_table() -> Table:
    rows = [
        ((_percent(true), str(n)), partial(cells.advice_cell, count=n, difference=true), 500)
        for true, n in product((0.0, 0.03, 0.05, 0.10), (3, 5, 10))
    ]
    once = ("decided after it %", "wrong %")
    again = ("decided at last %", "wrong at last %")
    advised = ("advice: trials a side", f"more than {MOST_ADVISED} %")
    return Table(("true", "n", *advised, *once, *again), rows)


def two_stage_table() -> Table:
    rows = [
        ((str(n), f"± {_percent(half)}"), partial(cells.two_stage_cell, count=n, half=half), 4000)
        for n, half in product((3, 5, 10), (0.01, 0.02))
    ]
    columns = ("n", "asked for", "covers %", "t on all trials covers %", "trials")
    return Table(columns, rows)


def knee_table() -> Table:
    rows = [
        ((_percent(noise), str(n)), partial(cells.knee_cell, noise=noise, count=n), 500)
        for noise, n in product((0.01, 0.03, 0.10), (3, 5, 10))
    ]
    return Table(("CV", "n", "right %", "wrong %", "left open %"), rows)


def change_table() -> Table:
    noises = ((0.0, 0.0), (0.03, 0.0), (0.03, 0.3), (0.03, 0.6), (0.03, 0.8))
    rows = [
        (
            (str(positions), _percent(between), f"{correlation:g}"),
            partial(
                cells.change_cell, positions=positions, between=between, correlation=correlation
            ),
            400,
        )
        for positions, (between, correlation) in product((12, 20, 30), noises)
    ]
    shares = ("without a change %", "a step of 5 %: %", "of 10 %: %")
    return Table(("positions", "noise between", "correlation", *shares), rows, "positions")


TABLES: dict[str, Callable[[], Table]] = {
    "intervals": interval_table,
    "rounding": rounding_table,
    "pairs": pair_table,
    "slow-trials": slow_trial_table,
    "skew": skew_table,
    "dependence": dependence_table,
    "runs": run_table,
    "histories": history_table,
    "starts": start_table,
    "order": order_table,
    "pages": page_table,
    "page-differences": page_difference_table,
    "winners": winner_table,
    "advice": advice_table,
    "two-stage": two_stage_table,
    "saturation": knee_table,
    "changes": change_table,
}
