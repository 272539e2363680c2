"""`loadsheet observe --run ID`: on the server host, the server's resource use during a run."""

from __future__ import annotations

import time
from argparse import Namespace
from contextlib import suppress
from dataclasses import asdict

import psutil

from loadsheet_agent.commands.output import put, put_json, say
from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.host.clock import Offset
from loadsheet_agent.host.facts import read_host
from loadsheet_agent.run.observe import Observer, RunState, observe_until_end, send_remaining
from loadsheet_agent.run.sampling import Tree
from loadsheet_agent.upload.api_client import ApiClient, measure_offset
from loadsheet_agent.upload.target import Target, require_target


def run(arguments: Namespace) -> Exit:
    target = require_target(arguments.url, arguments.token)
    tree = _find_tree(arguments)
    client = ApiClient(target)
    run_state = RunState(client, arguments.run)
    state = run_state.read()
    if state is None:
        raise UsageError(
            f"{target.url} has no run {arguments.run} for this token; give the id in the link that "
            "`loadsheet run` prints."
        )
    observer = Observer(run_id=arguments.run, tree=tree, offset=_require_offset(target))
    subject = "the host alone" if tree is None else f"process {tree.pid} and its children"
    say(f"Observing {subject} for run {arguments.run} ({state}). Ctrl-C ends it.")
    host = asdict(read_host())
    with suppress(KeyboardInterrupt):
        observe_until_end(observer, run_state, client, host)
    lost = send_remaining(observer, client, host, arguments.max_wait, say, time.sleep)
    code = Exit.SPOOLED if lost else Exit.OK
    if arguments.json:
        put_json({"exit_code": int(code), "samples": observer.sent})
    if lost:
        say(f"{lost} samples were not sent ({client.last_failure}) and are lost.")
    else:
        put(f"Sent {observer.sent} samples: {target.url}/r/{arguments.run}")
    return code


def _require_offset(target: Target) -> Offset:
    offset = measure_offset(target)
    if offset is None:
        raise UsageError(
            f"{target.url} did not give its time, so samples could not be matched with trials; "
            "check the address and the token."
        )
    return offset


def _find_tree(arguments: Namespace) -> Tree | None:
    """The server's processes; None for the host alone."""
    if arguments.pid is not None and arguments.port is not None:
        raise UsageError("--pid and --port are given; keep one of them.")
    pid = arguments.pid if arguments.port is None else _find_listener(arguments.port)
    if pid is None:
        return None
    if not psutil.pid_exists(pid):
        raise UsageError(f"there is no process {pid} here; give the process id of the server.")
    return Tree(pid, itself=True)


def _find_listener(port: int) -> int:
    """The oldest process that listens on the port: the parent of a server's workers."""
    try:
        connections = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        raise UsageError(
            "the system does not show which process listens on the port; give --pid."
        ) from None
    pids = {
        connection.pid
        for connection in connections
        if connection.status == psutil.CONN_LISTEN
        and connection.laddr.port == port
        and connection.pid
    }
    if not pids:
        raise UsageError(
            f"no process was found that listens on port {port}; start the server, run this as its "
            "user, or give --pid."
        )
    return int(min(pids, key=lambda pid: psutil.Process(pid).create_time()))
