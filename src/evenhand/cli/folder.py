"""What a folder's own files may set, and what they may not unless the user vouches for the folder.

Whoever unpacks a stranger's folder and runs a command in it has typed none of what `evenhand.toml` and `.env` say. So
they may choose what can do no harm, by the list below; a flag that is not on it may write, send, spend or run.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import click

from evenhand.api.ledgers import inside, store_fault
from evenhand.cli.environment import DOTENV, TOML, UNTRUSTED, Environment, WrongUse, own_file
from evenhand.format.near_names import hint

TRUST, INSECURE = "trust_folder", "insecure_http"
OTHER_VARIABLES: Sequence[str] = ("EVENHAND_CACHE", "EVENHAND_COLUMN_CACHE", "EVENHAND_IMAGE_CACHE")
"""Variables of ours that are no flags."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderRule:
    words: str
    """What the folder may give, for the reference."""
    fault: Callable[[Any, click.Option, Path], str | None]
    """Why it may not give this value: the end of a sentence."""


def _outside(value: Any, _: click.Option, folder: Path) -> str | None:
    return None if inside(str(value), folder) else "which lies outside this folder"


def _raised(value: Any, option: click.Option, _: Path) -> str | None:
    usual = option.default
    try:
        return f"more than the usual {usual}" if isinstance(usual, int | float) and float(value) > usual else None
    except (TypeError, ValueError):
        return None  # no number at all: click says so


def _weights(value: Any, _: click.Option, __: Path) -> str | None:
    name = str(value)
    return "a file of weights" if name.startswith("local/") and name != "local/smollm2" else None


def _other_store(value: Any, _: click.Option, folder: Path) -> str | None:
    return store_fault(str(value), folder)


ANY = FolderRule(words="any value", fault=lambda _value, _option, _folder: None)
NO_MORE = FolderRule(words="no more than the default, or any value where there is none", fault=_raised)
INSIDE = FolderRule(words="a name, or a path inside the folder", fault=_outside)
MODEL = FolderRule(words="a model of a provider, or `local/smollm2`; no file of weights", fault=_weights)
STORE = FolderRule(words="a SQLite file inside the folder", fault=_other_store)

# Not here, with the cause where it is not plain: `price`, `go-on` and a higher limit would undo a budget; `replicates`,
# `showings`, `third-showing`, `prompts`, `mode`, `max-tokens`, `max-calls`, `reasoning-effort`, `service-tier` and
# `timeout` multiply what the same work costs (a call cut off is billed, and asked again); `with-reference` and
# `replies` give away what is withheld; `detector` is loaded and run; `public-key` says whose receipts are believed, and
# a forger's folder would name its own.
MAY_SET: Mapping[str, FolderRule] = {
    **dict.fromkeys(("judge", "model"), MODEL),
    **dict.fromkeys(("benchmark", "criteria", "data", "image_root", "responses", "protocol", "strengths"), INSIDE),
    **dict.fromkeys(("max_connections", "max_retries", "rpm", "tpm", "max_cost", "budget"), NO_MORE),
    "store": STORE,
    **dict.fromkeys(
        (
            # Which answers, and how they are shown to a judge.
            "models", "reference", "variant", "against", "new", "pairs", "battles", "reference_battles", "orders",
            "until", "looks", "columns", "limit", "sample", "category", "items", "seed", "see", "readout", "fence",
            "image_detail", "max_image_edge", "temperature", "top_p", "sampling_seed", "descriptions_by", "dry_run",
            "part", "prompt", "max_options", "max_characters", "per_task",
            # How a board is worked out.
            "method", "unit", "join", "ties", "k", "scale", "base", "start", "anchor", "bootstrap", "resample",
            "unclustered", "soft", "jury", "order_effect", "length", "ordinal", "fit", "shrink", "compare", "baseline",
            "by", "anytime", "by_cluster", "repeats", "compare_variants", "levels", "disagreements", "plan", "changes",
            "policy",
            "require", "assume", "family", "run", "item", "tau", "width",
            "model_a_column", "model_b_column", "winner_column", "winner_as", "winner_words", "item_column",
            "rater_column", "picture",
            # How it is told.
            "json", "format", "quiet", "all", "explain", "boards", "last", "flips", "spreadsheet", "battle_pages",
        ),
        ANY,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RefusedSetting:
    """Stands where the folder's value would; whoever needs the value learns why there is none."""

    sentence: str


class Setting(click.Option):
    """A flag that files may set too; what a folder may not choose is refused where it would be used."""

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, click.core.ParameterSource]:
        value, source = super().consume_value(ctx, cast("Any", opts))
        if (refused := _refused(value)) is not None:
            raise WrongUse(refused.sentence, code=UNTRUSTED)
        return value, source

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        try:
            return super().process_value(ctx, value)
        except click.BadParameter as error:
            said = said_by(ctx, self.name or "")
            if not said:
                raise
            raise click.BadParameter(f"{error.message} {said}", ctx=error.ctx, param=error.param) from error


def said_by(ctx: click.Context, name: str) -> str:
    """A sentence that names the file from which the flag has its value; empty where no file said it."""
    if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT_MAP:
        return ""
    env = cast("Environment", ctx.obj)
    option = next(one for one in settable(ctx.command) if one.name == name)
    if flag_of(option) != INSECURE and _said(option, env.own) is not None:
        return f"The value is from {own_file()}."
    return f"The value is from {DOTENV if str(option.envvar) in env.dotenv else TOML} in this folder."


def chosen_by_folder(ctx: click.Context, name: str) -> bool:
    """Whether the flag has its value from a folder that nobody vouched for."""
    chosen = cast("Environment", ctx.obj).of_folder
    return name in chosen and ctx.get_parameter_source(name) is click.core.ParameterSource.DEFAULT_MAP


def _refused(value: Any) -> RefusedSetting | None:
    first = next(iter(cast("list[Any]", value)), None) if isinstance(value, list) else value
    return first if isinstance(first, RefusedSetting) else None


def flag_of(option: click.Option) -> str:
    """The flag's name with underscores."""
    long = next(name for name in option.opts if name.startswith("--"))
    return long.removeprefix("--").replace("-", "_")


def settable(command: click.Command) -> Iterator[click.Option]:
    """Flags that files can set at all: those with a variable. The demo's ledger, for one, is always its own."""
    for option in command.params:
        if isinstance(option, click.Option) and isinstance(option.envvar, str) and option.name:
            yield option


def settings_taken(ctx: click.Context, _: click.Parameter, given: bool) -> bool:
    """The callback of --trust-folder, which every command has: what files say becomes the defaults of its flags."""
    env = cast("Environment | None", ctx.obj)
    if env is None:
        return given  # nothing is carried out: the shell asks how a word goes on
    if given:
        env = env.trusting()
    if env.own or env.toml or env.dotenv:
        _refuse_unknown(ctx, env)
        ctx.default_map = defaults(ctx.command, env)
        if not env.trusted:
            chosen = frozenset(ctx.default_map) - _own_names(ctx.command, env)
            env = replace(env, of_folder=chosen)
    ctx.obj = env
    return given


def refuse_for(command: click.Command, env: Environment) -> None:
    """Raises WrongUse for what the folder sets and this command would refuse, were it started here."""
    found = defaults(command, env)
    for option in settable(command):
        refused = _refused(found.get(option.name or ""))
        if refused is not None and option.envvar not in env.real:
            raise WrongUse(refused.sentence, code=UNTRUSTED)


def defaults(command: click.Command, env: Environment) -> dict[str, Any]:
    """By the parameters' names: the user's own word first, then `.env`, then the folder's evenhand.toml."""
    found: dict[str, Any] = {}
    for option in settable(command):
        assert option.name is not None
        name = flag_of(option)
        if name == TRUST:
            continue
        if name != INSECURE and (own := _said(option, env.own)) is not None:
            found[option.name] = _from_toml(option, own, str(own_file()))
        elif (written := env.dotenv.get(str(option.envvar))) is not None:
            value = list(option.type.split_envvar_value(written)) if option.multiple else written
            found[option.name] = _guarded(option, value, DOTENV, str(option.envvar), env)
        elif (said := _said(option, env.toml)) is not None:
            value = _from_toml(option, said, TOML)
            found[option.name] = _guarded(option, value, TOML, name.replace("_", "-"), env)
    return found


def _own_names(command: click.Command, env: Environment) -> set[str]:
    return {option.name or "" for option in settable(command) if _said(option, env.own) is not None}


def _said(option: click.Option, toml: Mapping[str, Any]) -> Any:
    """By the flag's name, or by the name that the program has for it."""
    return toml.get(flag_of(option), toml.get(option.name or ""))


def _guarded(option: click.Option, value: Any, file: str, key: str, env: Environment) -> Any:
    name = flag_of(option)
    refused = None
    if name == INSECURE:
        refused = f"{file} in this folder sets '{key}', but only you can say that: {_allowed_by(option, trust=False)}."
    elif not env.trusted:
        refused = _refusal(option, value, file, key, env.folder)
    if refused is None:
        return value
    return [RefusedSetting(refused)] if option.multiple else RefusedSetting(refused)


def _refusal(option: click.Option, value: Any, file: str, key: str, folder: Path) -> str | None:
    rule = MAY_SET.get(flag_of(option))
    if rule is None:
        return (
            f"{file} in this folder sets '{key}', which a folder may not choose for you: it decides what is written, "
            f"sent, spent or run. {_allowed_by(option)}."
        )
    for one in cast("list[Any]", value) if isinstance(value, list) else [value]:
        fault = rule.fault(one, option, folder)
        if fault is not None:
            return (
                f"{file} in this folder sets '{key}' to {one}, {fault}; a folder may give {rule.words}. "
                f"{_allowed_by(option)}."
            )
    return None


def _allowed_by(option: click.Option, *, trust: bool = True) -> str:
    flag = f"--{flag_of(option).replace('_', '-')}"
    trusting = ", or give --trust-folder if you trust this folder" if trust else ""
    return f"Give {flag} yourself or set {option.envvar} in your environment{trusting}"


def _from_toml(option: click.Option, value: Any, file: str) -> Any:
    flag = flag_of(option).replace("_", "-")
    if isinstance(value, list) and not option.multiple:
        raise WrongUse(f"{file} gives '{flag}' a list, but it takes one value.", code="EH-SETTINGS")
    values: list[Any] = cast("list[Any]", value) if isinstance(value, list) else [value]
    if not all(isinstance(one, str | int | float) for one in values):
        raise WrongUse(
            f"{file} gives '{flag}' something that is neither a text nor a number, true or false.", code="EH-SETTINGS"
        )
    if any(isinstance(one, int) and one.bit_length() > 63 for one in values):
        raise WrongUse(f"{file} gives '{flag}' a larger number than any flag takes.", code="EH-SETTINGS")
    return values if option.multiple else values[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The flags of all commands."""

    names: Mapping[str, str]
    """By each name that a flag goes by."""
    variables: set[str]
    repeatable: set[str]
    """By some command at least."""


def _refuse_unknown(ctx: click.Context, env: Environment) -> None:
    """Raises WrongUse for a setting that no command has, that stands there twice, or that vouches for the folder."""
    known = _known(ctx)
    _check_toml(env.own, str(own_file()), known)
    _check_toml(env.toml, TOML, known)
    for variable in env.dotenv:
        if variable.startswith("EVENHAND_") and variable not in known.variables:
            raise WrongUse(
                f"{DOTENV} sets {variable}, which no command reads; {hint(variable, known.variables)}",
                code="EH-SETTINGS",
            )
    if TRUST in env.own or INSECURE in env.own:
        raise WrongUse(
            f"{own_file()} cannot say trust-folder or insecure-http for good: give them when you mean it.",
            code="EH-SETTINGS",
        )
    if not env.trusted and (TRUST in env.toml or "EVENHAND_TRUST_FOLDER" in env.dotenv):
        file = TOML if TRUST in env.toml else DOTENV
        raise WrongUse(
            f"{file} in this folder says 'trust-folder', but a folder cannot trust itself. Give --trust-folder if "
            "you trust this folder.",
            code=UNTRUSTED,
        )


def _check_toml(toml: Mapping[str, Any], file: str, known: _Known) -> None:
    seen: set[str] = set()
    for name, value in toml.items():
        if isinstance(value, dict):
            raise WrongUse(
                f"{file} has the table [{name}], but it holds flags alone, one a line, that stand for every "
                f'command that has them: judge = "openai/gpt-4o".',
                code="EH-SETTINGS",
            )
        flag = known.names.get(name)
        if flag is None:
            raise WrongUse(
                f"{file} sets '{name}', which is no flag of any command; {hint(name, known.names)}", code="EH-SETTINGS"
            )
        if flag in seen:
            raise WrongUse(
                f"{file} sets '{flag.replace('_', '-')}' twice, under two names; leave one out.", code="EH-SETTINGS"
            )
        if isinstance(value, list) and flag not in known.repeatable:
            raise WrongUse(
                f"{file} gives '{flag.replace('_', '-')}' a list, but it takes one value.", code="EH-SETTINGS"
            )
        seen.add(flag)


def _known(ctx: click.Context) -> _Known:
    root = ctx.find_root()
    found = [one for command in every_command(cast(click.Group, root.command), root) for one in settable(command)]
    return _Known(
        names={name: flag_of(option) for option in found for name in (option.name or "", flag_of(option))},
        variables={*OTHER_VARIABLES, *(str(option.envvar) for option in found)},
        repeatable={flag_of(option) for option in found if option.multiple},
    )


def every_command(group: click.Group, ctx: click.Context) -> Iterator[click.Command]:
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        yield command
        if isinstance(command, click.Group):
            yield from every_command(command, ctx)
