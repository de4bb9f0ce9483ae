"""A protocol from a folder: protocol.toml and prompt files. Data only: nothing in the folder is run."""

from dataclasses import fields
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import get_args

from evenhand.domain.call import Role
from evenhand.domain.rater import Settings
from evenhand.domain.rubric import Rubric
from evenhand.domain.trial import Readout, See
from evenhand.domain.verdict import Levels
from evenhand.format.near_names import hint
from evenhand.format.toml_text import read_toml
from evenhand.prompts import Template, TemplateError
from evenhand.protocols.criteria import CRITERIA_SLOTS, criteria_words, read_criteria
from evenhand.protocols.protocol import (
    ALL_CANDIDATES,
    CANDIDATE_SLOT,
    JUDGEMENT,
    LAST_SLOT,
    Protocol,
    ProtocolError,
    Seeing,
    Turn,
    candidate_slot,
    slot_refusal,
)
from evenhand.protocols.reading import Kind
from evenhand.protocols.reading_table import constrained_readout, grading_rule, reading_rule
from evenhand.protocols.table import Table

FILE = "protocol.toml"
_OPTION_SLOTS = frozenset({"number", "response"})
_PUBLISHABLE = ("see", "image_detail", *(setting.name for setting in fields(Settings)))


def protocol_from_folder(folder: Path, *, prompt: str | None = None, rubric: Rubric | None = None) -> Protocol:
    """`prompt`: which of several prompts, where a turn has several files; by default the first. `rubric`: criteria in
    place of the folder's own.

    Raises ProtocolError: a sentence that names the file and the key.
    """
    return _load(folder, prompt=prompt, extracts=False, rubric=rubric)


def _load(folder: Path, *, prompt: str | None, extracts: bool, rubric: Rubric | None = None) -> Protocol:
    """`extracts`: it is another protocol's second step, and so has none of its own."""
    table = Table(_toml(folder / FILE), file=str(folder / FILE))
    kind: Kind = table.one_of("kind", get_args(Kind))
    levels = _levels(table, kind)
    rubric = _rubric(table, folder, kind=kind, given=rubric)
    prompts = _PromptFiles(folder, prompt=prompt, rubric=rubric)
    turns = tuple(_turn(turn, prompts) for turn in table.tables("turns"))
    if prompt and not prompts.chosen:
        raise table.wrong("turns", f"no turn has several files, so there is no prompt {prompt}.")
    if extracts and "extraction" in table.left:
        raise table.wrong("extraction", "a second call has no second call of its own.")
    name = table.take("name", str)
    slots = _slots(table, turns, rubric)
    protocol = Protocol(
        name=f"{name}_{prompts.chosen}" if prompts.chosen else name,
        kind=kind,
        levels=levels,
        rule=reading_rule(table, kind=kind, levels=levels, rubric=rubric),
        slots=slots,
        turns=turns,
        rubric=rubric,
        option=_option(table, prompts),
        extraction=_extraction(table, folder, kind=kind, levels=levels),
        grading=grading_rule(table, kind=kind, prompt=prompts.chosen),
        constrained=constrained_readout(table, kind=kind, levels=levels),
        seeing=_seeing(table, slots),
        settings=_settings(table),
        published=_published(table),
        against=table.optional("against", str),
        source=table.optional("source", str) or "",
        reply_tokens=_reply_tokens(table),
    )
    table.done()
    _check_prompt(protocol, table)
    return protocol


def _reply_tokens(table: Table) -> int | None:
    tokens = table.optional("reply_tokens", int)
    if tokens is not None and tokens < 1:
        raise table.wrong("reply_tokens", f"a reply has at least 1 token, not {tokens}.")
    return tokens


def _rubric(table: Table, folder: Path, *, kind: Kind, given: Rubric | None) -> Rubric | None:
    """The folder's own criteria, or those given in their place; None where it has none."""
    name = table.optional("criteria", str)
    if name is None:
        if given is not None:
            raise ProtocolError(
                f"Protocol {table.left.get('name')} grades by no criteria that others could take the place of; choose "
                "`rubric`, or leave out the criteria.",
                code="EH-PROTOCOL-UNFIT",
            )
        return None
    if kind != "grades":
        raise table.wrong("criteria", f"only grades are given by criteria, not a protocol of kind {kind}.")
    if Path(name).name != name:
        raise table.wrong("criteria", f"{name!r} is not a file inside the protocol's folder.")
    return given or read_criteria(folder / name)


def _option(table: Table, prompts: "_PromptFiles") -> Template | None:
    if "option" not in table.left:
        return None
    name = str(table.left["option"])
    template = prompts.template(prompts.text(table, "option"), name)
    if template.slots != _OPTION_SLOTS:
        found = ", ".join(sorted(template.slots)) or "nothing"
        raise table.wrong("option", f"its slots must be {', '.join(sorted(_OPTION_SLOTS))}; {name} has {found}.")
    return template


def _extraction(table: Table, folder: Path, *, kind: Kind, levels: Levels | None) -> Protocol | None:
    """A protocol in a folder inside this one, or one that comes with Evenhand."""
    name = table.optional("extraction", str)
    if name is None:
        return None
    places = [folder / name, Path(__file__).parent / name] if name.isidentifier() else []
    found = next((place for place in places if (place / FILE).is_file()), None)
    if found is None:
        raise table.wrong("extraction", f"there is no protocol {name!r}, neither inside this folder nor built in.")
    protocol = _load(found, prompt=None, extracts=True)
    if (protocol.kind, protocol.levels, protocol.slots) != (kind, levels, {JUDGEMENT}):
        raise table.wrong(
            "extraction", f"{name} must be of the same kind and levels, and its one slot must be {JUDGEMENT}."
        )
    return protocol


def _published(table: Table) -> tuple[str, ...]:
    names = table.texts("published")
    for name in names:
        if name not in _PUBLISHABLE:
            raise table.wrong("published", f"{name!r} is not known; {hint(name, _PUBLISHABLE)}")
    return names


def _toml(path: Path) -> dict[str, object]:
    try:
        return read_toml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ProtocolError(
            f"{path} does not exist; a protocol's folder holds a {FILE}.", code="EH-FILE-MISSING"
        ) from None
    except (OSError, UnicodeDecodeError) as fault:
        raise ProtocolError(f"{path} cannot be read: {fault}.") from None
    except (ValueError, RecursionError) as fault:  # also a number with thousands of digits
        raise ProtocolError(f"{path} is not valid TOML: {fault}.") from None


def _levels(table: Table, kind: Kind) -> Levels | None:
    if kind == "preference":
        return table.one_of("levels", get_args(Levels))
    if table.optional("levels", int) is not None:
        raise table.wrong("levels", f"only a preference has levels, not a protocol of kind {kind}.")
    return None


class _PromptFiles:
    """The folder's prompt files; only files inside the folder."""

    def __init__(self, folder: Path, *, prompt: str | None, rubric: Rubric | None = None) -> None:
        self._folder = folder
        self._settled = criteria_words(rubric) if rubric else dict[str, str]()
        self._wanted = prompt
        self.chosen = ""
        """Which of several prompts; empty where no turn has several files."""

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

    def choice(self, files: Table) -> str:
        """The key of the prompt that was asked for, of a turn's several files; the first by default."""
        there = list(files.left)
        chosen = self._wanted or next(iter(there), "")
        if chosen not in there:
            raise files.wrong(chosen, f"there is no such prompt; there is {', '.join(there) or 'none'}.")
        self.chosen = chosen
        return chosen

    def template(self, text: str, source: str) -> Template:
        try:
            return Template.parse(text, source=str(self._folder / source)).settled(self._settled)
        except TemplateError as fault:
            raise ProtocolError(str(fault)) from None


def _slots(table: Table, turns: tuple[Turn, ...], rubric: Rubric | None) -> frozenset[str]:
    """Those that an item and its answers fill; the criteria's are filled already."""
    slots = frozenset(table.texts("slots"))
    if rubric is not None:
        slots -= CRITERIA_SLOTS
        if candidate_slot(1) not in slots or candidate_slot(2) in slots:
            raise table.wrong(
                "slots", f"criteria grade one answer alone, so of the answers it has {candidate_slot(1)}."
            )
    optional = frozenset(slot for turn in turns for slot in turn.where)
    # Without turns nothing is ever filled: the folder only reads replies that were asked for elsewhere.
    if turns and (refusal := slot_refusal(slots | optional)):
        raise table.wrong("slots", refusal)
    return slots


def _turn(table: Table, prompts: _PromptFiles) -> Turn:
    role: Role = table.one_of("role", get_args(Role))
    several = table.table("files")
    files = table if several is None else several
    key = "file" if several is None else prompts.choice(several)
    name = str(files.left.get(key))
    text = prompts.text(files, key)
    where = _where(table, prompts)
    ending = table.table("ending")
    table.done()
    if ending is None:
        return Turn(role=role, template=prompts.template(text, name), where=where)
    whole, constrained = text, None
    if "free" in ending.left:
        whole = f"{text}\n\n{prompts.text(ending, 'free')}"
    if "constrained" in ending.left:
        constrained = prompts.template(f"{text}\n\n{prompts.text(ending, 'constrained')}", name)
    ending.done()
    return Turn(role=role, template=prompts.template(whole, name), constrained=constrained, where=where)


def _where(turn: Table, prompts: _PromptFiles) -> dict[str, Template]:
    """Files used instead where an item fills the slot that is their key."""
    table = turn.table("where")
    if table is None:
        return {}
    if "ending" in turn.left:
        raise turn.wrong("where", "a turn with endings has no other files.")
    files = {slot: str(name) for slot, name in table.left.items()}
    return {slot: prompts.template(prompts.text(table, slot), name) for slot, name in files.items()}


def _seeing(protocol: Table, slots: frozenset[str]) -> Seeing:
    table = protocol.table("see")
    if table is None:
        return Seeing() if "caption" in slots or not slots else Seeing(default="none", allowed=("none",))
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
    detail = table.optional("detail", str)
    table.done()
    return Seeing(default=default, allowed=tuple(ways), instead=instead, detail=detail)


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
    _check_token(protocol, table)
    if not protocol.turns:
        return
    has_ending = any(turn.constrained for turn in protocol.turns)
    readouts: tuple[Readout, ...] = get_args(Readout)
    for readout in readouts:
        used = frozenset[str]().union(*(turn.under(readout).slots for turn in protocol.turns))
        # Where no reply is read, no token is told.
        slots = protocol.slots - {LAST_SLOT} if has_ending and readout == "constrained" else protocol.slots
        if used != slots:
            declared, found = ", ".join(sorted(slots)) or "nothing", ", ".join(sorted(used)) or "nothing"
            raise table.wrong("slots", f"it declares {declared}, but the prompt files have the slots {found}.")
    for turn in protocol.turns:
        for slot, template in turn.where.items():
            if template.slots != turn.template.slots | {slot}:
                raise table.wrong("turns", f"{template.source} must have the slots of its turn's file and {slot}.")
    if (ALL_CANDIDATES in protocol.slots) != (protocol.option is not None):
        raise table.wrong("option", f"a slot {ALL_CANDIDATES} and an option file go together.")
    if protocol.constrained and not has_ending:
        raise table.wrong("constrained", "no turn has an ending with a file for constrained readout.")
    if has_ending and not protocol.constrained:
        raise table.wrong("constrained", "it is missing, but a turn has an ending for constrained readout.")


def _check_token(protocol: Protocol, table: Table) -> None:
    """A token is told after the candidates' texts, and what it does not stand before is not looked at."""
    if protocol.rule.token and protocol.extraction:
        raise table.wrong("extraction", "only the line with a trial's token is read, so nothing is extracted.")
    if not protocol.turns:
        return
    if protocol.rule.token != (LAST_SLOT in protocol.slots):
        raise table.wrong("slots", f"a slot {LAST_SLOT} and token = true in [reading] go together.")
    if not protocol.rule.token:
        return
    *before, last = protocol.turns
    told_last = all(_tells_last(template) for template in (last.template, *last.where.values()))
    if not told_last or any(LAST_SLOT in turn.template.slots for turn in before):
        raise table.wrong("turns", f"the slot {LAST_SLOT} must stand in the last turn, after every candidate's slot.")


def _tells_last(template: Template) -> bool:
    order = [name for _, name in template.holes]
    if LAST_SLOT not in order:
        return False
    after = order[order.index(LAST_SLOT) :]
    return not any(name == ALL_CANDIDATES or name.startswith(CANDIDATE_SLOT) for name in after)
