"""The files and the envelope of each run of a study, as an agent would send them."""

import hashlib
import json
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.library.study import Outputs, Study, StudyRun, repeat_of
from backend.runs.registry.identity import canonical_json

# Our own run of a study's plan as the agent kept it: the envelope and every output.
TODAY_FILE, ENVELOPE = "today.zip", "envelope.json"
# The label `part` of this run, which also names its panel.
TODAY = "Old and current versions today"
# Ids of the library's runs are made from their content: equal content is loaded once.
NAMESPACE = uuid.UUID("6f0b7f2e-1f0c-4c5e-9a37-6a1f4a0e2005")


@dataclass(frozen=True, slots=True)
class Parcel:
    """One upload: its envelope, and the bytes of each file by name."""

    id: uuid.UUID
    envelope: Mapping[str, Any]
    files: Mapping[str, bytes]


def parcel_of(study: Study, run: StudyRun) -> Parcel:
    """The upload of a run. Its id changes with its content."""
    return _parcel({**_head(study, run), **_trials(study, run)}, dict(_files(study, run)))


def today_parcel(study: Study) -> Parcel | None:
    """The upload of today's run of a study; None if it has none."""
    path = study.folder / TODAY_FILE
    if not path.exists():
        return None
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    envelope = json.loads(files.pop(ENVELOPE))
    run = {**envelope["run"], "labels": {"study": study.name, "part": TODAY}}
    return _parcel({**envelope, "run": run}, files)


def _parcel(envelope: Mapping[str, Any], files: Mapping[str, bytes]) -> Parcel:
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    content = canonical_json({"envelope": envelope, "files": hashes}).decode()
    id_ = uuid.uuid5(NAMESPACE, content)
    return Parcel(id_, {**envelope, "id": str(id_)}, files)


def _head(study: Study, run: StudyRun) -> dict[str, Any]:
    labels = {"study": study.name, "part": run.name}
    head: dict[str, Any] = {"schema": 1, "run": {"labels": labels}}
    if run.hosts:
        head["hosts"] = run.hosts
    if run.same_host is not None:
        head["same_host"] = run.same_host
    return head


def _files(study: Study, run: StudyRun) -> Iterator[tuple[str, bytes]]:
    for table in run.tables:
        yield table, (study.folder / table).read_bytes()
    for outputs in run.outputs:
        for path in outputs.paths(study):
            yield _artefact_name(outputs, path), path.read_bytes()


def _artefact_name(outputs: Outputs, path: Path) -> str:
    return f"{outputs.folder}-{path.name}"


def _trials(study: Study, run: StudyRun) -> dict[str, Any]:
    """The trials of outputs; a table lists its trials itself."""
    pairs = [(outputs, path) for outputs in run.outputs for path in outputs.paths(study)]
    trials = [
        {
            "ordinal": ordinal,
            "artefacts": [_artefact_name(outputs, path)],
            "server": outputs.server,
            "workload": {**run.workload, **outputs.workload},
            "load": {**run.load, **outputs.load},
            "repeat": repeat_of(path),
        }
        for ordinal, (outputs, path) in enumerate(pairs)
    ]
    return {"trials": trials} if trials else {}
