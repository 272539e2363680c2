"""Refuse an agent or a changelog that tells another version than the service.

The version stands in backend/__init__.py. The agent is a distribution of its own and cannot read
it, so its copy is compared here.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AGENT = "agents/src/loadsheet_agent/__init__.py"


def main():
    version = version_in("backend/__init__.py")
    if version_in(AGENT) != version:
        sys.exit(f"{AGENT} says {version_in(AGENT)}, backend/__init__.py says {version}")
    if f"## [{version}]" not in (ROOT / "CHANGELOG.md").read_text():
        sys.exit(f"CHANGELOG.md has no section “## [{version}]”")


def version_in(module):
    return re.search(r'^__version__ = "(.+)"$', (ROOT / module).read_text(), re.MULTILINE)[1]


main()
