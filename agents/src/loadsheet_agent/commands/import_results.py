"""`loadsheet import techempower DIR`: upload the results of another benchmark project."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from loadsheet_agent.commands.delivery_report import deliver, delivery_json, delivery_text
from loadsheet_agent.commands.output import put, put_json, say
from loadsheet_agent.exits import Exit
from loadsheet_agent.imports.techempower import (
    Output,
    Results,
    file_name,
    read_results,
    workload_of,
)
from loadsheet_agent.upload.delivery import Delivery
from loadsheet_agent.upload.envelope import file_envelope
from loadsheet_agent.upload.spool import Entry, open_spool
from loadsheet_agent.upload.target import require_target

# At most so many are in one envelope; more are further runs.
TRIALS_PER_RUN = 4_000
# A run keeps at most so many remarks.
MOST_REMARKS = 1_000


def run(arguments: Namespace) -> Exit:
    target = require_target(arguments.url, arguments.token)
    say(f"Reading {arguments.directory}")
    results = read_results(Path(arguments.directory))
    parts = [part for each in results for part in _parts(each)]
    say(f"{sum(len(part.outputs) for part in parts)} trials in {len(parts)} runs")
    spool = open_spool(arguments.spool)
    worst, answers = Exit.OK, []
    for number, part in enumerate(parts, 1):
        entry = spool.create()
        _write(part, entry)
        delivery = deliver(entry, target, arguments.max_wait)
        _report(f"[{number}/{len(parts)}] {part.name}", part, entry.id, delivery, arguments.json)
        answers.append({**delivery_json(entry.id, delivery), "differences": part.differences})
        worst = max(worst, delivery.exit_code)
    if arguments.json:
        put_json({"exit_code": int(worst), "runs": answers})
    return worst


def _parts(results: Results) -> Iterator[Results]:
    """The results in runs that an envelope can hold; a framework is never divided."""
    part: list[Output] = []
    for outputs in _by_framework(results.outputs):
        if part and len(part) + len(outputs) > TRIALS_PER_RUN:
            yield Results(results.name, tuple(part), results.differences)
            part = []
        part += outputs
    if part:
        yield Results(results.name, tuple(part), results.differences)


def _by_framework(outputs: Sequence[Output]) -> list[list[Output]]:
    groups: dict[tuple[str, str], list[Output]] = {}
    for output in outputs:
        groups.setdefault((output.test, output.framework), []).append(output)
    return list(groups.values())


def _write(part: Results, entry: Entry) -> None:
    """Write the artefacts and the envelope of one run."""
    names = [file_name(output, number) for number, output in enumerate(part.outputs)]
    for name, output in zip(names, part.outputs):
        (entry.directory / name).write_text(output.text, encoding="utf-8")
    remarks = [{"kind": "import", "text": text} for text in part.differences[:MOST_REMARKS]]
    envelope: dict[str, Any] = {
        **file_envelope(entry.id),
        "run": {
            "labels": {"archive": "techempower", "results": part.name},
            **({"events": remarks} if remarks else {}),
        },
        "trials": [
            _trial(number, name, output)
            for number, (name, output) in enumerate(zip(names, part.outputs))
        ],
    }
    entry.commit(envelope, names)


def _trial(ordinal: int, name: str, output: Output) -> dict[str, Any]:
    return {
        "ordinal": ordinal,
        "artefacts": [name],
        "server": {"name": output.framework},
        "workload": workload_of(output),
        "command": list(output.command),
        "warmup": output.is_warmup,
        "phase": "warmup" if output.is_warmup else "measure",
    }


def _report(head: str, part: Results, upload_id: str, delivery: Delivery, as_json: bool) -> None:
    tell = say if as_json or delivery.exit_code is not Exit.OK else put
    tell(f"{head}: {len(part.outputs)} trials. {delivery_text(upload_id, delivery)}")
    if part.differences:
        first = part.differences[0]
        say(f"  {len(part.differences)} differences from results.json; the first: {first}")
