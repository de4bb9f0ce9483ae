"""What boards need of the record, as columns: numbers, and the names behind them."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.ledger.read.columns.trial_keys import Keys, keys_of, no_keys, numbered
from evenhand.ledger.read.scan import Judgements, Scan, ShownAnswers, Trials
from evenhand.ledger.store.columns import Coded, Interning, is_constant
from evenhand.stats.ratings.codes import Codes

NONE = np.zeros(0, dtype=np.int32)

NUMBERS = {
    "item": "<i4", "first": "<i4", "second": "<i4", "rest": "<i4", "rater": "<i4", "condition": "<i4",
    "replicate": "<i4", "attempt": "<i4", "lot": "<u8", "seq": "<i8", "at": "<f8", "trial": "<i4", "ending": "<i4",
    "note": "<i4", "soft": "<f8", "link_study": "<i4", "link_trial": "<i4", "model": "<i4", "words": "<i4",
}  # fmt: skip
OF_JUDGEMENTS = ("seq", "at", "trial", "ending", "note", "soft")
OF_TRIALS = ("item", "first", "second", "rest", "rater", "condition", "replicate", "attempt")
OF_LINKS = ("item", "link_study", "link_trial")
"""Which study wants which trial, and how many trials there are."""
NAMED = {
    "item": "items", "first": "responses", "second": "responses", "rest": "rests", "rater": "raters",
    "condition": "conditions", "ending": "endings", "note": "notes", "link_study": "studies", "model": "models",
}  # fmt: skip
LISTS = tuple(dict.fromkeys(NAMED.values()))


class Unfit(Exception):
    """What is kept cannot be used; says why."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Columns:
    """Each trial that was judged, each judgement, which study wants which of the trials, and of each of the responses
    that were shown whose it is and how long."""

    numbers: Mapping[str, npt.NDArray[Any]]
    names: Mapping[str, tuple[str, ...]]
    unjudged: Mapping[str, int] = field(default_factory=dict[str, int])
    """Of each study, how many of its links lead to trials that nobody has judged."""
    make_keys: Callable[[], Keys]
    """Raises Unfit where they cannot be read."""
    stands: npt.NDArray[np.bool_] | None = None
    """Of each response, whether it stands for its model. None: nobody has looked."""

    @classmethod
    def empty(cls) -> "Columns":
        return cls(numbers=no_rows(*NUMBERS), names=dict.fromkeys(LISTS, ()), make_keys=no_keys)

    def with_more(self, *more: "Columns", only: Iterable[str] = NUMBERS) -> "Columns":
        """Each of `more` has the names that are new, and numbers that count on from those before it. `only`: these
        columns alone."""
        every = (self, *more)
        sources = [one._key_source for one in every]
        return Columns(
            numbers={name: _one_after_other([one.numbers[name] for one in every]) for name in only},
            names={name: tuple(itertools.chain.from_iterable(one.names[name] for one in every)) for name in LISTS},
            unjudged=every[-1].unjudged,
            make_keys=lambda: np.concatenate([source() for source in sources]),
        )

    @property
    def _key_source(self) -> Callable[[], Keys]:
        """Where its keys are from, without all else that it holds."""
        keys: Keys | None = self.__dict__.get("keys")
        return self.make_keys if keys is None else lambda: keys

    @cached_property
    def keys(self) -> Keys:
        """Of each trial; only what is new needs them."""
        return self.make_keys()

    @property
    def judgements(self) -> int:
        return len(self.numbers["seq"])

    @cached_property
    def links_by_study(self) -> dict[str, int]:
        """Those to trials that nobody has judged too."""
        counts: list[int] = np.bincount(self.numbers["link_study"], minlength=len(self.names["studies"])).tolist()
        found = Counter(dict(zip(self.names["studies"], counts, strict=True)))
        found.update(self.unjudged)
        return {study: number for study, number in found.items() if number}

    def unknown_links(
        self, rows: Sequence[tuple[str, str]], names: "Names", trial_of: Mapping[str, int] | None = None
    ) -> tuple[Codes, Codes]:
        """Of these links to judged trials those that are not here: study and trial. `trial_of`: the numbers of their
        trials; None: they are looked up by their keys."""
        if not rows:
            return NONE, NONE
        studies, keys = zip(*rows, strict=True)
        study, number = names.codes("link_study", studies), len(self.numbers["item"])
        if trial_of is None:
            trial = numbered(self.keys, keys_of(keys))[0]
        else:
            trial = np.fromiter(map(trial_of.__getitem__, keys), np.int32, len(keys))
        judged = trial < number
        study, trial = study[judged], trial[judged]
        asked = np.zeros(number, dtype=np.bool_)
        asked[trial] = True
        near = asked[self.numbers["link_trial"]]  # of a million links only those few are brought in order
        of, on = (self.numbers[name][near].astype(np.int64) for name in ("link_study", "link_trial"))
        new = ~np.isin(study.astype(np.int64) * number + trial, of * number + on)
        return study[new], trial[new]

    def unlinked(self, study: str, names: "Names") -> tuple[Codes, Codes]:
        """The study, as often as there are judged trials to which no link of it is here; and those trials."""
        (code,) = names.codes("link_study", [study])
        linked = np.zeros(len(self.numbers["item"]), dtype=np.bool_)
        linked[self.numbers["link_trial"][self.numbers["link_study"] == code]] = True
        trial = np.flatnonzero(~linked).astype(np.int32)
        return np.full(len(trial), code, dtype=np.int32), trial

    def of_studies(self, studies: Iterable[str]) -> Scan:
        """As if it were read from the record."""
        numbers, wanted = self.numbers, set(studies)
        ours = np.array([name in wanted for name in self.names["studies"]], dtype=np.bool_)
        linked = np.zeros(len(numbers["item"]), dtype=np.bool_)
        linked[numbers["link_trial"][ours[numbers["link_study"]]]] = True
        whole = bool(linked.all())
        kept = {name: numbers[name] if whole else numbers[name][linked] for name in (*OF_TRIALS, "lot")}
        # Where every trial is meant every name stands in a row.
        used = np.ones(len(self.names["responses"]), dtype=np.bool_)
        if not whole:
            used = there_in(self.names["responses"], kept["first"], kept["second"])
        named = _as_they_are if whole else _used
        responses = names_there(self.names["responses"], used)
        trials = Trials(
            item=named(self.names["items"], kept["item"]),
            first=Coded(names=responses, code=_renumbered(kept["first"], used)),
            second=Coded(names=responses, code=_renumbered(kept["second"], used)),
            rest=named(self.names["rests"], kept["rest"]),
            rater=named(self.names["raters"], kept["rater"]),
            condition=named(self.names["conditions"], kept["condition"]),
            replicate=kept["replicate"],
            attempt=kept["attempt"],
            lot=kept["lot"],
        )
        judged = {name: numbers[name] for name in OF_JUDGEMENTS}
        if not whole:
            rows = linked[numbers["trial"]]
            judged = {name: column[rows] for name, column in judged.items()}
            judged["trial"] = _renumbered(judged["trial"], linked)
        if bool((judged["seq"][1:] < judged["seq"][:-1]).any()):
            order = np.argsort(judged["seq"], kind="stable")
            judged = {name: column[order] for name, column in judged.items()}
        judgements = Judgements(
            seq=judged["seq"],
            at=judged["at"],
            trial=judged["trial"],
            ending=named(self.names["endings"], judged["ending"]),
            note=named(self.names["notes"], judged["note"]),
            soft=judged["soft"],
        )
        words = numbers["words"][used]
        answers = ShownAnswers(
            models=tuple(map(self.names["models"].__getitem__, numbers["model"][used].tolist())),
            words=np.where(words < 0, np.nan, words),
            stands=None if self.stands is None else self.stands[used],
        )
        return Scan(trials=trials, judgements=judgements, answers=answers, whole=whole or self._alone(linked))

    def _alone(self, linked: npt.NDArray[np.bool_]) -> bool:
        """Whether there are such trials, and no other was judged by their raters."""
        rater, number = self.numbers["rater"], len(self.names["raters"])
        ours, others = (np.bincount(rater[rows], minlength=number) > 0 for rows in (linked, ~linked))
        return bool(ours.any() and not (ours & others).any())


def there_in(names: Sequence[str], *codes: Codes) -> npt.NDArray[np.bool_]:
    """Of each name whether a row has it."""
    there = np.zeros(len(names), dtype=np.bool_)
    for code in codes:
        there[code] = True
    return there


def names_there(names: Sequence[str], there: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(names) if there.all() else tuple(itertools.compress(names, there.tolist()))


def _renumbered(code: Codes, there: npt.NDArray[np.bool_]) -> Codes:
    return code if there.all() else (np.cumsum(there, dtype=np.int32) - 1)[code]


def _as_they_are(names: Sequence[str], code: Codes) -> Coded:
    return Coded(names=tuple(names), code=code)


def _used(names: Sequence[str], code: Codes) -> Coded:
    """Without the names that stand in no row."""
    there = there_in(names, code)
    return Coded(names=names_there(names, there), code=_renumbered(code, there))


class Names:
    """Those known before and those that come."""

    def __init__(self, before: Columns) -> None:
        self._known = {name: len(values) for name, values in before.names.items()}
        self._lists = {name: Interning() for name in LISTS}
        for name, values in before.names.items():
            self._lists[name].learn(values)

    def codes(self, column: str, values: Sequence[str]) -> Codes:
        return self._lists[NAMED[column]].codes(values)

    def every(self, column: str) -> tuple[str, ...]:
        return self._lists[NAMED[column]].values

    def used(self, column: str, code: Codes) -> tuple[str, ...]:
        values = self.every(column)
        return names_there(values, there_in(values, code))

    def fresh(self) -> dict[str, tuple[str, ...]]:
        return {name: self._lists[name].values[known:] for name, known in self._known.items()}


def no_rows(*names: str) -> dict[str, npt.NDArray[Any]]:
    """None."""
    return {name: np.zeros(0, dtype=NUMBERS[name]) for name in names}


def _one_after_other(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    first, *others = [part for part in parts if len(part)] or parts[:1]
    if not others:
        return first
    if is_constant(first) and all(
        np.array_equal(one, np.broadcast_to(first[0], len(one)), equal_nan=True) for one in others
    ):
        return np.broadcast_to(first[0], sum(map(len, parts)))
    return np.concatenate(parts)


def gathered(
    parts: Iterable[Mapping[str, npt.NDArray[Any]]], likely: int, none: Mapping[str, npt.NDArray[Any]]
) -> dict[str, npt.NDArray[Any]]:
    """Each column of all parts, written where it stays: of ten million rows parts beside the whole would be too much.

    `likely`: how many rows there may be. `none`: the columns without any.
    """
    found, rows = dict(none), 0
    for part in parts:
        more = len(next(iter(part.values())))
        for name, column in part.items():
            found[name] = _with_rows(found[name], rows, column, likely)
        rows += more
    return {name: column[:rows] for name, column in found.items()}


def _with_rows(begun: npt.NDArray[Any], rows: int, more: npt.NDArray[Any], likely: int) -> npt.NDArray[Any]:
    """The first so many rows of `begun` and some more, with room for as many as there may be."""
    end = rows + len(more)
    if is_constant(more) and (not rows or (is_constant(begun) and np.array_equal(begun[:1], more[:1], equal_nan=True))):
        return np.broadcast_to(more[0], max(likely, end))
    if is_constant(begun) or len(begun) < end:
        room = np.empty((likely if end <= likely else 2 * end, *begun.shape[1:]), dtype=begun.dtype)
        room[:rows] = begun[:rows]
        begun = room
    begun[rows:end] = more
    return begun
