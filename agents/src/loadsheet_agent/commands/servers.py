"""`loadsheet servers list|install|check`: the shelf, and whether its servers really run here."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loadsheet_agent.commands.output import put, put_json, say
from loadsheet_agent.errors import BrokenInstallError, NotInstalledError, UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.install.installer import Installer, cache_folder
from loadsheet_agent.plan.place import Place
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.reading import parse_plan
from loadsheet_agent.plan.shelf import APPS, CURRENT, Shelf, ShelfEntry, parse_use, shelf_folder
from loadsheet_agent.run.checkout import CHECKED, FAILED, SKIPPED, Checkout, check_server

PLAN = 'use = ["{use}"]\nshelf = {shelf!r}\n[[workloads]]\nname = "pages"\n'
MARKS = {CHECKED: "✓", SKIPPED: "-", FAILED: "✗"}


def run(arguments: Namespace) -> Exit:
    shelf = Shelf(shelf_folder(arguments.shelf, Path.cwd(), os.environ))
    if arguments.action == "list":
        return _list(shelf, arguments)
    if bool(arguments.names) == arguments.all:
        raise UsageError("give the names of servers, such as tornado@current, or --all.")
    wanted = list(_wanted(shelf, arguments))
    act = _install if arguments.action == "install" else _check
    checkouts = []
    for entry, version in wanted:
        checkout = act(shelf, entry, version)
        checkouts.append(checkout)
        if not arguments.json:
            put(_line(checkout))
    return _finish(checkouts, arguments)


def _wanted(shelf: Shelf, arguments: Namespace) -> Iterator[tuple[ShelfEntry, str]]:
    if arguments.all:
        for entry in shelf.entries():
            versions = tuple(entry.versions) or (CURRENT,)
            yield from ((entry, version) for version in versions)
        return
    for word in arguments.names:
        name, asked = parse_use(word, Place("names").at("name"))
        entry = shelf.entry(name)
        yield from ((entry, version) for version in entry.pick_versions(asked))


def _list(shelf: Shelf, arguments: Namespace) -> Exit:
    rows = [_row(entry) for entry in shelf.entries()]
    if arguments.json:
        put_json({"exit_code": 0, "servers": rows})
        return Exit.OK
    for row in rows:
        versions = ", ".join(row["versions"]) or f"not available: {row['unavailable']}"
        put(f"{row['name']:22} {row['title']}: {versions}")
    return Exit.OK


def _row(entry: ShelfEntry) -> dict[str, Any]:
    lost = entry.unavailable
    about = {"name": entry.name, "title": entry.title, "versions": entry.versions}
    if lost is not None:
        return {**about, "unavailable": lost.reason}
    spec = entry.spec
    more = {"style": spec.style, "language": spec.language, "licence": spec.licence}
    return {**about, **more, "unavailable": None}


def _install(shelf: Shelf, entry: ShelfEntry, version: str) -> Checkout:
    name = f"{entry.name}@{version}"
    plan = _plan(shelf, entry, version)
    try:
        Installer(cache_folder(), plan.directory, say).install(plan.servers[0], name)
    except BrokenInstallError as error:
        return Checkout(name, FAILED, str(error))
    except NotInstalledError as error:
        return Checkout(name, SKIPPED, str(error))
    return Checkout(name, CHECKED, "installed")


def _check(shelf: Shelf, entry: ShelfEntry, version: str) -> Checkout:
    checkout = _install(shelf, entry, version)
    if checkout.state is not CHECKED:
        return checkout
    return check_server(_plan(shelf, entry, version), entry.serves(version))


def _plan(shelf: Shelf, entry: ShelfEntry, version: str) -> Plan:
    """A plan of this server alone, with the services of the shelf where it needs one."""
    use = f"{entry.name}@{version}"
    text = PLAN.format(use=use, shelf=str(shelf.folder))
    if entry.server_table(version).get("services"):
        text = f'include = ["{APPS}/services.toml"]\n{text}'
    return parse_plan(text, name=use, directory=shelf.folder)


def _line(checkout: Checkout) -> str:
    return f"{MARKS[checkout.state]} {checkout.name}: {checkout.text}"


def _finish(checkouts: list[Checkout], arguments: Namespace) -> Exit:
    counts = {state: sum(each.state == state for each in checkouts) for state in MARKS}
    code = Exit.TRIALS_FAILED if counts[FAILED] else Exit.OK
    if arguments.json:
        rows = [vars(checkout) for checkout in checkouts]
        put_json({"exit_code": int(code), "servers": rows})
    else:
        say(", ".join(f"{count} {state}" for state, count in counts.items() if count) + ".")
    return code
