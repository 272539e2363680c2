"""What scripts/test does once everything is installed: services, pytest, vitest, one total."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from repeating import busy_loops, repeat

from backend.config.recovery.embedded import Postgres, Valkey
from backend.testing.chromium import find_chromium
from backend.testing.pooler import Pooler

# Pure and short ones: no database, no browser, no process of ours.
UNIT = "not (browser or chaos or processes or database or long)"
ROOT = Path(__file__).resolve().parent.parent
CORES = os.cpu_count() or 1
# Two more than cores: many tests wait for processes. Each has a database.
PROCESSES = min(CORES + 2, 8)
# Pure tests wait for nothing, and each process collects all tests before it begins.
UNIT_PROCESSES = min(CORES, 8)
# What the tests write ends with them. Tests of what survives a kill start servers of their own.
NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
# In each process a test may send from fifty threads at once.
CONNECTIONS = {"max_connections": "500"}


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="loadsheet-test-") as folder:
        data = Path(folder)
        data.chmod(0o755)
        if sys.argv[1:] not in ([], ["--unit"]):
            return run_pytest(data)
        # Where pytest cannot begin, the block ends with vitest: its log lies in the folder.
        with start_vitest(data) as vitest:
            python = run_pytest(data)
            node = finish_vitest(vitest, data)
    return python or node


def run_pytest(data: Path) -> int:
    own, arguments = own_options().parse_known_args()
    browser = None if own.unit else find_chromium()
    services = make_services(data, is_pooled=own.pooler)
    try:
        for service in services:
            service.start(data / "service.log")
        environment = test_environment(data, services, browser)
        if own.pooler:
            # A pooler still holds sessions when the tests would drop their databases.
            arguments += ["--reuse-db"]
        if own.unit:
            arguments += ["-m", UNIT]
        command = [sys.executable, "-m", "pytest", *workers(arguments, is_unit=own.unit)]
        with busy_loops(own.beside):
            if own.repeat == 1:
                return run(command, environment)
            return repeat(own.repeat, data, lambda more: run([*command, *more], environment))
    finally:
        for service in reversed(services):
            service.stop()


def own_options() -> argparse.ArgumentParser:
    """All others are those of pytest."""
    parser = argparse.ArgumentParser("scripts/test", add_help=False, allow_abbrev=False)
    parser.add_argument("--unit", action="store_true")
    parser.add_argument("--pooler", action="store_true")
    parser.add_argument("--repeat", type=int, choices=range(1, 1001), default=1, metavar="1…1000")
    parser.add_argument("--beside", type=int, choices=range(65), default=0, metavar="0…64")
    return parser


def make_services(data: Path, *, is_pooled: bool) -> list[Postgres | Valkey | Pooler]:
    postgres = Postgres(data, settings={**NOT_DURABLE, **CONNECTIONS})
    poolers = [Pooler(postgres)] if is_pooled else []
    return [postgres, Valkey(data), *poolers]


def workers(arguments: list[str], *, is_unit: bool) -> list[str]:
    """Tests of a file start in one process; one that is idle takes from the others."""
    if any(word.startswith("-n") for word in arguments):
        return arguments
    count = UNIT_PROCESSES if is_unit else PROCESSES
    return [f"-n{count}", "--dist=worksteal", *arguments]


def test_environment(
    data: Path, services: list[Postgres | Valkey | Pooler], browser: str | None
) -> dict[str, str]:
    postgres, valkey, *poolers = services
    return {
        **os.environ,
        "SECRET_KEY": "only for tests 0123456789 abcdefghij klmnopqrst uvwxyz",
        "TOKEN_PEPPER": "only for tests too 0123456789 abcdefghij klmnopqrst uvwxyz",
        "DATABASE_URL": (poolers or [postgres])[0].url,
        "DATABASE_POOLER": "transaction" if poolers else "none",
        "REDIS_URL": valkey.url,
        "DATA_DIR": str(data / "files"),
        "SITE_TEMPLATE": str(data / "site-template"),
        "CHROMIUM": browser or "",
        # Without a token every test asks from the same address.
        "REQUESTS_PER_MINUTE": "1000000",
        # Every test signs in from the same address; the tests of the limit set their own.
        "FAILED_SIGN_INS_PER_HOUR": "1000000",
        "FAILED_SIGN_INS_PER_ACCOUNT": "1000000",
        "FAILED_SIGN_INS_IN_NEW_BROWSERS": "1000000",
        "LEAK_REPORTS_PER_MINUTE": "1000000",
        "REPORTS_PER_HOUR": "1000000",
        # Hundreds of processes start: each would compile every module that it imports.
        "PYTHONDONTWRITEBYTECODE": "",
        # The tests run on a nearly full disk too; those of the limit set their own.
        "LEAST_FREE_PERCENT": "0",
        "LEAST_FREE_BYTES": "0",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }


def run(command: list[str], environment: dict[str, str]) -> int:
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def start_vitest(data: Path) -> subprocess.Popen[bytes]:
    """Beside pytest, whose processes wait for a fifth of their time."""
    command = ["npm", "run", "--silent", "test"]
    with (data / "vitest.log").open("wb") as out:
        return subprocess.Popen(command, cwd=ROOT / "frontend", stdout=out, stderr=out)


def finish_vitest(vitest: subprocess.Popen[bytes], data: Path) -> int:
    """What it said comes after what pytest said."""
    status = vitest.wait()
    print((data / "vitest.log").read_text(), flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
