"""Files of preferences, of people or models, checked against a benchmark and the answers they speak of."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, cast

from evenhand.benchmarks.data_error import Place, Problems, near, quoted
from evenhand.benchmarks.fields import FieldReader
from evenhand.benchmarks.rows import Row, kind_of, read_rows
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.trial import Condition, Trial
from evenhand.domain.verdict import CALL_FAILED, UNDECIDED, Levels, NoVerdict, Preference, Reason
from evenhand.exchange.preference_words import EXPECTED, Stated, read_preference
from evenhand.exchange.replies import ExchangeError

IMPORTED = Condition(protocol="imported", prompt_hash="")
"""How these raters were asked is not known here, and so never mixed with what was asked under a protocol."""

_ALLOWED: Mapping[int, str] = {2: "+1 or -1", 3: "+1, 0 or -1", 5: "+2, +1, 0, -1 or -2"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenJudgement:
    place: Place
    rater: Rater
    item: Item
    models: tuple[str, str]
    """In the order shown."""
    trial: Trial
    verdict: Preference | NoVerdict
    at: float | None
    """Seconds since the epoch, where the file says when."""
    protocol: str | None
    """What the file says it was judged under."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementsFile:
    path: Path
    judgements: tuple[GivenJudgement, ...]
    """One for each showing, in the file's order."""
    repeated: int
    """Rows that say again what an earlier row says."""


def read_judgements(
    path: Path, benchmark: Benchmark, answers: Sequence[Response], *, levels: Levels | None = None
) -> JudgementsFile:
    """All of the file, or ExchangeError with all that is wrong with it.

    `answers` are those that stand for the models. `levels` None: 5 where a 2 occurs in the file, else 3.
    """
    problems = Problems(ExchangeError)
    rows = read_rows(path, problems)
    stated: list[_Stated] = []
    if rows and _columns_fit(path, rows, problems):
        known = _Known(benchmark, answers)
        stated = [one for row in rows if (one := _RowReader(row, problems, known).read())]
    found = _with_levels(stated, levels, problems)
    judgements = _once_each(found, problems)
    problems.raise_any()
    return JudgementsFile(path=path, judgements=judgements, repeated=len(found) - len(judgements))


class _Known:
    """What rows may name."""

    def __init__(self, benchmark: Benchmark, answers: Sequence[Response]) -> None:
        self.benchmark = benchmark.name
        self.items = {item.label: item for item in benchmark.items}
        self.models = sorted({one.model for one in answers})
        self.answers = {(one.item, one.model): one.digest for one in answers}
        self.kinds: dict[str, tuple[str, Place]] = {}
        """The kind of each rater met, and where it was first met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stated:
    """A row whose every field makes sense, its levels perhaps still open."""

    judgement: GivenJudgement
    preference: Stated | None
    """As shown: positive for the model shown first. None for a row without a verdict."""


class _RowReader(FieldReader):
    def __init__(self, row: Row, problems: Problems, known: _Known) -> None:
        super().__init__(row, problems)
        self._known = known

    def read(self) -> _Stated | None:
        """None where anything is wrong with the row; by then the problems tell it."""
        rater, models = self._rater(), self._models()
        item = self._item()
        trial = self._trial(item, models, rater)
        preference, reason = self._verdict()
        at = self._at()
        if self.faulty or item is None or models is None:
            return None
        shown = self._shown(models)
        if preference is not None and shown != models:
            preference = replace(preference, value=-preference.value)
        if self.faulty or trial is None:
            return None
        given = GivenJudgement(
            place=self.row.place,
            rater=rater,
            item=item,
            models=shown,
            trial=trial if shown == models else replace(trial, responses=trial.responses[::-1]),
            verdict=NoVerdict(reason=reason or "unreadable"),
            at=at,
            protocol=self.text("protocol"),
        )
        return _Stated(judgement=given, preference=preference)

    def _rater(self) -> Rater:
        name = self.label(("rater",))
        kind = (self.text("rater_kind") or "human").strip().casefold()
        if kind not in ("human", "model"):
            self.fault(f"The field `rater_kind` is `{kind}`; expected `human` or `model`.")
            kind = "human"
        before, place = self._known.kinds.setdefault(name, (kind, self.row.place))
        if before != kind:
            self.fault(f"The rater `{name}` is {kind} here and {before} at {place.seen_from(self.row.place)}.")
        return Rater(kind=cast("Literal['human', 'model']", kind), name=name)

    def _item(self) -> Item | None:
        label = self.label(("item", "id"))
        if label and label not in self._known.items:
            close = near(label, self._known.items)
            hint = f"; did you mean {quoted(close)}?" if close else "."
            self.fault(f"{self._known.benchmark} has no item `{label}`{hint}")
        return self._known.items.get(label)

    def _models(self) -> tuple[str, str] | None:
        """model_a and model_b; a list `models`, as exports have it, is in the order shown."""
        if "models" not in self.row.fields:
            named = (self.label(("model_a",)), self.label(("model_b",)))
        else:
            pair = _pair(self.row.fields["models"])
            if pair is None:
                self.fault("The field `models` must be a list of two names, in the order shown.")
                return None
            named = pair
        if self.faulty:
            return None
        if named[0] == named[1]:
            self.fault(f"`{named[0]}` is compared with itself; two different models are expected.")
        return named

    def _trial(self, item: Item | None, models: tuple[str, str] | None, rater: Rater) -> Trial | None:
        responses: list[str] = []
        for model in models or ():
            if model not in self._known.models:
                close = near(model, self._known.models)
                hint = f"did you mean {quoted(close)}?" if close else "import them first (`import FILE --responses`)."
                self.fault(f"The ledger holds no answers of `{model}` to {self._known.benchmark}; {hint}")
            elif item is not None and (item.digest, model) not in self._known.answers:
                self.fault(f"The ledger holds no answer of `{model}` to item `{item.label}`; import it first.")
            elif item is not None:
                responses.append(self._known.answers[item.digest, model])
        replicate = self._replicate()
        if self.faulty or item is None:
            return None
        return Trial(
            item=item.digest,
            responses=tuple(responses),
            rater=rater.key,
            condition=IMPORTED.key,
            replicate=replicate,
        )

    def _shown(self, models: tuple[str, str]) -> tuple[str, str]:
        value = self.row.fields.get("first_shown")
        if value is None or (isinstance(value, str) and not value.strip()):
            return models
        first = self.label(("first_shown",))
        # The column's own name for the model is accepted as well as the model's.
        first = {"model_a": models[0], "model_b": models[1]}.get(first, first)
        if first not in models:
            self.fault(f"The field `first_shown` is `{first}`; expected `{models[0]}` or `{models[1]}`.")
        return models if first == models[0] else (models[1], models[0])

    def _verdict(self) -> tuple[Stated | None, Reason | None]:
        value = self.row.fields.get("verdict")
        if value is None or (isinstance(value, str) and not value.strip()):
            return None, self._reason()
        stated = read_preference(value)
        if stated is None:
            shown = value if isinstance(value, str | int | float) else json.dumps(value, default=str)
            self.fault(f"The field `verdict` is `{shown}`; expected {EXPECTED}.")
        return stated, None

    def _reason(self) -> Reason | None:
        """Why there is no verdict: rows of an export say so."""
        reason = self.text("reason")
        if reason is None:
            self.fault(f"The field `verdict` is empty and no `reason` says why; expected {EXPECTED}.")
        elif reason not in (*UNDECIDED, *CALL_FAILED):
            self.fault(f"The field `reason` is `{reason}`; expected one of {', '.join((*UNDECIDED, *CALL_FAILED))}.")
        return cast("Reason | None", reason)

    def _replicate(self) -> int:
        value = self.row.fields.get("replicate")
        if value is None or value == "":
            return 0
        text = str(value).strip()
        if isinstance(value, bool) or not text.isdecimal():
            self.fault(f"The field `replicate` is `{value}`; expected a whole number from 0 up.")
            return 0
        return int(text)

    def _at(self) -> float | None:
        text = self.text("at")
        if text is None:
            return None
        try:
            at = datetime.fromisoformat(text.strip())
        except ValueError:
            self.fault(f"The field `at` is `{text}`; expected a time such as 2026-03-01T12:30:00Z.")
            return None
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _pair(value: object) -> tuple[str, str] | None:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, list):
        return None
    match [one.strip() for one in cast("list[object]", value) if isinstance(one, str) and one.strip()]:
        case [first, second] if len(cast("list[object]", value)) == 2:
            return first, second
        case _:
            return None


def _columns_fit(path: Path, rows: Sequence[Row], problems: Problems) -> bool:
    """False where a needed column is nowhere in the file; that is told once and not for every row."""
    found = dict.fromkeys(name for row in rows for name in row.fields)
    before = problems.count
    pair = () if "models" in found else (("model_a",), ("model_b",))
    for names in (("item", "id"), ("rater",), *pair, ("verdict",)):
        if not any(name in found for name in names):
            close = near(names[0], found, cutoff=0.7)
            hint = f" Did you mean {quoted(close)}?" if close else ""
            problems.add(Place(path=path), f"No column `{names[0]}`; found {quoted(found)}.{hint}")
    both = [name for name in ("model_a", "model_b") if name in found]
    if "models" in found and both:
        problems.add(Place(path=path), f"The column `models` and {quoted(both)} say the same twice; keep one.")
    return problems.count == before


def _with_levels(stated: Sequence[_Stated], levels: Levels | None, problems: Problems) -> list[GivenJudgement]:
    """The judgements, each preference at its levels; one that does not fit them is a problem."""
    open_values = {abs(one.preference.value) for one in stated if one.preference and one.preference.levels is None}
    of_file: Levels = levels or (5 if 2 in open_values else 3)
    judgements: list[GivenJudgement] = []
    for one in stated:
        preference = one.preference
        if preference is None:
            judgements.append(one.judgement)
            continue
        own = preference.levels
        if own is not None and levels is not None and own != levels:
            problems.add(one.judgement.place, f"The verdict has {own} levels of its own, and --levels says {levels}.")
            continue
        try:
            verdict = Preference(value=preference.value, levels=own or of_file)
        except ValueError:
            problems.add(
                one.judgement.place,
                f"The verdict is {preference.value:+d}; at {of_file} levels {_ALLOWED[of_file]} is expected.",
            )
            continue
        judgements.append(replace(one.judgement, verdict=verdict))
    return judgements


def _once_each(judgements: Sequence[GivenJudgement], problems: Problems) -> tuple[GivenJudgement, ...]:
    first: dict[str, GivenJudgement] = {}
    for one in judgements:
        before = first.setdefault(one.trial.key, one)
        if before.verdict != one.verdict:
            problems.add(
                one.place,
                f"`{one.rater.name}` already judged {quoted(one.models)} on item `{one.item.label}` in this order with "
                f"another verdict ({before.place.seen_from(one.place)}); keep one of the two.",
            )
    return tuple(first.values())
