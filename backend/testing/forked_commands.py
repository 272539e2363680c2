"""Commands of manage.py, each in a process that is forked of one which has imported Django.

A new interpreter takes a second of CPU until it begins with a command.
"""

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Commands:
    """Runs commands of manage.py with the same environment, until `stop` is called."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> tuple[int, str]:
        """The exit status of a command, and what it prints on both streams."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(arguments), file=self._process.stdin, flush=True)
        status, text = json.loads(self._process.stdout.readline())
        return status, text

    def stop(self) -> None:
        self._process.communicate()


def main() -> None:
    import django

    import manage

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.config.settings")
    django.setup()
    for line in sys.stdin:
        readable, writable = os.pipe()
        child = os.fork()
        if child == 0:
            sys.argv = ["manage.py", *json.loads(line)]
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(writable, 1)
            os.dup2(writable, 2)
            os.close(readable)
            os._exit(status_of(manage.main))
        os.close(writable)
        with os.fdopen(readable) as output:
            text = output.read()
        _, ended = os.waitpid(child, 0)
        sys.stdout.write(json.dumps([os.waitstatus_to_exitcode(ended), text]) + "\n")
        sys.stdout.flush()


def status_of(run: Callable[[], None]) -> int:
    """The exit status of an interpreter that runs it."""
    try:
        run()
    except SystemExit as ended:
        if isinstance(ended.code, str):
            sys.stderr.write(ended.code + "\n")
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    main()
