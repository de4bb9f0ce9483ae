"""Rows of an existing dataset, taken into the pipeline of a growing benchmark: all of a file or none, none twice."""

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import Connection

from evenhand.benchmarks.data_error import BLANK, CELL, IMAGE, TWICE, FilePlace, IntakeError, Problems
from evenhand.benchmarks.files.cells import is_nothing, read_list
from evenhand.benchmarks.files.fields import FieldReader
from evenhand.benchmarks.files.items_file import PictureFiles
from evenhand.benchmarks.files.rows import Row, read_rows
from evenhand.benchmarks.visit_bench.load import skill_name
from evenhand.format.near_names import hint
from evenhand.format.words import counted
from evenhand.images import ImageError
from evenhand.images.guard import may_be_public
from evenhand.images.metadata import without_metadata
from evenhand.images.sniffing import PROPOSED_LIMITS
from evenhand.images.store import digest_of
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import people
from evenhand.site.http.audit_log import LogEvent, write_down_within
from evenhand.site.http.refusal import Refusal
from evenhand.site.living.events import OVER, Instruction, Stage, is_address, with_images
from evenhand.site.living.proposed import (
    CAPTION_LONGEST,
    CAPTION_SHORTEST,
    IMAGES_MOST,
    LICENCE_LONGEST,
    URL_LONGEST,
    public_licence,
)
from evenhand.site.living.settings import GrowingBenchmark
from evenhand.site.living.store import Proposal, add_said, all_in_turn, proposals

TEXT_LONGEST = 2_000
"""Characters of an instruction that is taken in: the form's 200 are for those that are written here."""
NAME_LONGEST = 200
"""Of a source, and of an instance."""
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "images": ("images", "image", "image_url"),
    "skill": ("skill", "category", "instruction_category"),
    "instruction": ("instruction",),
    "captions": ("captions", "caption"),
    "source": ("source",),
    "licence": ("licence", "license"),
    "instance": ("instance",),
    "writer": ("writer",),
}
"""What each is called in a file, the first that is there."""
_LISTS = ("images", "captions")


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeRow:
    place: FilePlace
    said: Instruction
    writer: str | None
    """Whose task it counts for."""

    @property
    def key(self) -> tuple[str, str]:
        return self.said.source, self.said.instance


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeFile:
    rows: Sequence[IntakeRow]
    pictures: Mapping[str, bytes]
    """The image files as they were given, by their own digests."""
    kept: Mapping[str, str]
    """By the digest of a file, that of what is kept of it."""
    unused: Sequence[str]
    """Columns that say nothing here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenIn:
    added: int
    known: int
    """Rows that had been taken in before."""
    stages: Mapping[Stage, int]
    """What those that were added wait for."""


def read_intake(path: Path, ledger: Ledger, growing: GrowingBenchmark) -> IntakeFile:
    """Raises IntakeError that tells every row that cannot be taken in, and why."""
    problems = Problems(IntakeError)
    rows = read_rows(path, problems)
    reading = _Reading(
        growing=growing,
        pictures=PictureFiles(path.parent),
        people=people_by_name(ledger),
        problems=problems,
        kept={},
    )
    found = [one for row in rows if (one := reading.row(row)) is not None]
    _refuse_twice(found, problems)
    problems.raise_any()
    used = {name for names in _COLUMNS.values() for name in names}
    unused = dict.fromkeys(name for row in rows for name in row.fields if name not in used)
    return IntakeFile(rows=found, pictures=reading.pictures.found, kept=reading.kept, unused=list(unused))


def people_by_name(ledger: Ledger) -> dict[str, list[str]]:
    """The ids of those who may write, caption and verify."""
    found: dict[str, list[str]] = {}
    for one in people(ledger):
        if one.role in ("annotator", "owner") and not one.erased:
            found.setdefault(one.name, []).append(one.id)
    return found


def _refuse_twice(found: Iterable[IntakeRow], problems: Problems) -> None:
    first: dict[tuple[str, str], IntakeRow] = {}
    for one in found:
        other = first.setdefault(one.key, one)
        if other is not one:
            where = other.place.seen_from(one.place)
            sentence = f"Instance `{one.said.instance}` of `{one.said.source}` was already given in {where}."
            problems.add(one.place, sentence, code=TWICE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    growing: GrowingBenchmark
    pictures: PictureFiles
    people: Mapping[str, Sequence[str]]
    """Ids by name."""
    problems: Problems
    kept: dict[str, str]

    def row(self, row: Row) -> IntakeRow | None:
        """None, and its faults among the problems, where it cannot be taken in."""
        reader = FieldReader(_renamed(row), self.problems)
        source, instance = (self._name(reader, name) for name in ("source", "instance"))
        said = Instruction(
            skill=self._skill(reader),
            text=self._text(reader),
            licence=self._licence(reader),
            round=0,
            source=source,
            instance=instance,
        )
        images = self._images(reader)
        captions = self._captions(reader, len(images))
        if captions and not said.text:
            reader.fault("There is a caption and no instruction; captions are written for an instruction.", code=BLANK)
        writer = self._writer(reader)
        if writer is not None and not said.text:
            reader.fault("There is a writer and no instruction; leave out one, or give both.", code=BLANK)
        if reader.faulty:
            return None
        return IntakeRow(place=row.place, said=replace(with_images(said, images), captions=captions), writer=writer)

    def _name(self, reader: FieldReader, name: str) -> str:
        label = reader.label([name])
        if len(label) > NAME_LONGEST:
            reader.fault(f"The field `{name}` has {len(label):,} characters; {NAME_LONGEST} are the most.")
        return label

    def _skill(self, reader: FieldReader) -> str:
        given = reader.label(["skill"])
        name, known = skill_name(given), [one.name for one in self.growing.terms.skills]
        if given and name not in known:
            reader.fault(f"`{given}` is no skill of '{self.growing.name}'; {hint(name, known)}")
        return name

    def _text(self, reader: FieldReader) -> str:
        text = (reader.text("instruction") or "").strip()
        if len(text) > TEXT_LONGEST:
            reader.fault(f"The instruction has {len(text):,} characters; {TEXT_LONGEST:,} are the most.")
        return text

    def _licence(self, reader: FieldReader) -> str:
        licence = reader.label(["licence"])
        if len(licence) > LICENCE_LONGEST:
            reader.fault(f"The licence has {len(licence):,} characters; {LICENCE_LONGEST} are the most.")
        elif licence:
            try:
                public_licence(licence)
            except Refusal as refusal:
                reader.fault(refusal.sentence, code=refusal.code or CELL)
        return licence

    def _writer(self, reader: FieldReader) -> str | None:
        name = (reader.text("writer") or "").strip()
        if not name:
            return None
        ids = self.people.get(name, ())
        if len(ids) != 1:
            why = "Several people here are called" if ids else "Nobody who writes here is called"
            known = f"; {hint(name, sorted(self.people))}" if self.people else "."
            reader.fault(f"{why} `{name}`; leave out the writer, or name somebody by their whole name{known}")
            return None
        return ids[0]

    def _images(self, reader: FieldReader) -> tuple[str, ...]:
        if "images" not in reader.row.fields:
            reader.missing(["images", "image"])
            return ()
        places = reader.texts("images")
        if not 1 <= len(places) <= IMAGES_MOST:
            reader.fault(f"There are {len(places)} images; a row needs 1 to {IMAGES_MOST}.", code=IMAGE)
            return ()
        return tuple(self._image(place, reader) for place in places)

    def _image(self, place: str | None, reader: FieldReader) -> str:
        name = self.pictures.name(place, reader)
        if is_address(name):
            if len(name) > URL_LONGEST or not may_be_public(urlsplit(name).hostname or ""):
                sentence = f"The image `{name[:URL_LONGEST]}` is at no address that everybody reaches."
                reader.fault(sentence, code=IMAGE)
            return name
        if name in self.kept:
            return self.kept[name]
        data = self.pictures.found.get(name)
        if data is None:
            return name  # a fault of the row already
        try:
            # As of an upload, only what is needed to show it is kept.
            self.kept[name] = digest_of(without_metadata(data, limits=PROPOSED_LIMITS))
        except ImageError as error:
            reader.fault(f"The image `{place}` cannot be used: {error}", code=IMAGE)
            return name
        return self.kept[name]

    def _captions(self, reader: FieldReader, images: int) -> tuple[str, ...]:
        given = reader.texts("captions")
        # Sheets pad their lists of captions to ten places.
        texts = [text.strip() for text in given[:images] if text is not None]
        if not texts and not any(given):
            return ()
        if len(texts) != images or any(given[images:]):
            captions = counted(sum(text is not None for text in given), "caption")
            reader.fault(f"There are {captions} for {counted(images, 'image')}; give one each, or none.")
        for text in texts:
            if not CAPTION_SHORTEST <= len(text) <= CAPTION_LONGEST:
                sentence = f"A caption has {len(text):,} characters; {CAPTION_SHORTEST} to {CAPTION_LONGEST:,} fit."
                reader.fault(sentence)
        return tuple(texts)


def _renamed(row: Row) -> Row:
    """With our names of the columns, and lists where a table's cell has one as text."""
    fields: dict[str, object] = {}
    for name, others in _COLUMNS.items():
        given = next((other for other in others if other in row.fields), None)
        if given is not None:
            value = row.fields[given]
            listed = read_list(value) if name in _LISTS else None
            nothing = name in (*_LISTS, "instruction", "writer") and is_nothing(value)
            fields[name] = None if nothing else value if listed is None else listed
    return Row(place=row.place, fields=fields)


def take_in(ledger: Ledger, growing: GrowingBenchmark, file: IntakeFile, *, dry_run: bool = False) -> TakenIn:
    """Every row that was not taken in before becomes a proposal, all in one transaction; nothing where it is a dry run.

    Raises IntakeError where a row was taken in before with another content, or its writer has written as many
    instructions for the skill as they are asked for: then none is taken in.
    """
    added = _new_rows(proposals(ledger, growing.id), growing, file)
    if not dry_run:
        files = {digest: name for name, digest in file.kept.items()}
        for digest in dict.fromkeys(image for one in added for image in one.said.images if not is_address(image)):
            ledger.images.put_without_metadata(file.pictures[files[digest]], limits=PROPOSED_LIMITS)
        with ledger.writing() as connection:
            # Once more, as somebody may have taken rows in while images were stored.
            before = all_in_turn(connection, growing.id)
            added = _new_rows(before, growing, file)
            _add(connection, growing, added, taken={one.id for one in before})
    stages: Counter[Stage] = Counter(_first_stage(one.said) for one in added)
    return TakenIn(added=len(added), known=len(file.rows) - len(added), stages=stages)


def _add(connection: Connection, growing: GrowingBenchmark, rows: Sequence[IntakeRow], *, taken: set[str]) -> None:
    for one in rows:
        name = secrets.token_hex(4)
        while name in taken:
            name = secrets.token_hex(4)
        taken.add(name)
        add_said(connection, growing.id, name, one.said, person=one.writer)
    if rows:
        noted = LogEvent(what="took in rows", detail=f"{growing.id} {len(rows)}")
        write_down_within(connection, noted)


def _first_stage(said: Instruction) -> Stage:
    if said.urls:
        return "image"
    if not said.text:
        return "instruct"
    return "answer" if said.captions else "caption"


def _new_rows(before: Sequence[Proposal], growing: GrowingBenchmark, file: IntakeFile) -> list[IntakeRow]:
    """Those that were not taken in before, each with the round that it is of its writer's. Raises IntakeError."""
    problems = Problems(IntakeError)
    known = {(said.source, said.instance): said for one in before if (said := _first_said(one)) is not None}
    rounds = {
        (one.standing.instruction.by, one.standing.asked.skill, one.standing.asked.round)
        for one in before
        if one.standing.stage not in OVER
    }
    added: list[IntakeRow] = []
    for one in file.rows:
        earlier = known.get(one.key)
        if earlier is not None:
            _must_be_same(one, earlier, problems)
            continue
        added.append(one if one.writer is None else _in_round(one, growing, rounds, problems))
    problems.raise_any()
    return added


def _first_said(one: Proposal) -> Instruction | None:
    """As it was taken in, whatever was written since."""
    said = one.events[0].said
    return said if isinstance(said, Instruction) and said.source else None


def _must_be_same(one: IntakeRow, earlier: Instruction, problems: Problems) -> None:
    said = one.said
    pairs = {
        "skill": (said.skill, earlier.skill),
        "instruction": (said.text, earlier.text),
        "images": (said.images, earlier.images),
        "captions": (said.captions, earlier.captions),
        "licence": (said.licence, earlier.licence),
    }
    other = [name for name, (now, then) in pairs.items() if now != then]
    if other:
        sentence = (
            f"Instance `{said.instance}` of `{said.source}` was taken in before, and its {' and '.join(other)} had "
            "other content; give it another instance's name, or leave it out."
        )
        problems.add(one.place, sentence, code=TWICE)


def _in_round(
    one: IntakeRow, growing: GrowingBenchmark, rounds: set[tuple[str, str, int]], problems: Problems
) -> IntakeRow:
    """The first of its writer's for this skill that is free."""
    writer, skill = one.writer or "", one.said.skill
    free = [each for each in range(1, growing.terms.per_skill + 1) if (writer, skill, each) not in rounds]
    if not free:
        sentence = (
            f"Its writer has {growing.terms.per_skill} for `{skill}`, as many as are asked for; ask for more with "
            "--per-skill of `evenhand growing set`, or leave out the writer."
        )
        problems.add(one.place, sentence, code=CELL)
        return one
    rounds.add((writer, skill, free[0]))
    return replace(one, said=replace(one.said, round=free[0]))
