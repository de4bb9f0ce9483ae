"""Which boards the ledger holds: its studies in groups that may be ranked together."""

from collections.abc import Iterable
from dataclasses import dataclass

from evenhand.domain.identity import content_hash
from evenhand.ledger.projection import StudyOnRecord, studies
from evenhand.ledger.record import Ledger

PEOPLE = "people"
"""Stands for the judges of a board whose raters are persons: their names are nobody's business."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardOnRecord:
    """Studies that agree in data, judge, settings, prompt, readout and variant; persons count as one judge."""

    id: str
    studies: tuple[StudyOnRecord, ...]

    @property
    def _first(self) -> StudyOnRecord:
        return self.studies[0]

    @property
    def benchmark(self) -> str:
        return self._first.benchmark

    @property
    def data(self) -> str:
        return self._first.data

    @property
    def sample(self) -> bool:
        return self._first.sample

    @property
    def human(self) -> bool:
        return self._first.rater.kind == "human"

    @property
    def judge(self) -> str:
        return PEOPLE if self.human else self._first.rater.name

    @property
    def raters(self) -> int:
        return len({study.rater.key for study in self.studies})

    @property
    def protocol(self) -> str:
        return self._first.condition.protocol

    @property
    def readout(self) -> str:
        return self._first.condition.readout

    @property
    def see(self) -> str:
        return self._first.condition.see

    @property
    def variant(self) -> str:
        return self._first.variant

    @property
    def reached(self) -> int:
        """Trials asked or known; one that several studies want counts for each."""
        return sum(study.reached for study in self.studies)

    @property
    def settings(self) -> str:
        """What tells apart two boards of one judge."""
        settings = ", ".join(f"{name} {value}" for name, value in self._first.rater.settings.as_json().items())
        return settings or "no settings"


def boards_on_record(ledger: Ledger) -> tuple[BoardOnRecord, ...]:
    """By benchmark and judge; those without a single verdict are left out."""
    grouped: dict[str, list[StudyOnRecord]] = {}
    for study in studies(ledger):
        if study.decided:
            grouped.setdefault(_identity(study), []).append(study)
    found = (BoardOnRecord(id=identity, studies=tuple(some)) for identity, some in grouped.items())
    return tuple(sorted(found, key=lambda board: (board.benchmark, board.human, board.judge, board.protocol, board.id)))


def _identity(study: StudyOnRecord) -> str:
    rater = PEOPLE if study.rater.kind == "human" else study.rater.key
    return content_hash("board", [study.data, rater, study.condition.key, study.variant])[:16]


def found_board(boards: Iterable[BoardOnRecord], board: str) -> BoardOnRecord | None:
    return next((one for one in boards if one.id == board), None)
