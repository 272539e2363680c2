"""scripts/bench watch: what the gate and the alert rules say of what labs measure, by simulation.

Builds of a known change are held against histories of a branch, once and again after each further
run; nights of a known change are watched by alert rules, in a database of its own. The functions
that judge are those of the service. Results go to watch.json, and its tables into docs/api.md and
docs/alerts.md. --quick draws a tenth and writes nothing; --parts measures some parts and keeps the
others of watch.json; --print only puts its tables into the pages. The exit status is 1 where an aim
is missed (watching/tables.py). Takes less than 10 minutes on a core that nothing else uses.
"""

import argparse
import json
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from own_tables import own_tables
from simulation.printing import put_tables

from backend import __version__
from backend.testing.offline import set_up_offline

RESULTS = Path(__file__).with_name("watch.json")
DOCS = Path(__file__).parents[2] / "docs"
SEED = 20_261_201
BUILDS = 500
CAMPAIGNS = {"unchanged": 2, "falls": 12, "halved": 4}
PARTS = ("builds", *CAMPAIGNS)


def measure(parts: Collection[str], share: float) -> dict[str, Any]:
    """The figures of these parts, by a share of the draws."""
    # Builds are judged without rows.
    with own_tables() if CAMPAIGNS.keys() & parts else offline():
        # They import models.
        from watching.builds import KINDS, measure_builds
        from watching.nights import watch_falls, watch_halved, watch_unchanged

        watches = {"unchanged": watch_unchanged, "falls": watch_falls, "halved": watch_halved}
        results: dict[str, Any] = {}
        if "builds" in parts:
            builds = round(BUILDS * share)
            results["builds"] = [measure_builds(kind, builds, SEED) for kind in KINDS]
        for name in filter(parts.__contains__, watches):
            count = max(round(CAMPAIGNS[name] * share), 2)
            results[name] = [_told(name, watches[name](at, SEED)) for at in range(count)]
        return results


@contextmanager
def offline() -> Iterator[None]:
    """Django without a database."""
    set_up_offline()
    yield


def _told(name: str, row: dict[str, Any]) -> dict[str, Any]:
    print(f"{name}: {row}", file=sys.stderr, flush=True)
    return row


def print_tables(results: dict[str, Any]) -> None:
    """Put the tables between their markers, `<!-- watch NAME -->` and `<!-- end -->`."""
    from watching.tables import builds_table, errors_table, nights_table

    source = (
        f"Measured by `scripts/bench watch` on {results['date']} (seed {results['seed']}, "
        f"Loadsheet {results['version']})."
    )
    builds, nights = results["builds"], nights_table(results)
    of_builds = f"{builds[0]['builds']} builds in each line. {source}"
    of_gate = {"builds": builds_table(builds), "errors": errors_table(builds), "source": of_builds}
    put_tables(DOCS / "api.md", "watch", of_gate)
    put_tables(DOCS / "alerts.md", "watch", {"nights": nights, "source": source})


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench watch", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws; writes nothing")
    parser.add_argument("--print", action="store_true", help="only print watch.json into the pages")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    options = parser.parse_args()
    measured = {}
    if options.print:
        set_up_offline()
    else:
        measured = measure(options.parts, 0.1 if options.quick else 1.0)
    # Only what was measured may be new: another part may have been written meanwhile.
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results = kept | measured
    if measured and not options.quick:
        results |= {"seed": SEED, "date": datetime.now(UTC).date().isoformat()}
        results |= {"version": __version__}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    if missing := set(PARTS) - results.keys():
        sys.exit(f"not measured yet: {', '.join(sorted(missing))}")
    from watching.tables import builds_table, errors_table, missed, nights_table

    print(builds_table(results["builds"]), errors_table(results["builds"]), sep="\n\n")
    print(nights_table(results))
    if not options.quick:
        print_tables(results)
    aims = list(missed(results))
    print(*(f"MISSED: {each}" for each in aims), sep="\n")
    return 1 if aims else 0


if __name__ == "__main__":
    sys.exit(main())
