"""Typed options: a command's dataclass, whose fields declare the flags that fill them.

`takes` gives a command the flags of such a class, in the order of its fields, and hands it one filled value. A field
that is a dataclass itself is a block of flags that several commands share. Each flag can be set by a variable too:
EVENHAND_ and the flag's name.
"""

import functools
import math
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast, get_args

import click
from click.core import ParameterSource

from evenhand.api.items import ItemChoice
from evenhand.api.ledgers import USUAL_STORE, store_fault, with_images
from evenhand.cli.environment import UNTRUSTED, Environment, WrongUse
from evenhand.cli.folder import Setting, chosen_by_folder, said_by, settings_taken
from evenhand.domain.trial import Readout, See
from evenhand.domain.vote import Joining
from evenhand.files.outputs import Target
from evenhand.format.sheet import Format

if TYPE_CHECKING:
    from evenhand.domain.item import Benchmark
    from evenhand.exchange.judgements.preferences_file import PreferenceForm

Command: TypeAlias = Callable[..., None]
Flag: TypeAlias = Callable[[Command], Command]
Options = TypeVar("Options")


class TextWithSpaces(click.ParamType[str]):
    """A text that may hold spaces: a variable gives one, not several."""

    name = "text"

    def split_envvar_value(self, rv: str) -> list[str]:
        return [rv]


WORDS = TextWithSpaces()


class OneOf(click.Choice[str]):
    """One of names that are asked for only when they are needed: what knows them is slow to import."""

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        self._names = names
        super().__init__(())

    @property
    def choices(self) -> tuple[str, ...]:
        return tuple(self._names())

    @choices.setter
    def choices(self, _: object) -> None: ...  # pyright: ignore[reportIncompatibleVariableOverride]


def _method_names() -> tuple[str, ...]:
    from evenhand.reports.board.methods.catalog import method_names

    return method_names()


def _part_names() -> tuple[str, ...]:
    from evenhand.audit.measures.catalog import part_names

    return part_names()


METHOD = OneOf(_method_names)
"""A rating method, built in or of an installed package."""
PART = OneOf(_part_names)
"""Of an audit, likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Declared:
    """What fills a field."""

    flag: Callable[[str], Flag]
    """By the field's name, by which the program knows the flag."""
    written: bool = False
    """It says where to write: the field holds a Target."""
    checked: bool = False
    """What may not be written is told before any work is done."""


def option(*names: str, settable: bool = True, **attributes: Any) -> Any:
    """A field that this flag fills; the attributes are click's. `settable`: by a variable and by files too."""
    return _field(_Declared(flag=functools.partial(_option, names, settable, attributes)), attributes)


def output(*names: str, settable: bool = True, checked: bool = True, **attributes: Any) -> Any:
    """A field of a Target, or of several, in a class with a field `force`. A dry run writes nothing, so checks none."""
    flag = functools.partial(_option, names, settable, attributes)
    return _field(_Declared(flag=flag, written=True, checked=checked), attributes)


def argument(**attributes: Any) -> Any:
    """A field that the command line's argument of the field's name fills."""
    given = {"required": True, **attributes}
    return _field(_Declared(flag=lambda name: click.argument(name, **attributes)), given)


def _field(declared: _Declared, attributes: Mapping[str, Any]) -> Any:
    """With the default that click has for the flag."""
    several = attributes.get("multiple") or attributes.get("nargs") == -1
    usual = attributes.get("default", () if several else False if attributes.get("is_flag") else None)
    return field(default=MISSING if attributes.get("required") else usual, metadata={_Declared: declared})


def _option(names: tuple[str, ...], settable: bool, attributes: Mapping[str, Any], name: str) -> Flag:
    if not settable:
        return click.option(*names, name, **attributes)
    long = next(one for one in names if one.startswith("--")).split("/")[0]
    variable = "EVENHAND_" + long.removeprefix("--").replace("-", "_").upper()
    return click.option(*names, name, cls=Setting, envvar=variable, **attributes)


def takes(kind: type[Options]) -> Callable[[Callable[[click.Context, Options], None]], Command]:
    """The command takes the flags that these options declare."""

    def decorate(command: Callable[[click.Context, Options], None]) -> Command:
        @functools.wraps(command)
        def carried_out(**flags: Any) -> None:
            ctx = click.get_current_context()
            _refuse_endless(ctx, flags)
            command(ctx, _filled(kind, _with_targets(kind, _with_images(ctx, flags))))

        made: Command = carried_out
        for one, declared in reversed(list(_declared(kind))):
            made = declared.flag(one.name)(made)
        return made

    return decorate


def _refuse_endless(ctx: click.Context, flags: Mapping[str, Any]) -> None:
    """Raises WrongUse for nan and inf: the one is in every range of click's, the other in those without an end."""
    for name, value in flags.items():
        if isinstance(value, float) and not math.isfinite(value):
            flag = next(one.opts[0] for one in ctx.command.params if one.name == name)
            raise WrongUse(f"{flag} is a finite number, not {value}. {said_by(ctx, name)}".rstrip())


def _declared(kind: type[Any]) -> Iterator[tuple[Field[Any], _Declared]]:
    """The fields of the options and of their blocks, in their order."""
    for one in fields(kind):
        declared = one.metadata.get(_Declared)
        if declared is None:
            yield from _declared(_block(one))
        else:
            yield one, declared


def _block(one: Field[Any]) -> type[Any]:
    assert is_dataclass(one.type), f"{one.name} is filled by no flag"
    return cast("type[Any]", one.type)


def _filled(kind: type[Options], flags: Mapping[str, Any]) -> Options:
    return kind(
        **{
            one.name: flags[one.name] if _Declared in one.metadata else _filled(_block(one), flags)
            for one in fields(cast("type[Any]", kind))
        }
    )


def as_given(options: Any) -> Iterator[tuple[str, object]]:
    """The values of the options and of their blocks, by the flags' names in the program."""
    for one in fields(options):
        value = getattr(options, one.name)
        if _Declared in one.metadata:
            yield one.name, value
        else:
            yield from as_given(value)


def _with_targets(kind: type[Any], flags: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(flags)
    for one, declared in _declared(kind):
        if declared.written:
            check = declared.checked and not flags.get("dry_run")
            made[one.name] = _targets(flags[one.name], force=flags["force"], check=check)
    return made


def _targets(given: Any, *, force: bool, check: bool) -> Any:
    if isinstance(given, tuple):
        return tuple(_targets(one, force=force, check=check) for one in cast("tuple[Any, ...]", given))
    if given is None or given == "-":
        return given
    made = target(given, force=force)
    if check:
        made.check()
    return made


def target(path: Path | str, *, force: bool) -> Target:
    """A file that the command under way is to write."""
    _, _, command = click.get_current_context().command_path.partition(" ")
    return Target(path=Path(path), command=command, force=force)


def trust_folder() -> bool:
    return option("--trust-folder", **_TRUST)


def trustful(command: click.Command) -> None:
    """Gives the command --trust-folder, where its options have none: its word is taken without being handed on."""
    if not any(parameter.name == "trust_folder" for parameter in command.params):
        _option(("--trust-folder",), True, {**_TRUST, "expose_value": False}, "trust_folder")(command)


_TRUST: Mapping[str, Any] = {
    "is_flag": True,
    # Before any other flag is looked at it takes in what files set.
    "is_eager": True,
    "callback": settings_taken,
    "help": "Let evenhand.toml and .env of this folder set anything: keys, addresses, files to write.",
}


def usual_store(ctx: click.Context, parameter: click.Parameter, url: str) -> str:
    """A folder may hold a link where the ledger usually lies: only a ledger that the user named leads elsewhere."""
    if ctx.get_parameter_source(parameter.name or "") is ParameterSource.DEFAULT and not ctx.obj.trusted:
        fault = store_fault(url, ctx.obj.folder)
        if fault is not None:
            raise WrongUse(
                f"The ledger would be {url}, {fault}. Give --store with where it really lies, or --trust-folder if you "
                "trust this folder.",
                code=UNTRUSTED,
            )
    return url


_IMAGES = "ledger_images"


def _with_images(ctx: click.Context, flags: Mapping[str, Any]) -> dict[str, Any]:
    """The ledger's URL with what --images says, or the variable where the command has another flag of that name."""
    made = dict(flags)
    images = made.pop(_IMAGES, None)
    if "images" in made and isinstance(ctx.obj, Environment):
        images = ctx.obj.environment.get("EVENHAND_IMAGES")
    return {**made, "store": with_images(made["store"], images)} if images and "store" in made else made


def store(*, images: bool = True) -> str:
    """With --images beside it, which becomes a part of the URL: whoever opens the ledger needs no more. `images`: False
    where the command has another flag of that name."""
    its = {"default": USUAL_STORE, "show_default": True, "callback": usual_store, "help": "The ledger's URL."}
    where = {
        "metavar": "URL",
        "help": "Where its images lie, if not where they usually do: a folder, `database` or s3://BUCKET/PREFIX. On "
        "record from then on.",
    }

    def flag(name: str) -> Flag:
        def both(command: Command) -> Command:
            made = _option(("--images",), True, where, _IMAGES)(command) if images else command
            return _option(("--store",), True, its, name)(made)

        return both

    return _field(_Declared(flag=flag), its)


_COLUMNS_EXAMPLE = "question=instruction,img=images"
_OTHER_NAMES = {"id": "item", "license": "licence", "image_licence": "licence", "captions": "caption"}
"""Fields that can be called in two ways, of which a file is to use one."""
_OF_ANSWERS = ("model", "response")
"""Columns that no file of items has."""


class ShowingGroup(click.Group):
    """Says how one of its things is shown where its name stands in a command's place."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            shown = f"{ctx.command_path} show {shlex.quote(args[0])}"
            ctx.fail(f"There is no command '{args[0]}' of {self.name}; `{shown}` shows one of that name.")
        return super().resolve_command(ctx, args)


def columns(meaning: str) -> str | None:
    return _pairs("--columns", meaning)


def _pairs(flag: str, meaning: str) -> str | None:
    """Given again it says more: what a message advises can be added to what was typed."""

    def together(_: click.Context, __: click.Parameter, given: Sequence[str]) -> str | None:
        return ",".join(given) or None

    return option(
        flag,
        metavar="THEIRS=OURS,…",
        multiple=True,
        default=None,
        type=WORDS,
        callback=together,
        help=f"{meaning} Repeatable.",
    )


def winner_as() -> "Literal['names', 'words'] | None":
    return option(
        "--winner-as",
        type=click.Choice(["names", "words"]),
        help="Whether winners in a file are models' names or words for a side (model_a, left, tie); by default what "
        "all rows together say.",
    )


def winner_words() -> str | None:
    return _pairs(
        "--winner-words", "What other words for a winner in a file mean: first=model_a,second=model_b,draw=tie."
    )


def winner_words_of(text: str | None) -> dict[str, str]:
    """What --winner-words says. Raises WrongUse."""
    from evenhand.stats.ratings.codes import WINNERS

    words = pairs_of(text, "--winner-words", "first=model_a,second=model_b,draw=tie") if text else {}
    for theirs, ours in words.items():
        if ours not in WINNERS:
            raise WrongUse(f"--winner-words says that {theirs!r} is {ours!r}; it can be one of {', '.join(WINNERS)}.")
    return words


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictFileOptions:
    """Who won and who judged, in files that have words of their own for it."""

    winner_as: "Literal['names', 'words'] | None" = winner_as()
    winner_words: str | None = winner_words()
    # Of the files at hand, so no settings of a folder.
    names: str | None = option(
        "--names",
        settable=False,
        metavar="FILE:ID:NAME",
        help="A table of models' names, where files have ids: models.jsonl:id:name.",
    )
    rater: tuple[str, ...] = option(
        "--rater",
        settable=False,
        multiple=True,
        help="Who judged a file that does not say it; repeatable, one for each such file in their order.",
    )
    rater_kind: "Literal['human', 'model'] | None" = option(
        "--rater-kind",
        settable=False,
        type=click.Choice(["human", "model"]),
        help="What those are; without --rater, all of whom the files do not say it. human by default.",
    )
    dry_run: bool = option(
        "--dry-run", is_flag=True, help="Only say how files are understood, with their first rows as they will be read."
    )

    @property
    def words(self) -> dict[str, str]:
        """Our words for a winner by the files' own. Raises WrongUse."""
        return winner_words_of(self.winner_words)

    def told_with(self, columns: Mapping[str, str]) -> dict[str, Any]:
        """As the calls of the same names take it. Raises WrongUse."""
        return {
            "columns": columns,
            "winner_words": self.words,
            "winner_as": self.winner_as,
            "names": self.names,
            "rater": self.rater,
            "rater_kind": self.rater_kind,
        }

    def form_with(self, columns: Mapping[str, str]) -> "PreferenceForm":
        """Raises WrongUse, ExchangeError where the table of names does not fit."""
        from evenhand.exchange.judgements.preferences_file import form_of_files

        return form_of_files(**self.told_with(columns))


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleFileOptions:
    """How files of battles or preferences are to be read, where they have names and words of their own."""

    columns: str | None = columns("What columns of FILES are: question=item,left=model_a,right=model_b,choice=winner.")
    verdicts: VerdictFileOptions

    @property
    def by_theirs(self) -> dict[str, str]:
        """Our names of columns by the files' own. Raises WrongUse."""
        return columns_of(self.columns, "question=item,choice=winner") or {}

    @property
    def told(self) -> dict[str, Any]:
        """As the calls of the same names take it. Raises WrongUse."""
        return self.verdicts.told_with(self.by_theirs)

    @property
    def form(self) -> "PreferenceForm":
        """Raises WrongUse, ExchangeError where the table of names does not fit."""
        return self.verdicts.form_with(self.by_theirs)

    @property
    def dry_run(self) -> bool:
        return self.verdicts.dry_run


OF_VERDICTS = ("winner_as", "winner_words", "names", "rater", "rater_kind")
OF_FILES = ("columns", *OF_VERDICTS)
"""Flags that say how files of verdicts are read."""


def raters() -> tuple[str, ...]:
    return option(
        "--raters",
        settable=False,
        multiple=True,
        help="Whose verdicts of FILES count: people, models, all, or a rater's name; repeatable. People's by default "
        "where people and models judged.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFileOptions:
    """How files of one's own items, and of answers to them, are to be read."""

    columns: str | None = columns(
        "What columns of your own files are, of items (question=instruction,img=images) or answers (who=model)."
    )
    image_root: Path | None = option(
        "--image-root",
        type=click.Path(path_type=Path),
        help="The folder from which your own file of items names its images; its own by default.",
    )

    def load(self, name: str, *, data: Path | None = None, reference: str | None = None) -> "Benchmark":
        """The benchmark of that name. Raises BenchmarkError."""
        from evenhand.benchmarks.catalog import load_benchmark

        given = columns_of(self.columns, _COLUMNS_EXAMPLE) or {}
        columns = {theirs: ours for theirs, ours in given.items() if ours not in _OF_ANSWERS} or None
        # Of a file that only the folder names nobody has said that it may name images anywhere.
        fenced = chosen_by_folder(click.get_current_context(), "benchmark")
        return load_benchmark(
            name, data, reference=reference, columns=columns, image_root=self.image_root, fenced=fenced
        )

    @property
    def of_answers(self) -> dict[str, str]:
        """Our names by those of a file of answers."""
        given = columns_of(self.columns, _COLUMNS_EXAMPLE) or {}
        return {theirs: ours for theirs, ours in given.items() if ours in ("item", "id", *_OF_ANSWERS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOptions:
    """Where a benchmark's data is."""

    data: Path | None = option(
        "--data", type=click.Path(path_type=Path), help="The benchmark's file, where it is not bundled."
    )
    reference: str | None = option(
        "--reference",
        metavar="NAME",
        help="What plays as the reference, where the data offers several (visit-bench: given, verified-gpt4).",
    )
    own: OwnFileOptions

    def load(self, name: str) -> "Benchmark":
        """The benchmark of that name. Raises BenchmarkError."""
        return self.own.load(name, data=self.data, reference=self.reference)


def columns_of(text: str | None, example: str) -> dict[str, str] | None:
    """What --columns says; None where it says nothing. Raises WrongUse."""
    columns = pairs_of(text, "--columns", example) if text else None
    named: dict[str, str] = {}
    for theirs, ours in (columns or {}).items():
        field = _OTHER_NAMES.get(ours, ours)
        if field in named:
            same = (
                ""
                if ours == field and columns and columns[named[field]] == field
                else f" ({ours!r} is another name of it)"
            )
            raise WrongUse(
                f"--columns calls both {named[field]!r} and {theirs!r} the {field}{same}; each field has one column."
            )
        named[field] = theirs
    return columns


def pairs_of(text: str, flag: str, example: str) -> dict[str, str]:
    """Of THEIRS=OURS,… Raises WrongUse."""
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    found = {theirs.strip(): ours.strip() for theirs, _, ours in pairs}
    if not all(theirs and ours for theirs, ours in found.items()) or len(found) < len(pairs):
        raise WrongUse(f"{flag} is {text!r}; write THEIRS=OURS with commas between, each once, such as {example}.")
    return found


def allow_partial() -> bool:
    return option(
        "--allow-partial",
        is_flag=True,
        help="Take what can be taken of a file with missing, unknown or contradicting items.",
    )


def explain() -> bool:
    return option(
        "--explain", is_flag=True, help="Every sentence: all cautions, what columns mean, how it was worked out."
    )


def force() -> bool:
    return option(
        "--force", is_flag=True, help="Write over a file that is there, though this command did not write it."
    )


def seed(meaning: str = "Random seed.") -> int:
    return option("--seed", type=int, default=0, show_default=True, help=meaning)


def as_json() -> bool:
    return option("--json", is_flag=True, help="One JSON document on standard output.")


def quiet() -> bool:
    return option("--quiet", is_flag=True, help="No progress.")


def plot(meaning: str) -> tuple[Target, ...]:
    return output("--plot", multiple=True, type=click.Path(path_type=Path, dir_okay=False), help=meaning)


def table_format(meaning: str = "How the tables are written.") -> Format:
    return option(
        "--format",
        type=click.Choice(["table", "csv", "md", "latex"]),
        default="table",
        show_default=True,
        help=meaning,
    )


def readout() -> Readout | None:
    return option("--readout", type=click.Choice(["free", "constrained", "token"]), help="Readout mode.")


def see() -> See | None:
    return option("--see", type=click.Choice(get_args(See)), help="Of a judge who was shown this of the image.")


def variant() -> str | None:
    return option("--variant", help="Of which variant of the answers.")


def join(meaning: str) -> Joining:
    return option("--join", type=click.Choice(["visit", "mt-bench"]), default="visit", show_default=True, help=meaning)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerOptions:
    """Of a command that needs to be told no more than which ledger, and in which form to answer."""

    store: str = store()
    as_json: bool = as_json()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoosingOptions:
    """Which board on record is meant."""

    benchmark: str | None = option("--benchmark", help="Which benchmark's judgements.")
    judge: str | None = option("--judge", help="Which judge's.")
    protocol: str | None = option("--protocol", help="Under which protocol.")
    readout: Readout | None = readout()
    variant: str | None = variant()
    see: See | None = see()
    run: str | None = option("--run", help="The board that this run is part of, with all runs judged and shown alike.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOptions(ItemChoice):
    limit: int | None = option("--limit", type=click.IntRange(1), help="Only the first N items.")
    sample: int | None = option("--sample", type=click.IntRange(1), help="Only N items, sampled with --seed.")
    category: tuple[str, ...] = option("--category", multiple=True, help="Only items of this category; repeatable.")
    items: tuple[str, ...] = option("--items", multiple=True, help="Only these items; repeatable.")


def refuse_mixture(
    ctx: click.Context, files: Sequence[Path], *, of_ledger: Sequence[str], of_files: Sequence[str]
) -> None:
    """Flags of a ledger beside files, or of files without any; only those typed, for a folder's hold for all."""
    for name in of_ledger if files else of_files:
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            flag = name.replace("_", "-")
            if files:
                raise WrongUse(f"--{flag} chooses from the ledger, and {files[0]} is a file: give one of the two.")
            raise WrongUse(f"--{flag} says how a file is read: give the file too.")
