"""What there is to choose from: `mppo methods`, `mppo envs`, and `mppo completion`, whose scripts
complete commands, methods, tasks, flags and their values.

What can be written is read off the parsers' own actions, when the script is made.
"""

from __future__ import annotations

import contextlib
import io
import json

from mppo.algorithm.methods import COMPONENTS, METHODS
from mppo.cli import COMMANDS, function_of
from mppo.cli.naming import parser_for
from mppo.cli.paper import JOBS
from mppo.cli.parser import HelpShown, Parser, one_of
from mppo.envs import TASKS
from mppo.files.settings import to_json

ABOUT = """\
Print a script that lets the shell complete mppo's commands, methods, tasks,
flags and their values on TAB. It needs no Python when TAB is pressed.

  bash  mppo completion bash > ~/.local/share/bash-completion/completions/mppo
  zsh   mppo completion zsh > ~/.zfunc/_mppo   (a folder of $fpath)
  fish  mppo completion fish > ~/.config/fish/completions/mppo.fish"""
SHOWN = (  # of a task, to programs
    *("id", "name", "observation_size", "action", "horizon", "trpo_steps", "ppo_steps"),
    "description",
)
SHELLS = ("bash", "zsh", "fish")
FIRST = {"train": " ".join(METHODS), "paper": " ".join(JOBS), "completion": " ".join(SHELLS)}
"""What follows some commands."""
IDS = " ".join(task.id for task in TASKS)
FILES = "<files>"
_NAMES_OF_FILES = ("FILE", "DIR", "FOLDER", "PATH")

Values = dict[str, str | None]
"""Flags with the words that each takes: FILES, nothing for any word, None for a switch."""


def methods(words: list[str]) -> int:
    """Print what the methods differ in, in lines that fit into 80 columns."""
    example = "mppo methods --json | python -m json.tool"
    as_json = _wants_json("methods", "List the methods.", example, words)
    rows = [{"name": name, "method": to_json(method)} for name, method in METHODS.items()]
    if as_json:
        print(json.dumps(rows, indent=2))
        return 0
    print(f"{'method':<24}{'paths':>5}  {'picking':<12}{'value':<12}{'replaces':<9} bonus")
    for row in rows:
        m, name = row["method"], row["name"]
        several = m["paths"] > 1
        cells = (m["picking"]["kind"], m["value"], m["replacement"]) if several else ("-",) * 3
        bonus = m["exploration"]["kind"]
        print(f"{name:<24}{m['paths']:>5}  {cells[0]:<12}{cells[1]:<12}{cells[2]:<9} {bonus}")
    return 0


def envs(words: list[str]) -> int:
    """Print the tasks of the paper, in lines that fit into 80 columns."""
    if _wants_json("envs", "List the tasks of the paper.", "mppo envs", words):
        details = lambda task: {field: getattr(task, field) for field in SHOWN}
        print(json.dumps([{**details(task), "native_vector": True} for task in TASKS], indent=2))
        return 0
    for task in TASKS:
        print(f"{task.id}  ({task.name} in the paper)")
        print(f"    {task.description}")
        print(
            f"    observation {task.observation_size}, action: {task.action}, horizon "
            f"{task.horizon}, budget {task.trpo_steps:,} (trpo), {task.ppo_steps:,} (ppo)"
        )
    print("\nAny other registered Gymnasium environment can be trained on, too.")
    return 0


def _wants_json(command: str, about: str, example: str, words: list[str]) -> bool:
    parser = Parser(command, about, [example])
    parser.add_argument("--json", action="store_true", help="all details, for programs")
    return parser.parse_args(words).json


def completion(words: list[str]) -> int:
    """Print one script."""
    parser = Parser("completion", ABOUT, ['eval "$(mppo completion bash)"   # for this shell'])
    parser.add_argument("shell", type=one_of(SHELLS), metavar="SHELL", help="one of the three")
    shell = parser.parse_args(words).shell
    print(_fish() if shell == "fish" else _bash_or_zsh(shell), end="")
    return 0


def values_of_options(parser: Parser) -> Values:
    """The flags of a parser, with what each takes."""
    found: Values = {}
    for flag, action in sorted(parser.options.items()):
        metavar = str(action.metavar)
        if action.nargs == 0:
            found[flag] = None
        elif metavar.startswith("{"):
            found[flag] = metavar.strip("{}").replace(",", " ")
        else:
            kinds = " ".join(COMPONENTS.get(flag[2:], ()))
            found[flag] = FILES if metavar in _NAMES_OF_FILES else kinds
    return {flag: words for flag, words in found.items() if flag.startswith("--")}


def options_by_command() -> dict[str, Values]:
    """The flags of every command, and those that only "train METHOD" or "paper JOB" has."""
    train = [values_of_options(parser_for(method, name)) for name, method in METHODS.items()]
    shared = {flag: words for flag, words in train[0].items() if all(flag in one for one in train)}
    found = {name: values_of_options(parser_of(name)) for name in COMMANDS if name != "train"}
    found["train"] = shared
    found |= {f"train {name}": one for name, one in zip(METHODS, train, strict=True)}
    found |= {f"paper {job}": values_of_options(parser_of("paper", job)) for job in JOBS}
    for name, values in found.items():
        command, _, more = name.partition(" ")
        if more:
            found[name] = {flag: values[flag] for flag in values if flag not in found[command]}
    return found


def parser_of(command: str, *words: str) -> Parser:
    """The parser of a command: the one that shows its help."""
    more = (None,) if COMMANDS[command].stops_at_boundaries else ()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            function_of(command)([*words, "--help"], *more)
    except HelpShown as shown:
        return shown.parser
    raise AssertionError(f"mppo {command} --help showed no help")


WORDS = """\
_mppo_words() {{  # the word that is being written, and all before it, from the command on
    local cur=$1 command=$2 before="" word job="" env="" jobs="" flags=""
    if [ $# -eq 1 ]; then echo "{commands}"; return; fi
    shift 2
    case $command in
{jobs}
    esac
    for word in "$@"; do
        before=$word
        if [[ " $jobs " == *" $word "* ]]; then job=$word
        elif [[ -n $job && $word != -* && -z $env ]]; then env=$word; fi
    done
    case "$command $before" in
{values}
    esac
    if [[ $cur == -* ]]; then
        case $command in
{flags}
        esac
        case "$command $job" in
{own}
        esac
        echo "$flags"
    elif [[ -n $jobs && -z $job ]]; then echo "$jobs"
    elif [[ $command == train && -z $env ]]; then echo "{tasks}"
    else echo "{files}"; fi
}}
"""
BASH = """\
_mppo() {
    local cur=${COMP_WORDS[COMP_CWORD]} words
    words=$(_mppo_words "$cur" "${COMP_WORDS[@]:1:COMP_CWORD-1}")
    if [[ $words == "<files>" ]]; then COMPREPLY=($(compgen -f -- "$cur"))
    else COMPREPLY=($(compgen -W "$words" -- "$cur")); fi
}
complete -o filenames -F _mppo mppo
"""
ZSH = """\
_mppo() {
    local found="$(_mppo_words "$PREFIX" "${(@)words[2,CURRENT-1]}")"
    if [[ $found == "<files>" ]]; then _files; else compadd -- ${=found}; fi
}
if [[ $funcstack[1] == _mppo ]]; then _mppo "$@"; else compdef _mppo mppo; fi
"""


def _bash_or_zsh(shell: str) -> str:
    """The same function finds the words; only how they are offered differs."""
    options = options_by_command()
    takers: dict[str, dict[str, None]] = {}  # words, and the flags that take them
    for name, values in options.items():
        for flag, words in values.items():
            if words is not None:
                takers.setdefault(words, {})[f'"{name.split()[0]} {flag}"'] = None
    lines = lambda pairs, form: "\n".join(form.format(*pair) for pair in pairs)
    flags = [(f'"{name}"', " ".join(values)) for name, values in options.items()]
    taken = [("|".join(flags), words) for words, flags in takers.items()]
    script = WORDS.format(
        commands=" ".join(COMMANDS),
        jobs=lines(FIRST.items(), '    {}) jobs="{}" ;;'),
        values=lines(taken, '    {}) echo "{}"; return ;;'),
        flags=lines((pair for pair in flags if " " not in pair[0]), '        {}) flags="{}" ;;'),
        own=lines((pair for pair in flags if " " in pair[0]), '        {}) flags+=" {}" ;;'),
        tasks=IDS,
        files=FILES,
    )
    return script + BASH if shell == "bash" else "#compdef mppo\n" + script + ZSH


def _fish() -> str:
    first, on = "__fish_use_subcommand", "__fish_seen_subcommand_from"
    lines = [f"complete -c mppo -n {first} -f -a {name} -d '{command.summary.replace(chr(39), '')}'"
             for name, command in COMMANDS.items()]  # fmt: skip
    for command, words in FIRST.items():
        tasks = f" {IDS}" if command == "train" else ""
        lines.append(f"complete -c mppo -n '{on} {command}' -f -a '{words}{tasks}'")
    for name, values in options_by_command().items():
        for flag, words in values.items():
            how = "-f" if words is None else "-r -F" if words == FILES else f"-x -a '{words}'"
            command = name.split()[0]
            lines.append(f"complete -c mppo -n '{on} {command}' -l {flag[2:]} {how}")
    return "\n".join(dict.fromkeys(lines)) + "\n"
