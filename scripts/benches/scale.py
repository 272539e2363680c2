"""scripts/bench scale: several machines without a shared disk, and what a trial weighs.

One machine plays two web machines, three worker machines and one beat, each with its own folders
and ports, around one PostgreSQL, one Valkey and a real S3 server. A web machine and a worker
machine are killed for good meanwhile. Then one, two and three workers read the same number of
uploads, and a run of many trials is weighed in tables, indexes and bucket. The exit status is 1
where an upload is lost or doubled. Figures of a shared machine: compare within one run.
"""

import argparse
import sys

from own_service import print_machine

from backend.testing.s3_server import MISSING, find_program
from backend.testing.scale import losses, reading, weighing
from backend.testing.scale.machines import Cluster
from backend.testing.supervised import open_folder


def main() -> int:
    given = _arguments()
    if find_program() is None:
        print(f"scripts/bench scale: {MISSING}", file=sys.stderr)
        return 2
    print_machine()
    plan = losses.Plan(
        uploads=given.uploads,
        limit_s=given.limit_s,
        say=lambda line: print(line, file=sys.stderr, flush=True),
    )
    with open_folder("loadsheet-scale-") as folder, Cluster(folder) as cluster:
        report = losses.run(cluster, plan)
        print(*losses.as_lines(report), sep="\n", flush=True)
        cluster.stop_machines()
        readings = reading.measure(
            cluster, uploads=given.read, rounds=given.rounds, seed=given.uploads
        )
        print(*readings.lines(), sep="\n", flush=True)
        print(*(weight.line for weight in weighing.weigh(cluster)), sep="\n", flush=True)
    broken = report.broken_promises
    print(*(f"BROKEN: {sentence}" for sentence in broken), sep="\n")
    return 1 if broken else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench scale", description=__doc__)
    parser.add_argument("--uploads", type=int, default=5000, help="sent while machines are killed")
    parser.add_argument("--read", type=int, default=400, help="uploads read in each round")
    parser.add_argument("--rounds", type=int, default=3, help="of one, two and three workers")
    parser.add_argument("--limit-s", type=float, default=1800, help="for the uploads")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
