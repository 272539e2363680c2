"""scripts/bench truth: how often the statistics say what is true, by simulation.

Trials are drawn with a known truth, and judged by the functions that the service uses. Beside them
stand the usual tests on the same trials: Welch's t, Mann-Whitney's U, Dunnett's and Games-Howell's.
Each cell has a seed of its own. Results go to truth.json, and its tables into docs/statistics.md.
--quick draws a tenth and writes nothing; --print only puts the tables of truth.json into the page.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import zlib
from datetime import UTC, datetime
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
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
    lines = [columns, ["---"] * len(columns), *map(_joined, merged.values())]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _joined(rows: list[list[str]]) -> list[str]:
    cells = zip(*rows, strict=True)
    return [cell[0] if len(set(cell)) == 1 else " / ".join(cell) for cell in cells]


def print_tables(results: dict[str, Any]) -> None:
    """Put each table between its markers, `<!-- truth NAME -->` and `<!-- end -->`."""
    text = PAGE.read_text()
    for name, table in results["tables"].items():
        body = as_markdown(table)
        pattern = rf"(<!-- truth {name} -->\n).*?(<!-- end -->)"
        text = re.sub(
            pattern, lambda match, body=body: f"{match[1]}{body}\n{match[2]}", text, flags=re.S
        )
    source = f"Seed {results['seed']}, {results['date']}, Loadsheet {results['version']}, " + (
        f"Python {results['python']}, numpy {results['numpy']}."
    )
    pattern = r"(<!-- truth source -->\n).*?(<!-- end -->)"
    text = re.sub(pattern, lambda match: f"{match[1]}{source}\n{match[2]}", text, flags=re.S)
    PAGE.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/bench truth", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws; writes nothing")
    parser.add_argument("--print", action="store_true", help="only print truth.json into the page")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    options = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"tables": {}}
    if options.print:
        print_tables(results)
        return
    share = 0.1 if options.quick else 1.0
    with Pool(WORKERS) as pool:
        for name in options.tables:
            table = TABLES[name]()
            works = [(name, row, share) for row in range(len(table.rows))]
            result = {
                "columns": list(table.columns),
                "labels": len(table.rows[0][0]),
                "over": table.over,
                "rows": pool.map(measure, works, chunksize=1),
            }
            results["tables"][name] = result
            print(f"\n{name}\n{as_markdown(result)}", flush=True)
    if not options.quick:
        results |= {"seed": SEED, "date": datetime.now(UTC).date().isoformat()}
        results |= {"version": __version__, "python": platform.python_version()}
        results |= {"numpy": np.__version__}
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        print_tables(results)


if __name__ == "__main__":
    main()
