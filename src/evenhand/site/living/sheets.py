"""What waits for people in a growing benchmark as a sheet to fill in, and what they wrote taken from it: all or none.

VisIT-Bench had its captions and verifications from forms; whoever has people at a table, and no server, hands out a
sheet. The rules are those of the pages: nobody captions or verifies what came of their own work.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evenhand.benchmarks.data_error import BLANK, CELL, IntakeError, Problems
from evenhand.benchmarks.files.cells import is_nothing, read_list
from evenhand.benchmarks.files.fields import FieldReader
from evenhand.benchmarks.files.rows import Row, read_rows
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.tables import ExchangeTable, Shape, csv_bytes
from evenhand.files.outputs import refuse_way_out, write_whole
from evenhand.format.near_names import hint
from evenhand.images import ImageError
from evenhand.ledger.store.record import Ledger
from evenhand.site.http.audit_log import LogEvent, write_down_within
from evenhand.site.http.refusal import Refusal
from evenhand.site.living.events import Said, Stage, Verification
from evenhand.site.living.export import IMAGES, image_file_name
from evenhand.site.living.following import may_caption, may_instruct, may_verify, said_already
from evenhand.site.living.growth import STEPS, Step, about
from evenhand.site.living.intake import people_by_name
from evenhand.site.living.proposed import FAULTS, INSTRUCTION_LONGEST, caption_said, given_instruction
from evenhand.site.living.settings import GrowingBenchmark
from evenhand.site.living.store import Proposal, add_said, all_in_turn, followed, proposals

_SHOWN: Mapping[Step, tuple[str, ...]] = {
    "instruct": (),
    "caption": ("instruction",),
    "verify": ("instruction", "captions", "answer"),
}
"""What whoever does the step reads, besides skill and images."""
TO_FILL: Mapping[Step, tuple[str, ...]] = {
    "instruct": ("instruction",),
    "caption": ("captions",),
    "verify": ("follows", "fault", "offensive"),
}
_YES, _NO = ("yes", "y", "true", "1"), ("no", "n", "false", "0")


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetTaken:
    said: int
    known: int
    """Rows that say what the same person had said before."""
    blank: int
    """Rows in which nobody wrote anything."""
    stages: Mapping[Stage, int]
    """Where the proposals that were spoken of stand now."""


def write_sheet(ledger: Ledger, growing: GrowingBenchmark, step: Step, folder: Path) -> int:
    """How many proposals wait: `STEP.csv` in a new or empty folder, and the images that it names.

    Raises ExchangeError, OSError.
    """
    path = folder / f"{step}.csv"
    refuse_way_out(path)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ExchangeError(f"{folder} exists and is not an empty folder; name another one.")
    waiting = [one for one in proposals(ledger, growing.id) if one.standing.stage == step]
    names: dict[str, str] = {}
    try:
        for digest in dict.fromkeys(image for one in waiting for image in one.standing.images):
            data = ledger.images.get(digest)
            names[digest] = f"{IMAGES}{image_file_name(digest, data)}"
            (folder / IMAGES).mkdir(parents=True, exist_ok=True)
            write_whole(folder / names[digest], data)
    except ImageError as error:
        raise ExchangeError(str(error)) from error
    folder.mkdir(parents=True, exist_ok=True)
    columns = ("step", "proposal", "about", "skill", "images", *_SHOWN[step], "by", *TO_FILL[step])
    shapes: dict[str, Shape] = dict.fromkeys(columns, "text")
    rows = [_row(one, step, names) for one in waiting]
    # What others wrote runs in no spreadsheet; of those columns nothing is read back.
    write_whole(path, csv_bytes(ExchangeTable(columns=shapes, rows=rows), spreadsheet=True))
    return len(waiting)


def _row(one: Proposal, step: Step, names: Mapping[str, str]) -> dict[str, str | None]:
    stands = one.standing
    caption = stands.caption
    shown = {
        "instruction": stands.instruction.text,
        "captions": None if caption is None else _several(caption.texts or (caption.text,)),
        "answer": None if stands.answer is None else stands.answer.text,
    }
    return {
        "step": step,
        "proposal": one.id,
        "about": str(about(one, step)),
        "skill": stands.asked.skill,
        "images": _several([names[image] for image in stands.images]),
        **{name: shown[name] for name in _SHOWN[step]},
        "by": None,
        **dict.fromkeys(TO_FILL[step]),
    }


def _several(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else json.dumps(list(texts), ensure_ascii=False)


def take_sheet(ledger: Ledger, growing: GrowingBenchmark, path: Path) -> SheetTaken:
    """What people wrote in a sheet, all of it in one transaction. Raises IntakeError that tells every row that cannot
    be taken, and then none is."""
    problems = Problems(IntakeError)
    rows = read_rows(path, problems)
    problems.raise_any()
    with ledger.writing() as connection:
        reading = _Reading(
            growing=growing,
            people=people_by_name(ledger),
            problems=problems,
            now={one.id: one for one in all_in_turn(connection, growing.id)},
        )
        told: Counter[str] = Counter()
        spoken: dict[str, None] = {}
        for row in rows:
            found = reading.row(row)
            if found is None:
                told["blank"] += not reading.faulty
            elif found.known:
                told["known"] += 1
            else:
                event = add_said(connection, growing.id, found.proposal, found.said, person=found.person)
                reading.now.update(followed({found.proposal: reading.now[found.proposal]}, [(found.proposal, event)]))
                spoken[found.proposal] = None
                told["said"] += 1
        # Within the transaction, which it ends without a trace.
        problems.raise_any()
        if told["said"]:
            write_down_within(connection, LogEvent(what="took in a sheet", detail=f"{growing.id} {told['said']}"))
    stages: Counter[Stage] = Counter(reading.now[one].standing.stage for one in spoken)
    return SheetTaken(said=told["said"], known=told["known"], blank=told["blank"], stages=stages)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    proposal: str
    person: str
    said: Said
    known: bool


@dataclass(slots=True, kw_only=True)
class _Reading:
    growing: GrowingBenchmark
    people: Mapping[str, Sequence[str]]
    """Ids by name."""
    problems: Problems
    now: dict[str, Proposal]
    faulty: bool = False
    """Of the last row."""

    def row(self, row: Row) -> _Told | None:
        """None where nothing was written, or its faults are among the problems."""
        reader = FieldReader(_cells(row), self.problems)
        step = self._step(reader)
        if step is not None and TO_FILL[step][0] not in row.fields:
            reader.missing(TO_FILL[step][:1])
        filled = step is not None and any(reader.row.fields.get(name) is not None for name in TO_FILL[step])
        told = self._told(reader, step) if step is not None and filled else None
        self.faulty = reader.faulty
        return None if reader.faulty else told

    def _step(self, reader: FieldReader) -> Step | None:
        given = reader.label(["step"])
        step: Step | None = next((one for one in STEPS if one == given), None)
        if step is None and not reader.faulty:
            reader.fault(f"`{given}` is no step; {hint(given, list(STEPS))}")
        return step

    def _told(self, reader: FieldReader, step: Step) -> _Told | None:
        one = self.now.get(reader.label(["proposal"]))
        person = self._person(reader)
        if one is None:
            reader.fault(f"There is no such proposal in '{self.growing.name}'.")
        if one is None or person is None:
            return None
        said = self._said(reader, step, one)
        if said is None:
            return None
        known = said_already(one.standing, one.events, person, said)
        if not known:
            self._must_be_theirs(reader, step, one, person)
        return _Told(proposal=one.id, person=person, said=said, known=known)

    def _person(self, reader: FieldReader) -> str | None:
        name = (reader.text("by") or "").strip()
        if not name:
            reader.fault("The field `by` is empty; it names whoever wrote this.", code=BLANK)
            return None
        ids = self.people.get(name, ())
        if len(ids) != 1:
            why = "Several people here are called" if ids else "Nobody who works here is called"
            known = hint(name, sorted(self.people)) if self.people else "nobody has an account."
            reader.fault(f"{why} `{name}`; {known} `evenhand people add` makes an account.")
            return None
        return ids[0]

    def _said(self, reader: FieldReader, step: Step, one: Proposal) -> Said | None:
        try:
            if step == "instruct":
                return given_instruction(one.standing, self._instruction(reader))
            number = self._about(reader, step, one)
            if step == "caption":
                texts = [text.strip() for text in reader.texts("captions") if text is not None]
                return caption_said(texts, about=number, images=len(one.standing.images))
            return self._verification(reader, number)
        except Refusal as refusal:
            reader.fault(refusal.sentence, code=refusal.code if refusal.code in (CELL, BLANK) else CELL)
            return None

    def _instruction(self, reader: FieldReader) -> str:
        text = (reader.text("instruction") or "").strip()
        if len(text) > INSTRUCTION_LONGEST:
            reader.fault(f"The instruction has {len(text):,} characters; {INSTRUCTION_LONGEST} are the most.")
        return text

    def _about(self, reader: FieldReader, step: Step, one: Proposal) -> int:
        """What was read when it was written: an instruction or an answer may be another one by now."""
        given = reader.label(["about"])
        if not (given.isdecimal() and len(given) < 16):
            reader.fault(f"The field `about` is `{given[:40]}`; leave it as the sheet was written.")
            return about(one, step)
        return int(given)

    def _verification(self, reader: FieldReader, number: int) -> Verification | None:
        follows, offensive = self._yes(reader, "follows"), self._yes(reader, "offensive", usual=False)
        fault = next((one for one in FAULTS if one == (reader.text("fault") or "").strip().casefold()), None)
        if follows is False and fault is None:
            reader.fault(f"The answer does not follow; `fault` says why: {', '.join(FAULTS)}.")
        if follows is None or offensive is None:
            return None
        rules = self.growing.terms.rules
        return Verification(
            about=number,
            follows=follows,
            fault=None if follows else fault,  # pyright: ignore[reportArgumentType]  FAULTS has those three
            offensive=offensive,
            verifiers=rules.verifiers,
            attempts=rules.attempts,
        )

    def _yes(self, reader: FieldReader, name: str, *, usual: bool | None = None) -> bool | None:
        given = (reader.answer([name]) if name in reader.row.fields else "").strip().casefold()
        if not given and usual is not None:
            return usual
        if given not in (*_YES, *_NO):
            reader.fault(f"The field `{name}` is `{given[:40]}`; write yes or no.", code=CELL if given else BLANK)
            return None
        return given in _YES

    def _must_be_theirs(self, reader: FieldReader, step: Step, one: Proposal, person: str) -> None:
        stands, rules = one.standing, self.growing.terms.rules
        if self.growing.terms.paused:
            reader.fault(f"'{self.growing.name}' is paused; open it again first.", code="EH-PAUSED")
            return
        theirs = (
            may_instruct(stands, person)
            if step == "instruct"
            else may_caption(stands, person, rules)
            if step == "caption"
            else may_verify(stands, person, rules)
        )
        if not theirs:
            reader.fault(
                f"This is not theirs to {step}: it is their own work, somebody else has done it, or it waits for "
                f"something else (it stands at `{stands.stage}`).",
                code="EH-TASK-NOT-YOURS",
            )
        elif step != "instruct" and self._about(reader, step, one) != about(one, step):
            reader.fault("It was changed since this sheet was written; write the sheet anew.", code="EH-CHANGED-SINCE")


def _cells(row: Row) -> Row:
    """Without empty cells, and lists where a table's cell has one as text."""
    fields: dict[str, object] = {}
    for name, value in row.fields.items():
        listed = read_list(value) if name == "captions" else None
        fields[name] = None if is_nothing(value) else value if listed is None else listed
    return replace(row, fields=fields)
