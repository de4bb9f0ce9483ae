"""Verdicts from files, frames, runs and ledgers as what a board is made of, and people's beside a judge's."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast, runtime_checkable

from evenhand.format.words import counted, listed
from evenhand.reports.board.evidence import Evidence, of_file, of_record
from evenhand.reports.errors import RankError

if TYPE_CHECKING:
    from evenhand.benchmarks.files.rows import Frame
    from evenhand.exchange.battles_file import BattleColumns, BattleTable, Repeats
    from evenhand.ledger.read.projection import StudyOnRecord
    from evenhand.ledger.read.votes import JudgedBattles
    from evenhand.ledger.store.record import Ledger
    from evenhand.reports.board.choosing import Choice

_NAMED = 3


@runtime_checkable
class HasBattles(Protocol):
    """A run that was judged."""

    def battles(self, choice: "Choice | None" = None, *, soft: bool = False) -> "JudgedBattles": ...


_File: TypeAlias = "str | Path | list[Path] | tuple[Path, ...] | Frame"
Verdicts: TypeAlias = "str | Path | list[Path] | tuple[Path, ...] | Frame | HasBattles | JudgedBattles | Ledger"
"""A file's path or several, a polars or pandas frame, a run or its battles, or a ledger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReading:
    """How verdicts are taken from where they are."""

    choice: "Choice | BattleColumns | None"
    cluster: str | None
    """A file's column whose rows of one value are not independent."""
    repeats: "Repeats"
    seed: int
    soft: bool = False
    """With how likely the judge was to prefer each side."""

    def evidence(self, source: Verdicts) -> Evidence:
        """Raises RankError, MixedError, ExchangeError."""
        # Frames first: the record's modules cost a file's reader a fifth of a second; and a file's those of the record.
        if _is_file(source) or _is_frame(source):
            return self._of_file(cast("_File", source))
        choice = self.choice
        if choice is not None and _names_columns(choice):
            raise RankError("Columns are of files and frames; of a ledger give a Choice.", code="EH-CHOICE-KIND")
        if self.repeats != "share":
            raise RankError("Repeats in a ledger always share one weight; repeats='count' is for files and frames.")
        return of_record(_recorded(source, cast("Choice | None", choice), soft=self.soft), self.seed)

    def _of_file(self, source: "_File") -> Evidence:
        from evenhand.exchange.rater_choice import of_raters

        columns = self.columns()
        return of_file(of_raters(self._table(source, columns), columns.raters))

    def _table(self, source: "_File", columns: "BattleColumns") -> "BattleTable":
        from evenhand.exchange.battles.parts import is_parted
        from evenhand.exchange.battles_file import joined_tables, read_battle_files

        paths = _paths(source) if isinstance(source, str | Path | list | tuple) else []
        if paths and not any(map(is_parted, paths)):
            return joined_tables(read_battle_files(paths, columns=columns, repeats=self.repeats))
        return self._one_table(source, columns)

    def _one_table(self, source: "_File", columns: "BattleColumns") -> "BattleTable":
        from evenhand.exchange.battles_file import read_battles
        from evenhand.reports.board.in_parts import part_note, table_in_parts

        parts = table_in_parts(source)
        if parts is None:
            return read_battles(source, columns=columns, repeats=self.repeats)
        table = read_battles(parts.whole(), columns=columns, repeats=self.repeats)
        parts.refuse_changed()
        return replace(table, notes=(part_note(parts), *table.notes))

    def with_people(self, source: Verdicts, people: "Verdicts | bool") -> Evidence:
        """The judge's, with people's beside them. Raises RankError where it is not told who is who."""
        if _is_file(source) or _is_frame(source):
            if isinstance(people, bool) or not (_is_file(people) or _is_frame(people)):
                raise RankError(
                    "The judge's verdicts are a file's: give people's as a file too, --with-people PEOPLE.csv.",
                    code="EH-CHOICE-KIND",
                )
            judge, others = self._tables(source, people)
            return replace(of_file(judge), people=of_file(others), each_counted=None)
        from evenhand.ledger.read.votes import JudgedBattles

        judged = _recorded(source, None if not isinstance(source, _ledger_type()) else self._choice())
        if judged.study.rater.kind == "human":
            raise RankError("These are people's verdicts; choose the judge that they are to correct with --judge.")
        if people is True:
            ledger = source if isinstance(source, _ledger_type()) else getattr(source, "ledger", None)
            if ledger is None:
                raise RankError("Of battles without their ledger people's must be given.", code="EH-CHOICE-KIND")
            people = people_beside(ledger, judged)
        if not isinstance(people, JudgedBattles):
            raise RankError(
                "The judge's verdicts are a ledger's, and people's are to be of a file: take that into the ledger with "
                "`evenhand import --judgements`, or give the judge's as a file too.",
                code="EH-CHOICE-KIND",
            )
        return replace(of_record(judged, self.seed), people=of_record(people, self.seed))

    def jury(self, source: Verdicts, people: "Verdicts | bool") -> Evidence:
        """Of several judges, with people's verdicts beside them where there are any. Raises RankError, MixedError."""
        from evenhand.exchange.rater_choice import MODELS, PEOPLE, of_raters

        if not (_is_file(source) or _is_frame(source)):
            return self._recorded_jury(source, people)
        if people is not False:
            return self.with_people(source, people)
        columns = self.columns()
        table = self._table(cast("_File", source), columns)
        told = set(table.kinds.values()) == {"human", "model"}
        judges = of_file(of_raters(table, columns.raters or ((MODELS,) if told else ())))
        return replace(judges, people=of_file(of_raters(table, (PEOPLE,)))) if told else judges

    def _recorded_jury(self, source: object, people: "Verdicts | bool") -> Evidence:
        from evenhand.ledger.submissions.submitted_models import counted_battles
        from evenhand.reports.board.choosing import jury_of
        from evenhand.reports.board.jury import stacked

        ledger = source if isinstance(source, _ledger_type()) else getattr(source, "ledger", None)
        if ledger is None:
            raise RankError("A jury is made of a ledger, a file or a frame.", code="EH-CHOICE-KIND")
        judges = jury_of(ledger, self._choice())
        judged = {name: counted_battles(ledger, some) for name, some in judges.items()}
        whole = stacked([(name, of_record(one, self.seed)) for name, one in judged.items()])
        if people is False:
            return whole
        return replace(whole, people=of_record(people_beside(ledger, *judged.values()), self.seed))

    def _choice(self) -> "Choice | None":
        from evenhand.exchange.battles_file import BattleColumns

        if isinstance(self.choice, BattleColumns):
            raise RankError("Columns are of files and frames; of a ledger give a Choice.", code="EH-CHOICE-KIND")
        return self.choice

    def columns(self) -> "BattleColumns":
        from evenhand.exchange.battles_file import BattleColumns

        if self.choice is not None and not isinstance(self.choice, BattleColumns):
            raise RankError(
                "A file or frame is chosen by its columns: give BattleColumns, or nothing.", code="EH-CHOICE-KIND"
            )
        columns = replace(self.choice or BattleColumns(), soft=self.soft)
        return columns if self.cluster is None else replace(columns, cluster=self.cluster)

    def _tables(self, source: Verdicts, people: Verdicts) -> "tuple[BattleTable, BattleTable]":
        """The judge's, and people's. Raises RankError where one holds the other's."""
        from evenhand.exchange.battle_completing import forms_of_files
        from evenhand.exchange.battles_file import joined_tables
        from evenhand.exchange.rater_choice import PEOPLE, of_raters

        columns = self.columns()
        sides = [_parts(one) for one in (source, people)]
        paths = list(dict.fromkeys(one for side in sides for one in side if isinstance(one, Path)))
        forms = dict(zip(paths, forms_of_files(paths, columns), strict=True)) if paths else {}

        def read(side: "Sequence[Path | Frame]", *, drawn: bool) -> "BattleTable":
            of = [(one, forms[one] if isinstance(one, Path) else columns) for one in side]
            return joined_tables([self._one_table(one, replace(form, drawn=drawn)) for one, form in of])

        judge, others = read(sides[0], drawn=False), read(sides[1], drawn=True)
        _refuse_people(judge, columns.raters)
        if others.kinds and not any(others.kind_of(name) == "human" for name in others.comparisons.raters):
            raise RankError(f"{others.name} holds no person's verdict: every rater in it is a model.")
        told = set(others.kinds.values()) == {"human", "model"}
        return of_raters(judge, columns.raters), of_raters(others, (PEOPLE,) if told else ())


def _names_columns(choice: "Choice | BattleColumns") -> bool:
    from evenhand.exchange.battles_file import BattleColumns

    return isinstance(choice, BattleColumns)


def _refuse_people(judge: "BattleTable", chosen: Sequence[str]) -> None:
    """Raises RankError where the judge's table is people's too, or nobody knows which of several is the judge."""
    from evenhand.exchange.rater_choice import of_raters

    raters = judge.comparisons.raters
    kept = of_raters(judge, chosen).comparisons.raters if chosen else raters
    people = [name for name in kept if judge.kinds.get(name) == "human"]
    models = [name for name in raters if judge.kinds.get(name) == "model"]
    if people and not chosen:
        whom = f"--raters {models[0]}" if models else "the file of the judge alone"
        raise RankError(
            f"{judge.name} is to be the judge's, and holds verdicts of people ({listed(people, most=_NAMED)}): give "
            f"{whom}."
        )
    if len(kept) > 1 and not all(judge.kinds.get(name) == "model" for name in kept):
        raise RankError(
            f"{judge.name} is to be one judge's, and has {len(kept):,} raters ({listed(kept, most=_NAMED)}): say with "
            "--raters which is the judge, or in a column rater_kind that all are models."
        )


def people_beside(ledger: "Ledger", *judged: "JudgedBattles") -> "JudgedBattles":
    """What all people said of the answers that judges of one benchmark judged. Raises RankError, MixedError."""
    from evenhand.domain.rater import PEOPLE
    from evenhand.ledger.read.projection import studies
    from evenhand.ledger.submissions.submitted_models import counted_battles
    from evenhand.reports.board.choosing import Choice, choose

    study = judged[0].study
    human = [
        one
        for one in studies(ledger)
        if one.decided and one.rater.kind == "human" and (one.data, one.variant) == (study.data, study.variant)
    ]
    if not human:
        raise RankError(
            f"No person's verdict on the answers that {study.rater.name} judged is on record; "
            "`evenhand import --judgements` takes some in.",
            code="EH-CHOOSE-NOTHING",
        )
    chosen = choose(human, Choice(judge=PEOPLE))
    _refuse_a_category_alone(ledger, chosen, {item for one in judged for item in one.results.item.names})
    return counted_battles(ledger, chosen)


def _refuse_a_category_alone(ledger: "Ledger", people: "Sequence[StudyOnRecord]", judged: set[str]) -> None:
    """Raises RankError where people could be asked about one category alone, and the judge judged others too."""
    from evenhand.ledger.read.people_boards import asked_of_one_category
    from evenhand.ledger.read.projection import items_of
    from evenhand.reports.board.people import UNMATCHED

    for title, category in asked_of_one_category(ledger, {one.key for one in people}).items():
        beyond = [one for one in items_of(ledger, people[0].data) if one.digest in judged and one.category != category]
        if beyond:
            raise RankError(
                f"The study '{title}' asked people about the category {category} alone, and the judge judged "
                f"{counted(len(beyond), 'item')} of others, of which people's verdicts say nothing: ask people about "
                "all items, or leave that study out of the shared board on its page.",
                code=UNMATCHED,
            )


def _is_file(source: object) -> bool:
    return isinstance(source, str | Path | list | tuple)


def _paths(source: "str | Path | list[Path] | tuple[Path, ...]") -> list[Path]:
    return [Path(one) for one in ([source] if isinstance(source, str | Path) else source)]


def _parts(source: Verdicts) -> "list[Path | Frame]":
    if isinstance(source, str | Path | list | tuple):
        return list(_paths(source))
    return [cast("Frame", source)]


def _is_frame(source: object) -> bool:
    # Of the type, not of the object: a polars LazyFrame warns when it is asked for its columns.
    return any(hasattr(type(source), name) for name in ("columns", "__arrow_c_stream__"))


def _ledger_type() -> "type[Ledger]":
    from evenhand.ledger.store.record import Ledger

    return Ledger


def _recorded(source: object, choice: "Choice | None", *, soft: bool = False) -> "JudgedBattles":
    from evenhand.ledger.read.projection import studies
    from evenhand.ledger.read.votes import JudgedBattles
    from evenhand.ledger.store.record import Ledger
    from evenhand.ledger.submissions.submitted_models import counted_battles
    from evenhand.reports.board.choosing import Choice, choose

    if isinstance(source, Ledger):
        return counted_battles(source, choose(studies(source), choice or Choice()), soft=soft)
    if choice is not None:
        raise RankError("A choice is for a ledger; a run's battles are chosen already.", code="EH-CHOICE-KIND")
    if isinstance(source, JudgedBattles):
        return source
    if isinstance(source, HasBattles):
        return source.battles(soft=True) if soft else source.battles()
    raise RankError(
        f"A board is made of a path, a polars or pandas frame, a run or a ledger, not of {type(source).__name__}."
    )
