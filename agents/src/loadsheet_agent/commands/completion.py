"""`loadsheet completion SHELL`: a script that completes commands, flags and files."""

from __future__ import annotations

from argparse import Namespace

from loadsheet_agent.commands.arguments import completion_words
from loadsheet_agent.commands.output import put
from loadsheet_agent.exits import Exit

BASH = """_loadsheet() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words
  case ${{COMP_WORDS[1]}} in
{cases}
    *) words="{commands}" ;;
  esac
  (( COMP_CWORD == 1 )) && words="{commands}"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ $current == -* ]] || COMPREPLY+=($(compgen -f -- "$current"))
}}
complete -o filenames -F _loadsheet loadsheet
"""
ZSH = "#compdef loadsheet\nautoload -U +X bashcompinit && bashcompinit\n"
FISH_COMMAND = "complete -c loadsheet -n __fish_use_subcommand -f -a {name} -d '{text}'"
FISH_WORD = "complete -c loadsheet -n '__fish_seen_subcommand_from {name}' {word}"


def run(arguments: Namespace) -> Exit:
    words = completion_words()
    put(_fish(words) if arguments.shell == "fish" else _bash(words, arguments.shell))
    return Exit.OK


def _bash(words: dict[str, tuple[str, list[str]]], shell: str) -> str:
    cases = "\n".join(
        f'    {name}) words="{" ".join(each)}" ;;' for name, (_, each) in words.items()
    )
    script = BASH.format(cases=cases, commands=" ".join(words))
    return (ZSH + script if shell == "zsh" else script).rstrip("\n")


def _fish(words: dict[str, tuple[str, list[str]]]) -> str:
    lines = []
    for name, (text, each) in words.items():
        lines.append(FISH_COMMAND.format(name=name, text=text.replace("'", "\\'")))
        for word in each:
            shown = f"-l {word[2:]}" if word.startswith("--") else f"-a {word}"
            lines.append(FISH_WORD.format(name=name, word=shown))
    return "\n".join(lines)
