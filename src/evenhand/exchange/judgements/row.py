"""One row of a file of preferences: who judged which answers, and what the row states; faults are told, not raised."""

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal, TypeAlias, cast, get_args

from evenhand.benchmarks.data_error import BLANK, ITEM_UNKNOWN, TWICE, TYPE, FilePlace, Problems, near, quoted
from evenhand.benchmarks.files.fields import FieldReader
from evenhand.benchmarks.files.rows import Row
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import Rater
from evenhand.domain.response import REFERENCE, Response, is_reference
from evenhand.domain.trial import Condition, See, Trial
from evenhand.domain.verdict import CALL_FAILED, UNDECIDED, UNSAID, NoVerdict, Reason
from evenhand.exchange.judgements.preference_words import EXPECTED, Stated, read_preference, states_grades
from evenhand.exchange.winners import place_of_first

IMPORTED = Condition(protocol="imported", prompt_hash="")
"""How these raters were asked is not known here, and so never mixed with what was asked under a protocol."""

RATER_COLUMNS = ("rater", "worker", "worker_id", "WorkerId", "annotator", "annotator_id")
"""What files call the column that says who judged."""

_REASONS: tuple[Reason, ...] = (*UNDECIDED, *CALL_FAILED, *UNSAID)


_WAY = ("condition", "benchmark", "variant", "judge_settings")
"""Columns of an export: how a rater was asked and about what; the first is in every export of judgements."""
Kinds: TypeAlias = dict[str, tuple[str, dict[str, object], FilePlace]]
"""Of each rater its kind, of what and how it was asked, as exports say it, and where it was first met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementRow:
    place: FilePlace
    rater: Rater
    item: Item
    models: tuple[str, str]
    """In the order shown."""
    trial: Trial
    stated: Stated | NoVerdict
    """A preference is positive for the model shown first."""
    at: float | None
    """Seconds since the epoch, where the file says when."""
    protocol: str | None
    """What the file says it was judged under."""
    replies: tuple[str, ...] = ()
    """The judge's words, where the file has them."""
    notes: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """What else the file says of it."""


class KnownNames:
    """What rows may name, and the raters met so far."""

    def __init__(self, benchmark: Benchmark, answers: Sequence[Response], *, partial: bool = False) -> None:
        self.benchmark = benchmark.name
        self.items = {item.label: item for item in benchmark.items}
        self.models = sorted({one.model for one in answers})
        self.answers = {(one.item, one.model): one.digest for one in answers}
        self.kinds: Kinds = {}
        self.partial = partial
        self.left_out: list[str] = []
        """Why rows about what is not here were left out, a sentence each, where that is allowed."""


@lru_cache(maxsize=1024)
def _rater(kind: Literal["human", "model"], name: str) -> Rater:
    """The same for all rows that name it, so that its key is made once."""
    return Rater(kind=kind, name=name)


class PreferenceReader(FieldReader):
    """What a row says by itself, whatever benchmark it is about. `kinds` are those of the raters met so far."""

    def __init__(self, row: Row, problems: Problems, kinds: Kinds) -> None:
        super().__init__(row, problems)
        self._kinds = kinds

    def rater(self) -> Rater:
        name = self.label(RATER_COLUMNS)
        kind = (self.text("rater_kind") or "human").strip().casefold()
        if kind not in ("human", "model"):
            self.fault(f"The field `rater_kind` is `{kind}`; expected `human` or `model`.")
            kind = "human"
        way = self.exported(*_WAY)
        before, asked, place = self._kinds.setdefault(name, (kind, way, self.row.place))
        if any(asked.get(column, value) != value for column, value in way.items()):
            self.fault(
                f"The rater `{name}` was asked in another way, with other settings, or about another benchmark or "
                f"variant, at {place.seen_from(self.row.place)}; export one board alone, by --benchmark, --protocol, "
                "--variant and --see, or by --run.",
                code=TWICE,
            )
        if before != kind:
            self.fault(
                f"The rater `{name}` is {kind} here and {before} at {place.seen_from(self.row.place)}.", code=TWICE
            )
        return _rater(kind, name)

    def exported(self, *columns: str) -> dict[str, object]:
        """What a row of an export says in these columns; nothing where it is of no export."""
        fields = self.row.fields
        if _blank(fields.get(_WAY[0])):
            return {}
        return {name: fields[name] for name in columns if not _blank(fields.get(name))}

    @property
    def _graded(self) -> bool:
        fields = self.row.fields
        return states_grades(fields.get("verdict")) or not _blank(fields.get("criteria"))

    def models(self) -> tuple[str, str] | None:
        """model_a and model_b; a list `models`, as exports have it, is in the order shown."""
        if self._graded:
            self.fault(
                "The row has grades, and only comparisons of two models are read; leave such rows out: "
                "`evenhand export --judgements --protocol NAME` writes one protocol's alone."
            )
            return None
        if "models" not in self.row.fields:
            named = (self.label(("model_a",)), self.label(("model_b",)))
        else:
            pair = _pair(self.row.fields["models"])
            if pair is None:
                self.fault("The field `models` must be a list of two names, in the order shown.", code=TYPE)
                return None
            named = pair
        if self.faulty:
            return None
        named = (self.known_name(named[0]), self.known_name(named[1]))
        if named[0] == named[1]:
            self.fault(f"`{named[0]}` is compared with itself; two different models are expected.")
        return named

    def known_name(self, model: str) -> str:
        """The reference plays under a longer name in what VisIT-Bench's authors publish."""
        return REFERENCE if is_reference(model) else model

    def shown(self, models: tuple[str, str] | None) -> tuple[str, str] | None:
        """In the order shown: model_a first unless `first_shown` names the other."""
        if models is None or _blank(self.row.fields.get("first_shown")):
            return models
        first = self.label(("first_shown",))
        place = place_of_first(self.known_name(first), models)
        if place is None:
            self.fault(f"The field `first_shown` is `{first}`; expected `{models[0]}` or `{models[1]}`.")
        return (models[1], models[0]) if place == 1 else models

    def stated(self, *, turned: bool = False) -> Stated | NoVerdict | None:
        """In favour of model_a, or of the other one where the pair was `turned`."""
        if self._graded:
            return None
        value = self.row.fields.get("verdict")
        if _blank(value):
            return self._no_verdict()
        stated = read_preference(value)
        if stated is None:
            shown = value if isinstance(value, str | int | float) else json.dumps(value, default=str)
            self.fault(f"The field `verdict` is `{shown}`; expected {EXPECTED}.")
        return replace(stated, value=-stated.value) if stated is not None and turned else stated

    def _no_verdict(self) -> NoVerdict | None:
        """Rows of an export say why they hold none."""
        said = self.text("reason")
        if said is None:
            self.fault(f"The field `verdict` is empty and no `reason` says why; expected {EXPECTED}.", code=BLANK)
            return None
        for reason in _REASONS:
            if said.strip() == reason:
                return NoVerdict(reason=reason)
        self.fault(f"The field `reason` is `{said}`; expected one of {', '.join(_REASONS)}.")
        return None

    def soft(self, *, turned: bool = False) -> float | None:
        """How likely model_a was to be preferred, or the other one where the pair was `turned`; None where the row does
        not say."""
        value = self.row.fields.get("soft")
        if _blank(value):
            return None
        number = math.nan
        if not isinstance(value, bool):
            with suppress(ValueError, TypeError):
                number = float(cast("str", value))
        if not 0 <= number <= 1:
            self.fault(
                f"The field `soft` is `{value}`; expected how likely the model of model_a was to be preferred, from 0 "
                "to 1.",
                code=TYPE,
            )
            return None
        return 1 - number if turned else number

    def replicate(self) -> int:
        value = self.row.fields.get("replicate")
        if _blank(value):
            return 0
        text = str(value).strip()
        if isinstance(value, bool) or not text.isdecimal() or len(text) > 9:
            self.fault(f"The field `replicate` is `{value}`; expected a whole number from 0 up.")
            return 0
        return int(text)


class RowReader(PreferenceReader):
    def __init__(self, row: Row, problems: Problems, known: KnownNames) -> None:
        super().__init__(row, problems, known.kinds)
        self._known = known
        self._is_absent = False

    def read(self) -> JudgementRow | None:
        """None where anything is wrong with the row; the problems then tell what."""
        self._refuse_elsewhere()
        rater, item, models = self.rater(), self._item(), self.models()
        shown = self.shown(models)
        trial = self._trial(item, shown, rater)
        stated = self.stated(turned=shown != models)
        at, protocol, see, replies = self._at(), self.text("protocol"), self.text("see"), self._replies()
        soft = self.soft(turned=shown != models)
        if self.faulty or item is None or shown is None or trial is None or stated is None:
            return None
        return JudgementRow(
            place=self.row.place,
            rater=rater,
            item=item,
            models=shown,
            trial=trial,
            stated=stated,
            at=at,
            protocol=protocol,
            replies=replies,
            notes={**({"see": see} if see in get_args(See) else {}), **({} if soft is None else {"soft": soft})},
        )

    def _refuse_elsewhere(self) -> None:
        """Items of two benchmarks may bear the same name."""
        said = self.text("benchmark")
        if said is not None and said.strip() != self._known.benchmark:
            self.fault(
                f"The row is of the benchmark `{said.strip()}`, and the file is imported for {self._known.benchmark}; "
                "name the row's with --benchmark, or leave such rows out."
            )

    def _replies(self) -> tuple[str, ...]:
        """As exports have them: a list of texts, which in a .csv file is JSON."""
        value = self.row.fields.get("replies")
        if _blank(value):
            return ()
        texts = _texts(value)
        if texts is None:
            self.fault("The field `replies` must be a list of texts.", code=TYPE)
        return tuple(self.checked("replies", text) for text in texts or ())

    def _item(self) -> Item | None:
        label = self.label(("item", "id"))
        if label and label not in self._known.items:
            close = near(label, self._known.items)
            hint = f"; did you mean {quoted(close)}?" if close else "."
            self._absent(f"{self._known.benchmark} has no item `{label}`{hint}", code=ITEM_UNKNOWN)
        return self._known.items.get(label)

    def _trial(self, item: Item | None, shown: tuple[str, str] | None, rater: Rater) -> Trial | None:
        responses: list[str] = []
        for model in shown or ():
            if model not in self._known.models:
                close = near(model, self._known.models)
                hint = f"did you mean {quoted(close)}?" if close else "import them first (`import FILE --responses`)."
                sentence = f"The ledger holds no answers of `{model}` to {self._known.benchmark}; {hint}"
                self._absent(sentence, code="EH-ANSWERS-MISSING")
            elif item is not None and (item.digest, model) not in self._known.answers:
                sentence = (
                    f"The ledger holds no answer of `{model}` to item `{item.label}`; import it first (`import FILE "
                    "--responses`; an empty one counts), or leave such rows out with --allow-partial."
                )
                self._absent(sentence, code="EH-ANSWERS-MISSING")
            elif item is not None:
                responses.append(self._known.answers[item.digest, model])
        replicate = self.replicate()
        if self.faulty or item is None or len(responses) < len(shown or ()):
            return None
        return Trial(
            item=item.digest,
            responses=tuple(responses),
            rater=rater.key,
            condition=IMPORTED.key,
            replicate=replicate,
        )

    def _absent(self, sentence: str, *, code: str) -> None:
        """What the row is about is not here: a fault, or once for the row the reason why it is left out."""
        if not self._known.partial:
            self.fault(sentence, code=code)
        elif not self._is_absent:
            self._is_absent = True
            self._known.left_out.append(f"{self.row.place}: {sentence}")

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


def _blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _texts(value: object) -> list[str] | None:
    """None for anything but a list of texts, or JSON of one."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, list):
        return None
    texts = [one for one in cast("list[object]", value) if isinstance(one, str)]
    return texts if len(texts) == len(cast("list[object]", value)) else None


def _pair(value: object) -> tuple[str, str] | None:
    match [one.strip() for one in _texts(value) or ()]:
        case [first, second] if first and second:
            return first, second
        case _:
            return None
