"""scripts/bench upgrade [--from REV]: an upgrade while work waits.

Starts the service of REV from a worktree of its own. A person signs up there and leaves work
behind: uploads that nobody has read, one that is half read, a run to judge, a message to send, an
archive to write, an image to draw, tasks of the clock. Then this tree starts on the same data and
the same broker. Prints a line for each thing that must have survived. The exit status is 1 where
one is missing.
"""

import argparse
import contextlib
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import redis

from backend.config.recovery.embedded import Valkey, free_port
from backend.testing.left_behind import SETTINGS, LeftBehind, NotAccepted, Receiver
from backend.testing.supervised import ROOT, SupervisedSite, open_folder

A_DAY_S = 24 * 3600
FAULT = re.compile(r'"level": "(error|critical)"|Traceback|nregistered task|decode message')
TOO_SHORT = "Is the history too short? `git fetch --unshallow` fetches all of it."


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench upgrade", description=__doc__)
    help_ = "the commit to upgrade; without it, the newest that is a day older than the last one"
    parser.add_argument("--from", dest="rev", metavar="REV", help=help_)
    rev = parser.parse_args().rev or _day_before()
    _say(_git("log", "-1", "--format=from %h of %ci: %s", rev, "--"))
    # The worktree is removed then too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with open_folder("loadsheet-upgrade-") as folder, _worktree(folder / "tree", rev) as tree:
        try:
            left = _upgrade(folder, tree)
        except NotAccepted as refused:
            sys.exit(f"No upgrade was tried. {refused} Give another commit with --from.")
    print(*left.faults[:20], sep="\n")
    return 1 if left.missing else 0


def _say(line: str) -> None:
    print(line, flush=True)


def _day_before() -> str:
    """The newest commit that is a day older than HEAD, else its parent."""
    before_s = int(_git("log", "-1", "--format=%ct")) - A_DAY_S
    older = _git("rev-list", "-1", f"--before={before_s}", "HEAD")
    return older or _git("rev-parse", "--verify", "HEAD~1")


def _git(*words: str) -> str:
    """What it prints; raises SystemExit where it fails."""
    command = ["git", "-C", str(ROOT), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"git {' '.join(words)}: {done.stderr.strip()} {TOO_SHORT}")
    return done.stdout.strip()


@contextlib.contextmanager
def _worktree(tree: Path, rev: str) -> Iterator[Path]:
    _git("worktree", "add", "--detach", str(tree), rev)
    try:
        yield tree
    finally:
        _git("worktree", "remove", "--force", str(tree))


def _upgrade(folder: Path, tree: Path) -> LeftBehind:
    """From the tree to this one. The broker outlives both, as that of Compose does."""
    data, port, receiver_port, broker = folder / "data", free_port(), free_port(), Valkey(folder)
    settings = {"REDIS_URL": broker.url, "WEBHOOKS": "any"}
    try:
        broker.start(folder / "broker.log")
        client = redis.Redis.from_url(broker.url)
        receiver_url = f"http://127.0.0.1:{receiver_port}/"
        left = LeftBehind(f"http://127.0.0.1:{port}", client, receiver_url, _say)
        with _running(SupervisedSite(data, port, {**settings, **SETTINGS}, tree=tree)) as site:
            left.leave(site)
        sizes = {log: log.stat().st_size for log in (data / "logs").glob("[wb]*.log")}
        with _running(SupervisedSite(data, port, settings)):
            receiver = ThreadingHTTPServer(("127.0.0.1", receiver_port), Receiver)
            threading.Thread(target=receiver.serve_forever, daemon=True).start()
            left.expect()
        for log, size in sizes.items():
            lines = log.read_bytes()[size:].decode(errors="replace").splitlines()
            left.faults += [f"{log.name}: {line[:600]}" for line in lines if FAULT.search(line)]
        left.demand("no answer of 5xx, no fault in a log", lambda: not left.faults, 0)
        return left
    finally:
        broker.stop()


@contextlib.contextmanager
def _running(site: SupervisedSite) -> Iterator[SupervisedSite]:
    began = time.monotonic()
    try:
        site.wait()
        _say(f"{site.tree} runs after {time.monotonic() - began:.0f} s")
        yield site
    finally:
        site.stop()


if __name__ == "__main__":
    sys.exit(main())
