"""docs/openapi.yaml is what the code says; `--write` makes it so."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "docs" / "openapi.yaml"


def main() -> None:
    made = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            "manage.py",
            "spectacular",
            "--validate",
            "--fail-on-warn",
        ],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
    ).stdout
    if "--write" in sys.argv:
        KEPT.write_bytes(made)
    elif not KEPT.exists() or KEPT.read_bytes() != made:
        sys.exit("docs/openapi.yaml is stale: run scripts/fix")


main()
