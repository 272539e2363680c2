"""`loadsheet observe --run ID`: on the server host, what the server uses while it is measured."""

from __future__ import annotations

import time
from argparse import Namespace
from contextlib import suppress
from dataclasses import asdict

import psutil

from loadsheet_agent.commands import common
from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.host.clock import Offset
from loadsheet_agent.host.facts import read_host
from loadsheet_agent.run.observe import Observer, Watch, deliver_all
from loadsheet_agent.run.sampling import Tree
from loadsheet_agent.upload.api_client import Line, measure_offset
from loadsheet_agent.upload.delivery import Target

ENDED = ("finished", "stopped", "interrupted")


def run(arguments: Namespace) -> Exit:
    target = common.read_target(arguments)
    if target is None:
        raise UsageError("no address is given; set LOADSHEET_URL, or run `loadsheet login URL`.")
    tree = _tree(arguments)
    line = Line(target)
    watch = Watch(line, arguments.run)
    state = watch.state()
    if state is None:
        raise UsageError(
            f"{target.url} knows no run {arguments.run} for this token; give the id of the link "
            "that `loadsheet run` prints."
        )
    observer = Observer(run_id=arguments.run, tree=tree, offset=_offset(target))
    what = "the host alone" if tree is None else f"process {tree.pid} and its children"
    common.say(f"Observing {what} for run {arguments.run} ({state}). Ctrl-C ends it.")
    with suppress(KeyboardInterrupt):
        _look(observer, watch, line)
    host = asdict(read_host())
    left = deliver_all(observer, line, host, arguments.max_wait, common.say, time.sleep)
    if arguments.json:
        common.put_json(
            {"exit_code": int(Exit.SPOOLED if left else Exit.OK), "samples": observer.sent}
        )
    if left:
        common.say(f"{left} samples were not taken ({line.why}) and are lost.")
        return Exit.SPOOLED
    common.put(f"Sent {observer.sent} samples: {target.url}/r/{arguments.run}")
    return Exit.OK


def _look(observer: Observer, watch: Watch, line: Line) -> None:
    """Until the run has ended, or Ctrl-C; what is seen is sent every now and then."""
    host = asdict(read_host())
    while watch.state() not in ENDED:
        for _ in range(watch.looks_between):
            observer.look()
            time.sleep(observer.interval_s)
        observer.send(line, host, least=observer.chunk)


def _offset(target: Target) -> Offset:
    offset = measure_offset(target)
    if offset is None:
        raise UsageError(
            f"{target.url} does not tell the time, so nothing seen here could be matched with the "
            "trials; check the address and the token."
        )
    return offset


def _tree(arguments: Namespace) -> Tree | None:
    if arguments.pid is not None and arguments.port is not None:
        raise UsageError("--pid and --port are given; one of them says which process it is.")
    pid = arguments.pid if arguments.port is None else _listener(arguments.port)
    if pid is None:
        return None
    if not psutil.pid_exists(pid):
        raise UsageError(f"there is no process {pid} here; give that of the server.")
    return Tree(pid, itself=True)


def _listener(port: int) -> int:
    """The oldest process that listens on the port: the parent of a server's workers."""
    try:
        found = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        raise UsageError(
            "the system does not tell which process listens there; give --pid."
        ) from None
    pids = {
        each.pid
        for each in found
        if each.status == psutil.CONN_LISTEN and each.laddr.port == port and each.pid
    }
    if not pids:
        raise UsageError(
            f"no process is seen to listen on port {port}; start the server, run this as its "
            "user, or give --pid."
        )
    return int(min(pids, key=lambda pid: psutil.Process(pid).create_time()))
