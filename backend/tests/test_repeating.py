"""scripts/test --repeat counts what failed, and is red where one round was."""

import importlib.util

import psutil
import pytest
from django.conf import settings

SCRIPT = settings.BASE_DIR / "scripts" / "repeating.py"
REPORT = """<testsuites><testsuite>
<testcase classname="tests.a" name="test_always"/>
<testcase classname="tests.a" name="test_at_times">{}</testcase>
</testsuite></testsuites>"""


@pytest.fixture(scope="module")
def repeating():
    spec = importlib.util.spec_from_file_location("repeating", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("fault", ["<failure/>", "<error/>"])
def test_each_test_is_told_with_its_red_rounds(repeating, tmp_path, capsys, fault):
    endings = iter([(0, ""), (1, fault), (0, "")])

    def run(more):
        status, text = next(endings)
        (report,) = [word.partition("=")[2] for word in more if word.startswith("--junitxml=")]
        with open(report, "w") as out:
            out.write(REPORT.format(text))
        return status

    assert repeating.repeat(3, tmp_path, run) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[:3] == ["Round 1 of 3: green", "Round 2 of 3: red", "Round 3 of 3: green"]
    assert told[3:] == ["1 of 3: tests.a::test_at_times"]


def test_a_round_that_could_not_begin_is_red(repeating, tmp_path, capsys):
    assert repeating.repeat(2, tmp_path, lambda more: 4) == 4
    assert "Round 2 of 2: red" in capsys.readouterr().out


@pytest.mark.processes
def test_what_ran_beside_ends_with_the_tests(repeating):
    before = psutil.Process().children()
    with repeating.busy_loops(2):
        loops = [child for child in psutil.Process().children() if child not in before]
        assert ["while True: pass" in loop.cmdline() for loop in loops] == [True, True]
    assert not any(loop.is_running() for loop in loops)
