"""The command line: every command, its flags, and the help. Imports nothing heavy."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from loadsheet_agent import __version__
from loadsheet_agent.commands.options import (
    add_bounds,
    add_max_wait,
    add_repeated,
    add_service,
    add_short,
    add_tool_path,
)
from loadsheet_agent.exits import MEANINGS
from loadsheet_agent.plan.server_texts import SERVER_TEXTS

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

DESCRIPTION = "Runs HTTP load tools by a plan and uploads their raw output to Loadsheet."
EXAMPLES = """examples:
  loadsheet login https://host            save address and token
  loadsheet plan new                      write a commented plan.toml
  loadsheet plan check plan.toml          its trials, and how long they take
  loadsheet servers check nginx           whether a server of the shelf runs here
  loadsheet doctor plan.toml              what would spoil a measurement here
  loadsheet run plan.toml                 measure, upload, print the link
  loadsheet run plan.toml --resume        continue an interrupted run
  loadsheet observe --run ID --port 8080  on the server host, while another machine measures
  loadsheet upload ab.txt plot.tsv        upload saved output of a load tool
  loadsheet check --baseline main …       fail a build that got slower
  loadsheet import techempower results/   upload the archive of another project (also httparena)
  loadsheet spool retry                   upload the results that wait

environment:
  LOADSHEET_URL, LOADSHEET_TOKEN          the service (safer than --token: `ps` shows flags)
  LOADSHEET_SPOOL                         where results wait (~/.local/state/loadsheet/spool)
  LOADSHEET_CONFIG                        the saved login (~/.config/loadsheet/login.json)
  LOADSHEET_SHELF, LOADSHEET_CACHE        the shelf of servers, and where they are installed
  LOADSHEET_WRK, _AB, _K6, …              path of a load tool that is not on the PATH

exit codes:
"""
RUN_EXAMPLES = """examples:
  loadsheet run plan.toml
  loadsheet run plan.toml --tool-path k6=/opt/k6/k6
  loadsheet run plan.toml --seed 7                     the same order as another run
  loadsheet run plan.toml --session big --parts 3      together with two other agents
  loadsheet run plan.toml --resume                     continue the interrupted run of this plan
  loadsheet run plan.toml --label branch=main --label commit=4f2a91c
  loadsheet run plan.toml --json > result.json         progress always goes to stderr
"""
OBSERVE_EXAMPLES = """examples:
  loadsheet observe --run 0b7c… --port 8080            the server, and its host
  loadsheet observe --run 0b7c…                        the host alone
"""
UPLOAD_EXAMPLES = """examples:
  loadsheet upload ab.txt plot.tsv --tool ab
  loadsheet upload wrk.txt --server nginx --server-version 1.27 --connections 64
  loadsheet upload old.txt --server "gunicorn sync" --at 2016-09-14 --label study=rest-2016
"""
CHECK_EXAMPLES = """examples:
  loadsheet check --run 0b7c… --baseline main 'p99 < +5%' 'throughput > -3%'
  loadsheet check --candidate label=commit:4f2a91c --baseline main 'p99 < +5%' 'error_rate < 1%'
  loadsheet check --candidate version=1.3 --baseline version=1.2 'throughput > -3%'
  loadsheet check --candidate label=build:17 --baseline main 'throughput > -3%' \\
    --most-runs 4 --measure 'loadsheet run plan.toml --label build=17'
  loadsheet check … --markdown summary.md --junit check.xml --json > check.json
  loadsheet check … --allow too-noisy --allow not-comparable      fail only for a regression

a candidate or baseline:
  run=ID, version=TEXT, label=KEY:VALUE, or the name of a branch (label=branch:NAME).
  For a label, the baseline is the newest 30 runs before the candidate, since their last change.

a requirement:
  p99 < +5%         at most 5 % more than the baseline
  throughput > -3%  at most 3 % less than the baseline
  error_rate < 1%   a limit; p99 < 20ms and throughput > 1000 are limits too

exit codes:
  0    improved or unchanged: every requirement is kept
  20   regressed: a requirement is broken
  21   too noisy to call, or too few trials for an interval
  22   not comparable, or no baseline yet
  23   the service gave no verdict
  2    the command line is wrong, or the service does not understand a requirement
"""
IMPORT_EXAMPLES = """examples:
  loadsheet import techempower FrameworkBenchmarks/results
  loadsheet import httparena HttpArena/site/data
"""
PLAN_EXAMPLES = """examples:
  loadsheet plan new                                   writes plan.toml
  loadsheet plan new - | less
  loadsheet plan new --aa                              writes aa.toml: this machine against itself
  loadsheet plan check plan.toml                       trials in order, time, load tool
"""
SERVERS_EXAMPLES = """examples:
  loadsheet servers list
  loadsheet servers install gunicorn
  loadsheet servers check tornado@0.2,current nginx
  loadsheet servers check --all
"""
SPOOL_EXAMPLES = """examples:
  loadsheet spool
  loadsheet spool retry
  loadsheet spool drop 0b7c…                           deletes a result for good
"""
LOGIN_EXAMPLES = """examples:
  loadsheet login https://host                         asks for the token
  loadsheet login https://host < token.txt
  loadsheet login --forget
"""
COMPLETION_EXAMPLES = """examples:
  source <(loadsheet completion bash)
  loadsheet completion zsh > ~/.zfunc/_loadsheet
  loadsheet completion fish > ~/.config/fish/completions/loadsheet.fish
"""


def make_parser() -> argparse.ArgumentParser:
    codes = "".join(f"  {code:<4}{meaning}\n" for code, meaning in MEANINGS.items())
    parser = argparse.ArgumentParser(
        prog="loadsheet",
        description=DESCRIPTION,
        epilog=EXAMPLES + codes,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"loadsheet-agent {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for add in (
        _add_run,
        _add_observe,
        _add_upload,
        _add_check,
        _add_import,
        _add_plan,
        _add_servers,
        _add_doctor,
        _add_spool,
        _add_login,
        _add_status,
        _add_completion,
    ):
        add(commands)
    return parser


def completion_words() -> dict[str, tuple[str, list[str]]]:
    """By command: its help, and the words that may follow it."""
    (commands,) = (
        action
        for action in make_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    texts = {choice.dest: choice.help or "" for choice in commands._choices_actions}
    return {name: (texts[name], _list_words(parser)) for name, parser in commands.choices.items()}


def _list_words(parser: argparse.ArgumentParser) -> list[str]:
    flags = [flag for action in parser._actions for flag in action.option_strings if flag != "-h"]
    choices = [str(each) for action in parser._actions for each in action.choices or ()]
    return [*choices, *flags]


def _command(
    commands: Commands, name: str, text: str, examples: str = ""
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON on stdout")
    return parser


def _add_run(commands: Commands) -> None:
    run = _command(commands, "run", "run a plan and upload the result", RUN_EXAMPLES)
    run.add_argument("plan", metavar="PLAN.toml")
    add_short(run)
    run.add_argument(
        "--resume",
        metavar="ID",
        nargs="?",
        const="",
        help="continue the interrupted run of this plan that waits in the spool",
    )
    run.add_argument("--session", metavar="NAME", help="measure together with other agents")
    run.add_argument("--parts", metavar="N", type=int, help="number of agents in the session")
    label_help = "another label of the run; repeatable"
    add_repeated(run, "--label", "KEY=VALUE", label_help)
    run.add_argument(
        "--seed",
        metavar="N",
        type=int,
        default=None,
        help="seed of the order of trials, to repeat the order of another run",
    )
    add_bounds(run)
    add_tool_path(run)
    add_service(run)
    add_max_wait(run)


def _add_observe(commands: Commands) -> None:
    observe = _command(
        commands,
        "observe",
        "on the server host: add its facts and resource use to a run of another machine",
        OBSERVE_EXAMPLES,
    )
    observe.add_argument(
        "--run", metavar="ID", required=True, help="id in the link that `run` prints"
    )
    observe.add_argument("--port", metavar="N", type=int, help="port the server listens on")
    observe.add_argument("--pid", metavar="N", type=int, help="process id of the server")
    add_service(observe)
    add_max_wait(observe)


def _add_upload(commands: Commands) -> None:
    upload = _command(commands, "upload", "upload saved output of a load tool", UPLOAD_EXAMPLES)
    upload.add_argument("files", metavar="FILE", nargs="+")
    upload.add_argument("--tool", metavar="NAME", help="which load tool wrote the files")
    upload.add_argument("--at", metavar="TIME", help="when the files were measured (ISO 8601)")
    add_repeated(upload, "--label", "KEY=VALUE", "label of the run; repeatable")
    about = upload.add_argument_group("the trial that was measured (all files are then one trial)")
    about.add_argument("--server", metavar="NAME")
    about.add_argument("--server-version", metavar="VERSION")
    for name, text in SERVER_TEXTS.items():
        flag = "--" + name.replace("_", "-")
        about.add_argument(flag, metavar="TEXT", help=f'such as "{text.example}"')
    add_repeated(about, "--config", "KEY=VALUE")
    about.add_argument("--host", metavar="NAME", help="machine the server ran on")
    about.add_argument("--workload", metavar="NAME")
    about.add_argument("--method", metavar="METHOD")
    about.add_argument("--path", metavar="PATH")
    about.add_argument("--payload-bytes", metavar="N", type=int)
    # Without the flag and its --no- form, it stays unknown.
    about.add_argument("--keepalive", action=argparse.BooleanOptionalAction)
    about.add_argument("--tls", action=argparse.BooleanOptionalAction)
    about.add_argument("--connections", metavar="N", type=int)
    about.add_argument(
        "--rate", metavar="RPS", type=float, help="offered requests per second (an open loop)"
    )
    about.add_argument("--duration", metavar="SECONDS", type=float)
    about.add_argument("--tool-version", metavar="VERSION")
    add_service(upload)
    add_max_wait(upload)


def _add_check(commands: Commands) -> None:
    check = _command(
        commands, "check", "fail a build that got slower than its baseline", CHECK_EXAMPLES
    )
    check.add_argument(
        "requirements", metavar="REQUIREMENT", nargs="+", help='such as "p99 < +5%%"'
    )
    check.add_argument("--baseline", metavar="SIDE", required=True, help="what to compare with")
    check.add_argument("--candidate", metavar="SIDE", help="what was built")
    add_repeated(check, "--run", "ID", "a run of the build; several runs count together")
    _add_judged(check)
    check.add_argument(
        "--may-differ",
        choices=("host", "tool"),
        action="append",
        default=[],
        help="what need not be the same as in the baseline; repeatable",
    )
    check.add_argument(
        "--allow",
        choices=("too-noisy", "not-comparable"),
        action="append",
        default=[],
        help="exit with 0 for this verdict too; repeatable",
    )
    _add_measuring(check)
    check.add_argument("--markdown", metavar="FILE", help="write a summary for a pull request")
    check.add_argument("--junit", metavar="FILE", help="write JUnit XML")
    check.add_argument("--workspace", metavar="SLUG", help="only this workspace")
    add_service(check)
    check.add_argument(
        "--max-wait",
        metavar="SECONDS",
        type=float,
        default=120.0,
        help="how long to ask again while the service is busy or reads the run (120)",
    )


def _add_judged(check: argparse.ArgumentParser) -> None:
    """The flags that say what is judged."""
    narrow = check.add_argument_group(
        "what to judge; without these flags, everything in the candidate"
    )
    for name in ("server", "workload", "tool", "host", "connections", "rate"):
        add_repeated(narrow, f"--{name}", name.upper(), "repeatable")
    add_repeated(check, "--expect", "SERVER:WORKLOAD", "a series that must be judged; repeatable")


def _add_measuring(check: argparse.ArgumentParser) -> None:
    """The flags of a build that is measured until it is decided."""
    check.add_argument(
        "--most-runs",
        metavar="N",
        type=int,
        default=1,
        help="the most runs that --measure leads to, with a check after each (1)",
    )
    check.add_argument(
        "--measure",
        metavar="COMMAND",
        help="the command that measures one more run of the build; it is run while the verdict is "
        "too noisy, at most N - 1 times",
    )


def _add_import(commands: Commands) -> None:
    importer = _command(
        commands, "import", "upload the results of another benchmark project", IMPORT_EXAMPLES
    )
    importer.add_argument("project", choices=("techempower", "httparena"))
    importer.add_argument("directory", metavar="DIR")
    add_service(importer)
    add_max_wait(importer)
    # `import` is no name of a module.
    importer.set_defaults(command="import_results")


def _add_plan(commands: Commands) -> None:
    plan = _command(commands, "plan", "write a plan, or show what a plan will do", PLAN_EXAMPLES)
    plan.add_argument("action", choices=("check", "new"))
    plan.add_argument("file", metavar="PLAN.toml", nargs="?")
    plan.add_argument(
        "--aa",
        action="store_true",
        help="new: a plan with one server twice, to measure this machine against itself",
    )
    add_short(plan)
    add_tool_path(plan)


def _add_servers(commands: Commands) -> None:
    servers = _command(
        commands, "servers", "list, install or check the servers of the shelf", SERVERS_EXAMPLES
    )
    servers.add_argument("action", choices=("list", "install", "check"), nargs="?", default="list")
    servers.add_argument("names", metavar="NAME[@VERSION]", nargs="*")
    servers.add_argument("--all", action="store_true", help="every version on the shelf")
    servers.add_argument("--shelf", metavar="DIR", help="folder of the shelf; else LOADSHEET_SHELF")


def _add_doctor(commands: Commands) -> None:
    doctor = _command(commands, "doctor", "show what would spoil a measurement on this machine")
    doctor.add_argument("plan", metavar="PLAN.toml", nargs="?")
    add_short(doctor)
    add_tool_path(doctor)
    add_service(doctor)


def _add_spool(commands: Commands) -> None:
    spool = _command(
        commands, "spool", "show, upload or delete the results that wait", SPOOL_EXAMPLES
    )
    spool.add_argument("action", choices=("list", "retry", "drop"), nargs="?", default="list")
    spool.add_argument("ids", metavar="ID", nargs="*", help="only these results (retry, drop)")
    add_service(spool)
    add_max_wait(spool)


def _add_login(commands: Commands) -> None:
    login = _command(commands, "login", "save the service's address and token", LOGIN_EXAMPLES)
    login.add_argument("url", metavar="URL", nargs="?")
    login.add_argument("--token", help="safer: type it when asked, or give it on stdin")
    login.add_argument("--forget", action="store_true", help="delete the saved login")


def _add_status(commands: Commands) -> None:
    add_service(_command(commands, "status", "show where results go and what waits"))


def _add_completion(commands: Commands) -> None:
    completion = _command(
        commands, "completion", "print a script for your shell", COMPLETION_EXAMPLES
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
