#!/usr/bin/env python3
"""Keeps a run of a study's plan in the library: scripts/keep_today.py STUDY SPOOL_ENTRY.

SPOOL_ENTRY is the folder of a finished run in the agent's spool, made without an address:

    loadsheet run agents/plans/STUDY.toml --short --spool DIR

The envelope is kept whole but for the names of this machine: its host name, and the folders in
which the agent and its servers lie.
"""

import json
import re
import socket
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STUDIES = ROOT / "backend" / "library" / "studies"
HOST = "virtual machine with 2 CPUs"
# A fixed date makes equal content equal bytes.
DATE = (2026, 1, 1, 0, 0, 0)


def main() -> int:
    study, entry = sys.argv[1], Path(sys.argv[2])
    envelope = json.loads((entry / "envelope.json").read_text())
    if envelope["run"]["interrupted"]:
        sys.stderr.write("The run is not finished. Finish it with --resume.\n")
        return 1
    names = [name for trial in envelope["trials"] for name in trial["artefacts"]]
    path = STUDIES / study / "today.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        text = json.dumps(without_names(envelope), indent=0, ensure_ascii=False)
        add(archive, "envelope.json", text.encode())
        for name in names:
            add(archive, name, (entry / name).read_bytes())
    size = path.stat().st_size
    sys.stdout.write(f"{path.relative_to(ROOT)}: {len(names)} outputs, {size} bytes\n")
    return 0


def add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, content)


def without_names(value: Any) -> Any:
    """The value without ids, and with the names of this machine replaced in every text."""
    if isinstance(value, dict):
        return {name: without_names(member) for name, member in value.items() if name != "id"}
    if isinstance(value, list):
        return [without_names(member) for member in value]
    return replace_names(value) if isinstance(value, str) else value


def replace_names(text: str) -> str:
    text = text.replace(str(ROOT), "loadsheet").replace(str(Path.home()), "~")
    text = re.sub(rf"{tempfile.gettempdir()}/(?:[\w.@-]+/)*([\w.@-]+)", r"\1", text)
    return HOST if text == socket.gethostname() else text


if __name__ == "__main__":
    sys.exit(main())
