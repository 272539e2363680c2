"""scripts/fix makes the generated pages again, each by a process of its own."""

import re
import subprocess
import sys

import pytest

from backend.testing.supervised import ROOT

PRINTED = re.findall(r"print_module\.py (\S+) >(\S+)", (ROOT / "scripts" / "fix").read_text())


@pytest.mark.processes
@pytest.mark.parametrize(("module", "page"), PRINTED)
def test_a_page_is_printed_as_it_is_kept(module, page):
    command = [sys.executable, "scripts/print_module.py", module]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert printed == (ROOT / page).read_text()


def test_every_generated_page_is_found():
    assert len(PRINTED) == 4
