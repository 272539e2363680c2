"""scripts/bench truth: how often the statistics say what is true, by simulation.

Trials are drawn with a known truth, and judged by the functions that the service uses. Beside them
stand the usual tests on the same trials: Welch's t, Mann-Whitney's U, Dunnett's and Games-Howell's.
Each cell has a seed of its own. Results go to truth.json, and its tables into docs/statistics.md.
--quick draws a tenth and writes nothing; --missing draws only the rows that truth.json lacks;
--print only puts the tables of truth.json into the page. The exit status is 1 where an aim is
missed that no decision record argues (simulation/aims.py).
"""

import argparse
import json
import platform
import sys
import zlib
from datetime import UTC, datetime
from multiprocessing import Pool
from multiprocessing.pool import Pool as Workers
from pathlib import Path
from typing import Any

import numpy as np
from simulation.aim_table import summary
from simulation.aims import unargued
from simulation.printing import as_table, put_tables
from simulation.tables import TABLES

from backend import __version__

RESULTS = Path(__file__).with_name("truth.json")
PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"
SEED = 20_261_122
WORKERS = 2


def measure(work: tuple[str, int, float]) -> list[str]:
    """The figures of a row of a table, with a share of its draws."""
    name, row, share = work
    labels, cell, repeats = TABLES[name]().rows[row]
    seed = zlib.crc32(" ".join((name, *labels)).encode())
    return [*labels, *cell(np.random.default_rng((SEED, seed)), max(int(repeats * share), 20))]


def as_markdown(table: dict[str, Any]) -> str:
    """A table in which rows that differ in one label only are one: figures are `a / b / c`."""
    columns, over = table["columns"], table["columns"].index(table["over"])
    merged: dict[tuple[str, ...], list[list[str]]] = {}
    for row in table["rows"]:
        key = tuple(cell for place, cell in enumerate(row[: table["labels"]]) if place != over)
        merged.setdefault(key, []).append(row)
    return as_table(columns, map(_joined, merged.values()))


def _joined(rows: list[list[str]]) -> list[str]:
    cells = zip(*rows, strict=True)
    return [cell[0] if len(set(cell)) == 1 else " / ".join(cell) for cell in cells]


def print_tables(results: dict[str, Any]) -> None:
    """Put each table between its markers, `<!-- truth NAME -->` and `<!-- end -->`."""
    tables = {"aims": summary(results["tables"]), **results["tables"]}
    bodies = {name: as_markdown(table) for name, table in tables.items()}
    bodies["source"] = (
        f"Seed {results['seed']}, {results['date']}, Loadsheet {results['version']}, "
        f"Python {results['python']}, numpy {results['numpy']}."
    )
    put_tables(PAGE, "truth", bodies)


def measure_table(name: str, share: float, kept: list[list[str]], pool: Workers) -> dict[str, Any]:
    """A table with its figures. `kept`: rows that are taken as they were measured."""
    table = TABLES[name]()
    by_labels = {tuple(row[: len(table.rows[0][0])]): row for row in kept}
    works = [
        (name, place, share)
        for place, (labels, _, _) in enumerate(table.rows)
        if labels not in by_labels
    ]
    by_labels |= {
        table.rows[place][0]: row
        for (_, place, _), row in zip(works, pool.map(measure, works, chunksize=1), strict=True)
    }
    return {
        "columns": list(table.columns),
        "labels": len(table.rows[0][0]),
        "over": table.over,
        "rows": [by_labels[labels] for labels, _, _ in table.rows],
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench truth", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws; writes nothing")
    parser.add_argument("--missing", action="store_true", help="only rows that truth.json lacks")
    parser.add_argument("--print", action="store_true", help="only print truth.json into the page")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    options = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"tables": {}}
    if options.print:
        print_tables(results)
        return 0
    share = 0.1 if options.quick else 1.0
    with Pool(WORKERS) as pool:
        for name in options.tables:
            kept = results["tables"].get(name, {}).get("rows", []) if options.missing else []
            result = measure_table(name, share, kept, pool)
            results["tables"][name] = result
            print(f"\n{name}\n{as_markdown(result)}", flush=True)
    if not options.quick:
        results |= {"seed": SEED, "date": datetime.now(UTC).date().isoformat()}
        results |= {"version": __version__, "python": platform.python_version()}
        results |= {"numpy": np.__version__}
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        print_tables(results)
    missed = [] if options.quick else unargued(results["tables"])
    print(*(f"MISSED: {' · '.join(place)}" for place in missed), sep="\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
