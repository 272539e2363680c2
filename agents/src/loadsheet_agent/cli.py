"""The command line. Imports nothing heavy, so that --help answers at once."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence

from loadsheet_agent import __version__
from loadsheet_agent.errors import AgentError
from loadsheet_agent.exits import MEANINGS, Exit

DESCRIPTION = "Runs HTTP load tools by a plan and uploads their raw output to Loadsheet."
EXAMPLES = """examples:
  loadsheet run plan.toml                 measure, keep, upload, print the link
  loadsheet upload ab.txt plot.tsv        upload saved output of a load tool
  loadsheet spool                         what has not reached the service yet
  loadsheet spool retry                   send it now

environment:
  LOADSHEET_URL, LOADSHEET_TOKEN          the service (better than --token: `ps` shows flags)
  LOADSHEET_SPOOL                         where results wait (~/.local/state/loadsheet/spool)
  LOADSHEET_WRK, _AB, _AUTOCANNON         path of a load tool that is not on the PATH

exit codes:
"""


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    command = importlib.import_module(f"loadsheet_agent.commands.{arguments.command}")
    try:
        return int(command.run(arguments))
    except AgentError as error:
        _tell(str(error), error.exit_code, as_json=arguments.json)
        return int(error.exit_code)
    except KeyboardInterrupt:
        _tell("Interrupted; nothing unsent was deleted.", Exit.INTERRUPTED, as_json=arguments.json)
        return int(Exit.INTERRUPTED)


def _tell(text: str, code: Exit, *, as_json: bool) -> None:
    sys.stderr.write(f"loadsheet: {text}\n")
    if as_json:
        answer = {"exit_code": int(code), "error": text}
        sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")


def _parser() -> argparse.ArgumentParser:
    codes = "".join(f"  {code:<4}{meaning}\n" for code, meaning in MEANINGS.items())
    parser = argparse.ArgumentParser(
        prog="loadsheet",
        description=DESCRIPTION,
        epilog=EXAMPLES + codes,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"loadsheet-agent {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_run(commands)
    _add_upload(commands)
    _add_spool(commands)
    return parser


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = commands.add_parser("run", help="carry out a plan and upload the result")
    run.add_argument("plan", metavar="PLAN.toml")
    run.add_argument(
        "--tool-path",
        metavar="NAME=PATH",
        action="append",
        default=[],
        help="where a load tool is, such as autocannon=node_modules/.bin/autocannon",
    )
    _add_service(run)
    _add_common(run)


def _add_upload(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    upload = commands.add_parser("upload", help="upload saved output of a load tool")
    upload.add_argument("files", metavar="FILE", nargs="+")
    upload.add_argument("--tool", metavar="NAME", help="which load tool wrote the files")
    _add_service(upload)
    _add_common(upload)


def _add_spool(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    spool = commands.add_parser("spool", help="show or send what waits on this machine")
    spool.add_argument("action", choices=("list", "retry"), nargs="?", default="list")
    spool.add_argument("ids", metavar="ID", nargs="*", help="only these (retry)")
    _add_service(spool)
    _add_common(spool)


def _add_service(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", help="address of the service; else LOADSHEET_URL")
    parser.add_argument("--token", help="else LOADSHEET_TOKEN")
    parser.add_argument(
        "--max-wait",
        metavar="SECONDS",
        type=float,
        default=None,
        help="stop trying to upload after this time; the result stays in the spool",
    )


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--spool", metavar="DIR", help="else LOADSHEET_SPOOL")
    parser.add_argument("--json", action="store_true", help="print the result as JSON on stdout")
