"""Runs one command. Imports nothing heavy, so that --help answers at once."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence

from loadsheet_agent.commands.arguments import make_parser
from loadsheet_agent.errors import AgentError
from loadsheet_agent.exits import Exit
from loadsheet_agent.terminal import printable


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code of the command line `argv`, the process's own by default."""
    arguments = make_parser().parse_args(argv)
    command = importlib.import_module(f"loadsheet_agent.commands.{arguments.command}")
    try:
        return int(command.run(arguments))
    except AgentError as error:
        return _fail(str(error), error.exit_code, as_json=arguments.json)
    except KeyboardInterrupt:
        text = "Interrupted; nothing unsent was deleted."
        return _fail(text, Exit.INTERRUPTED, as_json=arguments.json)


def _fail(text: str, code: Exit, *, as_json: bool) -> int:
    sys.stderr.write(f"loadsheet: {printable(text)}\n")
    if as_json:
        answer = {"exit_code": int(code), "error": text}
        sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")
    return int(code)
