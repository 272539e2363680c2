"""A results tree as large as the archive of 2013 in the library: 2,133 raw files, 16,000 outputs.

The load tool's outputs are made here, each with other figures. A folder of results is a run.
"""

from itertools import islice, product
from pathlib import Path

from backend.testing.delivery_checks import Aim, run_agent

FOLDERS, FRAMEWORKS = 5, 72
TESTS = ("json", "db", "query", "fortune", "update", "plaintext")
FILES, OUTPUTS = 2_133, 16_000
# A tree that is given may have all rounds of years.
IMPORT_LIMIT_S = 24 * 3600.0
RULE = "-" * 57
# Primer and warm-up come before the levels of connections.
WARM_UPS = ("Running Primer", "Running Warmup")


def make_tree(root: Path, *, files: int = FILES, outputs: int = OUTPUTS) -> None:
    """Write so many raw files with so many outputs in all, as TechEmpower's tool-set wrote them."""
    places = product(range(FOLDERS), TESTS, range(FRAMEWORKS))
    for number, (folder, test, framework) in enumerate(islice(places, files)):
        name = f"framework-{framework}"
        path = root / f"run-{folder}" / test / name / "raw"
        path.parent.mkdir(parents=True)
        count = (number + 1) * outputs // files - number * outputs // files
        path.write_text("".join(_output(name, level, number) for level in range(count)))


def _output(framework: str, level: int, file_number: int) -> str:
    connections = 2**level * 4
    levels = [*WARM_UPS, f"Concurrency: {connections} for"]
    title = f"{levels[min(level, len(WARM_UPS))]} {framework}"
    requests = 10_000 + 977 * level + file_number
    command = f"wrk -H 'Connection: keep-alive' -d 15 -c {connections} -t 8 http://host:8080/json"
    return (
        f"{RULE}\n {title}\n {command}\n{RULE}\n\n"
        "Running 15s test @ http://host:8080/json\n"
        f"  8 threads and {connections} connections\n"
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"
        "    Latency     1.20ms  624.28us  18.56ms   91.04%\n"
        "    Req/Sec    27.75k     2.25k   40.00k    69.71%\n"
        f"  {requests} requests in 15.00s, 1.00MB read\n"
        f"Requests/sec: {requests / 15:.2f}\nTransfer/sec:     68.27KB\n\n"
    )


def import_tree(root: Path, url: str, token: str, spool: Path) -> None:
    """What `loadsheet import techempower` does, by another process, which must succeed."""
    words = ("import", "techempower", root)
    done = run_agent(Aim(url, token), spool, *words, timeout_s=IMPORT_LIMIT_S)
    assert done.returncode == 0, done.stderr
