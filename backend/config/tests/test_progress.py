"""A line that cannot be printed never ends the site."""

import errno
import io
import subprocess
import sys

import pytest
from django.conf import settings

from backend.config.site.progress import say


class Refusing(io.StringIO):
    """A stream that cannot be written."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def flush(self):
        raise self.error


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        BrokenPipeError(),
        ValueError("I/O operation on closed file."),
    ],
)
def test_a_stream_that_refuses_a_line_raises_nothing(monkeypatch, error):
    monkeypatch.setattr(sys, "stdout", Refusing(error))

    say("Starting web-1 again")


def test_a_letter_that_the_terminal_lacks_raises_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))

    say("Stopping …")


def test_a_process_whose_reader_is_gone_goes_on():
    code = (
        "import sys; from backend.config.site.progress import say\n"
        "say('first'); sys.stdin.readline()\n"
        "for _ in range(3): say('a restart')\n"
        "print('goes on', file=sys.stderr)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=settings.BASE_DIR,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert "first" in process.stdout.readline()
    process.stdout.close()
    process.stdin.write("\n")
    process.stdin.close()

    assert "goes on" in process.stderr.read()
    process.stderr.close()
    process.wait()


def test_a_process_whose_log_is_on_a_full_disk_goes_on():
    code = (
        "import sys; from backend.config.site.progress import say\n"
        "for _ in range(3): say('a restart')\n"
        "print('goes on', file=sys.stderr)\n"
    )
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            [sys.executable, "-c", code],
            cwd=settings.BASE_DIR,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert "goes on" in process.stderr
