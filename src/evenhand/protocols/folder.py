"""A protocol from a folder: protocol.toml and prompt files. Data only: nothing in the folder is run."""

import tomllib
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import get_args

from evenhand.domain.call import Role
from evenhand.domain.rater import Settings
from evenhand.domain.trial import Readout, See
from evenhand.domain.verdict import Levels
from evenhand.prompts import Template, TemplateError
from evenhand.protocols.protocol import Protocol, ProtocolError, Seeing, Turn, slot_refusal
from evenhand.protocols.reading import Kind
from evenhand.protocols.reading_table import constrained_readout, reading_rule
from evenhand.protocols.table import Table

FILE = "protocol.toml"


def protocol_from_folder(folder: Path) -> Protocol:
    """Raises ProtocolError: a sentence that names the file and the key."""
    table = Table(_toml(folder / FILE), file=str(folder / FILE))
    kind: Kind = table.one_of("kind", get_args(Kind))
    levels = _levels(table, kind)
    prompts = _PromptFiles(folder)
    turns = tuple(_turn(turn, prompts) for turn in table.tables("turns"))
    if table.optional("extraction", str) is not None:
        raise table.wrong("extraction", "a second call that reads the decision out of a reply is not built yet.")
    protocol = Protocol(
        name=table.take("name", str),
        kind=kind,
        levels=levels,
        rule=reading_rule(table, kind=kind, levels=levels),
        slots=_slots(table, turns),
        turns=turns,
        constrained=constrained_readout(table, kind=kind, levels=levels),
        seeing=_seeing(table),
        settings=_settings(table),
        source=table.optional("source", str) or "",
    )
    table.done()
    _check_prompt(protocol, table)
    return protocol


def _toml(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ProtocolError(f"{path} does not exist; a protocol's folder holds a {FILE}.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise ProtocolError(f"{path} is not valid TOML: {fault}.") from None
    except (OSError, UnicodeDecodeError) as fault:
        raise ProtocolError(f"{path} cannot be read: {fault}.") from None


def _levels(table: Table, kind: Kind) -> Levels | None:
    if kind == "preference":
        return table.one_of("levels", get_args(Levels))
    if table.optional("levels", int) is not None:
        raise table.wrong("levels", f"only a preference has levels, not a protocol of kind {kind}.")
    return None


class _PromptFiles:
    """The folder's prompt files; only files inside the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def text(self, table: Table, key: str) -> str:
        name = table.take(key, str)
        path = self._folder / name
        outside = PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor or not name
        if outside or not path.resolve().is_relative_to(self._folder.resolve()):
            raise table.wrong(key, f"{name!r} is not a file inside the protocol's folder.")
        try:
            text = path.read_bytes().decode("utf-8")
        except FileNotFoundError:
            raise table.wrong(key, f"the file {name} does not exist in {self._folder}.") from None
        except (OSError, UnicodeDecodeError) as fault:
            raise table.wrong(key, f"the file {name} cannot be read: {fault}.") from None
        # The line break that ends a file belongs to the file, not to the prompt.
        return text.replace("\r\n", "\n").removesuffix("\n")

    def template(self, text: str, source: str) -> Template:
        try:
            return Template.parse(text, source=str(self._folder / source))
        except TemplateError as fault:
            raise ProtocolError(str(fault)) from None


def _slots(table: Table, turns: tuple[Turn, ...]) -> frozenset[str]:
    slots = frozenset(table.texts("slots"))
    # Without turns nothing is ever filled: the folder only reads replies that were asked for elsewhere.
    if turns and (refusal := slot_refusal(slots)):
        raise table.wrong("slots", refusal)
    return slots


def _turn(table: Table, prompts: _PromptFiles) -> Turn:
    role: Role = table.one_of("role", get_args(Role))
    name = str(table.left.get("file"))
    text = prompts.text(table, "file")
    ending = table.table("ending")
    table.done()
    if ending is None:
        return Turn(role=role, template=prompts.template(text, name))
    free, constrained = prompts.text(ending, "free"), None
    if "constrained" in ending.left:
        constrained = prompts.template(f"{text}\n\n{prompts.text(ending, 'constrained')}", name)
    ending.done()
    return Turn(role=role, template=prompts.template(f"{text}\n\n{free}", name), constrained=constrained)


def _seeing(protocol: Table) -> Seeing:
    table = protocol.table("see")
    if table is None:
        return Seeing()
    default: See = table.one_of("default", get_args(See), default="caption")
    allowed = table.texts("allowed") or (default,)
    ways: list[See] = [see for see in get_args(See) if see in allowed]
    if unknown := set(allowed) - set(ways):
        raise table.wrong(
            "allowed", f"{', '.join(sorted(unknown))} is not known; known are {', '.join(get_args(See))}."
        )
    if default not in ways:
        raise table.wrong("default", f"{default} is not among those allowed.")
    written = table.table("instead")
    instead: dict[See, str] = {}
    if written is not None:
        instead = {see: written.take(see, str) for see in ways if see in written.left}
        written.done()
    table.done()
    return Seeing(default=default, allowed=tuple(ways), instead=instead)


def _settings(protocol: Table) -> Settings:
    table = protocol.table("settings")
    if table is None:
        return Settings()
    settings = Settings(
        temperature=table.optional("temperature", float),
        top_p=table.optional("top_p", float),
        max_tokens=table.optional("max_tokens", int),
        seed=table.optional("seed", int),
        stop=table.texts("stop"),
        reasoning_effort=table.optional("reasoning_effort", str),
    )
    table.done()
    return settings


def _check_prompt(protocol: Protocol, table: Table) -> None:
    """The slots declared are those in the files, and a constrained readout has its own ending."""
    if not protocol.turns:
        return
    readouts: tuple[Readout, ...] = get_args(Readout)
    for readout in readouts:
        used = frozenset[str]().union(*(turn.under(readout).slots for turn in protocol.turns))
        if used != protocol.slots:
            declared, found = ", ".join(sorted(protocol.slots)) or "nothing", ", ".join(sorted(used)) or "nothing"
            raise table.wrong("slots", f"it declares {declared}, but the prompt files have the slots {found}.")
    has_ending = any(turn.constrained for turn in protocol.turns)
    if protocol.constrained and not has_ending:
        raise table.wrong("constrained", "no turn has an ending with a file for constrained readout.")
    if has_ending and not protocol.constrained:
        raise table.wrong("constrained", "it is missing, but a turn has an ending for constrained readout.")
