"""Command lines that stand in a paste or a log: "$ wrk -t2 -c100 http://127.0.0.1/"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backend.formats.tools import TOOLS

# Programs by another name than their format.
PROGRAMS = {
    **{name: (name,) for name in TOOLS},
    "wrk": ("wrk", "wrk2"),
    "boom": ("hey",),
    "bzt": ("taurus",),
}
# What starts another program, which comes behind options of its own.
WRAPPERS = frozenset(
    ("sudo", "time", "env", "nohup", "exec", "nice", "taskset", "numactl", "timeout", "stdbuf")
) | {"chrt", "perf", "docker", "podman", "npx", "kubectl", "ssh"}
LONGEST = 4000

# A quick look before a slow one: each line that shows a command has one of these.
_SIGNS = ("$ ", "# ", "% ", "> ", "\u276f ", "+ ", "Run ", "##[")
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)))
_PROMPT = re.compile(
    r"\s{0,20}(?:\([\w.-]{1,40}\) )?(?:"
    r"(?:PS [^>\n]{1,120}|[A-Z]:\\[^>\n]{0,120})>"
    r"|(?:\[[^\]\n]{1,80}\]|[\w.-]{1,60}@[\w.-]{1,80}[: ][^$#%>\n]{0,120}|[\w~/.-]{0,80}) ?"
    r"(?P<mark>[$#%\u276f])) {1,4}(?P<command>\S.*)"
)
# What CI systems and `set -x` write before they run a command.
_ECHO = re.compile(r"\s{0,20}(?:##\[(?:group|command)\](?:Run )?|\+{1,3} |Run )(?P<command>\S.*)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w{0,60}=")


@dataclass(frozen=True, slots=True)
class Command:
    """A command line: its number, its words as typed, and whose output follows."""

    line: int
    text: str
    tools: tuple[str, ...]


def find_commands(lines: Sequence[str], first: int = 1) -> list[Command]:
    """The lines that start a load tool, in order; `first` is the number of the first line."""
    signed = [(at, line) for at, line in enumerate(lines, first) if _SIGN.search(line)]
    commands = (_command_at(number, line) for number, line in signed)
    return [command for command in commands if command is not None]


def is_shell_line(text: str) -> bool:
    """Whether a line is a shell's prompt, with or without a command, or shows a load tool's
    command: no line of an output, such as "50%  7.50ms" or "# target 50% 0.0009"."""
    if len(text) > LONGEST:
        return False
    matched = _PROMPT.match(f"{text} .")
    if matched is None:
        return _command_at(0, text) is not None
    before = text[: matched.start("mark")] if matched["mark"] else text
    return matched["mark"] not in ("#", "%") or "@" in before or before.endswith(("]", "] "))


def is_border(text: str) -> bool:
    """Whether a line without its surrounding space stands between outputs: a blank one, a fence of
    Markdown, a shell's line."""
    return not text or text.startswith("```") or is_shell_line(text)


def may_have_commands(text: str) -> bool:
    """Whether it is worth looking for commands."""
    return any(sign in text for sign in _SIGNS)


def _command_at(number: int, line: str) -> Command | None:
    if len(line) > LONGEST or not _SIGN.search(line):
        return None
    matched = _PROMPT.match(line) or _ECHO.match(line)
    if matched is None:
        return None
    text = matched["command"].strip()
    # "# wrk results" is a heading.
    is_certain = matched.groupdict().get("mark") in (None, "$", "\u276f")
    if not is_certain and " -" not in text and "://" not in text:
        return None
    tools = next(_tools_started(text), ())
    return Command(number, text, tools) if tools else None


def _tools_started(command: str) -> Iterator[tuple[str, ...]]:
    """The formats of each load tool that a pipeline starts."""
    for part in re.split(r"&&|[|;]", command):
        words = [word.strip("'\"") for word in part.split() if not _ASSIGNMENT.match(word)]
        candidates = words if words[:1] and _program(words[0]) in WRAPPERS else words[:1]
        for word in candidates:
            if (formats := PROGRAMS.get(_program(word))) is not None:
                yield formats
                break


def _program(word: str) -> str:
    """ "wrk" of "./wrk", "wrk.exe", "hey_linux_amd64" and "registry/wrk:4.2"."""
    return re.split(r"[-_.:]", word.replace("\\", "/").rpartition("/")[2])[0].lower()
