"""`mppo completion`: scripts that complete commands, methods, tasks, flags and their values."""

from __future__ import annotations

from mppo.cli import COMMANDS
from mppo.cli.parser import Parser, one_of

ABOUT = """\
Print a script that lets the shell complete mppo's commands, methods, tasks,
flags and their values on TAB. It needs no Python when TAB is pressed.

  bash  mppo completion bash > ~/.local/share/bash-completion/completions/mppo
  zsh   mppo completion zsh > ~/.zfunc/_mppo   (a folder of $fpath)
  fish  mppo completion fish > ~/.config/fish/completions/mppo.fish"""


def main(command: str, words: list[str]) -> int:
    """Print one script."""
    parser = Parser("completion", ABOUT, ['eval "$(mppo completion bash)"   # for this shell'])
    shells = {"bash": bash, "zsh": zsh, "fish": fish}
    parser.add_argument(
        "shell", type=one_of(list(shells)), metavar="SHELL", help="one of the three"
    )
    print(shells[parser.parse_args(words).shell](), end="")
    return 0


def _values() -> list[tuple[str, list[str] | None]]:
    """Flags that take a word or a file, with what they take; the command stands before the flag."""
    from mppo.cli.vocabulary import of_commands, of_methods

    found: dict[str, list[str] | None] = {}
    for command, words in of_commands().items():
        for flag, values in words.flags.items():
            if flag not in words.switches:
                found[f"{command} {flag}"] = values
    for words in of_methods().values():
        for flag, values in words.flags.items():
            if flag not in words.switches:
                found[f"train {flag}"] = values
    return sorted(found.items())


def _train_flags() -> tuple[list[str], dict[str, list[str]]]:
    """The flags that all methods share, and those that only some have."""
    from mppo.cli.vocabulary import of_methods

    flags = {name: set(words.flags) for name, words in of_methods().items()}
    common = set.intersection(*flags.values())
    return sorted(common), {name: sorted(own - common) for name, own in flags.items()}


BASH = """\
_mppo() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
    local command=${{COMP_WORDS[1]}} method="" env="" word words=""
    local methods="{methods}"
    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 ]]; then
        COMPREPLY=($(compgen -W "{commands}" -- "$cur"))
        return
    fi
    case "$command $prev" in
{values}
    esac
    for word in "${{COMP_WORDS[@]:2:COMP_CWORD-2}}"; do
        if [[ " $methods " == *" $word "* ]]; then method=$word
        elif [[ -n $method && $word != -* && -z $env ]]; then env=$word; fi
    done
    if [[ $cur == -* ]]; then
        case $command in
{flags}
        train)
            words="{common}"
            case $method in
{own}
            esac ;;
        esac
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
    elif [[ $command == train && -z $method ]]; then
        COMPREPLY=($(compgen -W "$methods" -- "$cur"))
    elif [[ $command == train && -z $env ]]; then
        COMPREPLY=($(compgen -W "{tasks}" -- "$cur"))
    elif [[ $command == completion ]]; then
        COMPREPLY=($(compgen -W "bash zsh fish" -- "$cur"))
    else
        COMPREPLY=($(compgen -f -- "$cur"))
    fi
}}
complete -o filenames -F _mppo mppo
"""


def bash() -> str:
    """The script for bash."""
    from mppo.cli.vocabulary import of_commands, of_methods, tasks

    common, own = _train_flags()
    values = []
    for key, words in _values():
        if words is None:
            action = 'compgen -f -- "$cur"'
        elif words:
            action = f'compgen -W "{" ".join(words)}" -- "$cur"'
        else:
            action = ""
        reply = f"COMPREPLY=($({action})); " if action else ""
        values.append(f'    "{key}") {reply}return ;;')
    flags = [
        f'        {name}) words="--help {" ".join(sorted(words.flags))}" ;;'
        for name, words in of_commands().items()
    ]
    return BASH.format(
        commands=" ".join(COMMANDS),
        methods=" ".join(of_methods()),
        values="\n".join(values),
        flags="\n".join(flags),
        common=" ".join(common),
        own="\n".join(f'            {n}) words+=" {" ".join(f)}" ;;' for n, f in own.items()),
        tasks=" ".join(tasks()),
    )


ZSH = """\
#compdef mppo
_mppo() {{
    local command=$words[2] previous=$words[CURRENT-1]
    if (( CURRENT == 2 )); then compadd -- {commands}; return; fi
    case "$command $previous" in
{values}
    esac
    if [[ $PREFIX == -* ]]; then
        case $command in
{flags}
        esac
    elif [[ $command == train ]] && (( CURRENT == 3 )); then compadd -- {methods}
    elif [[ $command == train ]] && (( CURRENT == 4 )); then compadd -- {tasks}
    elif [[ $command == completion ]]; then compadd -- bash zsh fish
    else _files; fi
}}
compdef _mppo mppo
"""


def zsh() -> str:
    """The script for zsh."""
    from mppo.cli.vocabulary import of_commands, of_methods, tasks

    common, own = _train_flags()
    flags = {name: sorted(words.flags) for name, words in of_commands().items()}
    flags["train"] = sorted({*common, *(flag for some in own.values() for flag in some)})
    values = []
    for key, words in _values():
        action = "_files; " if words is None else f"compadd -- {' '.join(words)}; " if words else ""
        values.append(f'    ("{key}") {action}return ;;')
    return ZSH.format(
        commands=" ".join(COMMANDS),
        values="\n".join(values),
        flags="\n".join(
            f"        ({n}) compadd -- --help {' '.join(f)} ;;" for n, f in flags.items()
        ),
        methods=" ".join(of_methods()),
        tasks=" ".join(tasks()),
    )


def fish() -> str:
    """The script for fish."""
    from mppo.cli.vocabulary import of_commands, of_methods, tasks

    first, on = "__fish_use_subcommand", "__fish_seen_subcommand_from"
    lines = [f"complete -c mppo -n {first} -f -a {n} -d '{c.summary.replace(chr(39), '')}'"
             for n, c in COMMANDS.items()]  # fmt: skip
    lines.append(f"complete -c mppo -n '{on} train' -f -a '{' '.join([*of_methods(), *tasks()])}'")
    lines.append(f"complete -c mppo -n '{on} completion' -f -a 'bash zsh fish'")
    for key, words in _values():
        command, flag = key.split()
        how = "-r -F" if words is None else f"-x -a '{' '.join(words)}'" if words else "-x"
        lines.append(f"complete -c mppo -n '{on} {command}' -l {flag.removeprefix('--')} {how}")
    for command, words in {**of_commands(), "train": next(iter(of_methods().values()))}.items():
        for flag in sorted(words.switches):
            lines.append(f"complete -c mppo -n '{on} {command}' -l {flag.removeprefix('--')} -f")
    return "\n".join(lines) + "\n"
