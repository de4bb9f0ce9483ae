"""Which files of answers are chosen so that their figures against the reference tell single verdicts.

A sum over five battles tells one of them as soon as the other four are known: lost for certain, as of an answer that
says nothing, or told by the figures of another file that has the same answers. So a file is told to the owner where
most of its answers are one text, or those of an earlier file, or fewer than five are neither in one of all earlier
ones nor repeated in it; in all, or in a part that is shown for itself. Of files that each have five new answers every
sum of sums, whatever is taken from whatever else, rests on the five that the last of them has: so no several files, of
however many teams, can be chosen so that what is left of their figures is of fewer. The very same file once more is
told too: which of its items make up a batch may be others then, as it is judged in other parts, or on other items.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain

from evenhand.domain.item import Item
from evenhand.format.look_alikes import words_to_the_eye
from evenhand.format.words import counted
from evenhand.reports.board.withheld.batches import FEWEST, Cells, apart

SHORT = 20
"""Letters, wide ones twice: answers that are shorter are the same by themselves, as "yes" is."""
NO_ACCIDENT = 2
"""Longer answers that the earlier file says once and the other shares, a quarter of all, from which on short ones that
they share are copies too: one sentence may be the same by itself, and so may those that are said to several items, as
"It cannot be told from the picture" is."""
NAMED = 3
"""Skills of a batch of several."""

DRAWN = "battles against the reference"
"""Where lots say on which items."""

_CLAUSE = re.compile(r"[.,;:!?\n。，；：！？]")
_DECISIONS = (
    "yes no true false right wrong correct incorrect both neither none a b c d e f ja nein oui non vrai faux si sim não"
    " vero falso verdadero verdadeiro да нет так ні tak nie ano ne igen nem kyllä ei nej ναι όχι evet hayır doğru"
    " yanlış ya tidak benar salah có không đúng sai"
    " はい いいえ 是 不是 否 对 對 不对 不對 错 錯 예 네 아니요 아니오 نعم لا"
    " हाँ नहीं כן לא بله خیر ใช่ ไม่ใช่ হ্যাঁ না ndiyo hapana"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierAnswers:
    """Of a model whose figures against the reference on these items are shown, or will be."""

    name: str
    own: bool
    """Whether of the same team."""
    founding: bool = False
    """Whether the owner's: what no team could have written so that it excuses another file."""
    texts: Mapping[str, str]
    """By item."""
    also: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """By item, all that is answered to any that asks the same: one set for all of these."""
    elsewhere: int = 0
    """Answers to items that are not asked here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenAnswers:
    """What would let figures tell single verdicts; nothing, where all is empty."""

    repeated: int = 0
    """Answers that say the same as others of the file, where most do, or too few others are in no earlier file."""
    like: str = ""
    """The earlier model whose answers most of these are, and how many more some of them are of."""
    same: int = 0
    changed: int = 0
    """Answers that one of the two has and the other has not; of several files or repeated ones, what is new."""
    within: str = ""
    """The part of the items of which that is so; empty for all."""


def chosen_answers(
    texts: Mapping[str, str],
    items: Sequence[Item],
    earlier: Sequence[EarlierAnswers],
    *,
    met: Collection[str] | None = None,
    reserved: Collection[str] = (),
    cells: Cells | None = None,
) -> ChosenAnswers:
    """`texts`: the file's answers by item. `met`: the items on which it meets the reference; None for all. Where lots
    drew some of them, what several files have together is another sum. `reserved`: items of which a ladder tells a sum
    of its own. `cells`: by what views of the items are told apart; by skill and number of images where it is not said.
    """
    said = {item: letters(text) for item, text in texts.items()}
    known, heard = _by_name(earlier), _heard(earlier)
    long_said = {item: text for item, text in said.items() if not is_short(text)}
    for one in known:
        same = _copied(long_said, one)
        times = Counter(chain.from_iterable(one.said.values()) if same else ())
        said_once = sum(times[long_said[item]] < 2 for item in same)
        one.copied = said_once >= NO_ACCIDENT and 4 * len(same) >= len(long_said)
    new = {item: text for item, text in said.items() if text not in heard.get(item, ())}
    long_ones = _repeated(new, short=False)
    asked = said.keys() if met is None else said.keys() & met
    for within, part in _parts(items, said, {*reserved}, {*asked}, cells):
        here = {item: text for item, text in said.items() if item in part}
        repeated = _repeated({item: new[item] for item in here if item in new}) | (long_ones & here.keys())
        if len(here) >= FEWEST and 2 * len(repeated) > len(here):
            return ChosenAnswers(repeated=len(repeated), within=within)
        found = [_likeness(here, one, part, within) for one in known]
        telling = [one for one in found if _tells(one, len(here))]
        if telling:
            return min(telling, key=lambda one: (one.changed, one.like))
        together = replace(_together(here, repeated, known, found), within=within)
        few = together.changed < FEWEST and (together.same or together.repeated)
        drawn = len(asked) < len(said)
        if len(here) >= FEWEST and (few or (drawn and 2 * together.same > len(here))):
            return together
    return ChosenAnswers()


def _parts(
    items: Sequence[Item], said: Collection[str], reserved: set[str], asked: set[str], cells: Cells | None
) -> Iterator[tuple[str, set[str]]]:
    """All, and then what is shown for itself, or released together."""
    every = {one.digest for one in items}
    yield "", every
    if reserved:
        yield "the reserve", reserved
        yield "all but the reserve", every - reserved
    for skill in sorted({one.category for one in items if one.category}):
        yield skill, {one.digest for one in items if one.category == skill}
    several = {one.digest for one in items if len(one.images) > 1}
    if several:
        yield "several images", several
        yield "one image", every - several
    yield from _batches(items, said, cells)
    if len(asked) < len(said):
        yield DRAWN, asked
        yield from _batches(items, asked, cells)


def _batches(items: Sequence[Item], of: Collection[str], cells: Cells | None) -> Iterator[tuple[str, set[str]]]:
    """As the figures of these are released: of small skills together, too."""
    skills = {one.digest: one.category or "no skill" for one in items}
    cells = cells or {one.digest: (one.category, len(one.images) > 1, frozenset()) for one in items}
    for batch in apart([one.digest for one in items if one.digest in of], cells):
        named = sorted({skills[item] for item in batch})
        rest = f" and {counted(len(named) - NAMED, 'more skill')}" if len(named) > NAMED else ""
        yield f"{', '.join(named[:NAMED])}{rest}", {*batch}


def letters(text: str) -> str:
    """Where a script has no spaces, signs would part its words. Letters that look alike make no other answer."""
    return words_to_the_eye(text).replace(" ", "")


def is_short(text: str) -> bool:
    """Of letters alone."""
    if not text.isascii():
        return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text) < SHORT
    return len(text) < SHORT


@dataclass(slots=True)
class _Known:
    """What an earlier model says, in letters alone: in several variants, or before it was replaced, together, as a file
    may have some of each."""

    one: EarlierAnswers
    copied: bool = False
    """The file has many of its longer answers, so that the short ones are no accident either."""
    said: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    also: dict[str, list[frozenset[str]]] = field(default_factory=dict[str, list[frozenset[str]]])

    def add(self, more: EarlierAnswers) -> None:
        for item, text in more.texts.items():
            self.said.setdefault(item, set()).add(letters(text))
        sets = {texts: frozenset(map(letters, texts)) for texts in {*more.also.values()}}
        for item, texts in more.also.items():
            self.also.setdefault(item, []).append(sets[texts])

    def says(self, item: str, text: str) -> bool:
        """Also to another item that asks the same; there a short answer is the same by itself, as it is another
        team's."""
        if text in self.said.get(item, ()):
            return self.one.own or self.copied or not is_short(text)
        return not is_short(text) and any(text in some for some in self.also.get(item, ()))


def _by_name(earlier: Iterable[EarlierAnswers]) -> list[_Known]:
    found: dict[tuple[str, bool], _Known] = {}
    for one in earlier:
        found.setdefault((one.name, one.founding), _Known(one)).add(one)
    return [*found.values()]


def _heard(earlier: Sequence[EarlierAnswers]) -> dict[str, set[str]]:
    """By item, what founding models answer, and what they decide at once: who says "yes" where another says "Yes, it
    is" repeats itself because the questions are alike. Not how else an answer begins, as with "Sure", nor what one of
    them says nearly always."""
    heard: dict[str, set[str]] = {}
    for one in earlier:
        if not one.founding:
            continue
        begins = {item: {*_decided(text), letters(text)} - {""} for item, text in one.texts.items()}
        times = Counter(chain.from_iterable(begins.values()))
        for item, some in begins.items():
            heard.setdefault(item, set()).update(text for text in some if times[text] <= _most(text) * len(begins))
    return heard


def _most(text: str) -> float:
    """The share of its answers that one model may give so: of a benchmark's questions most may be for a yes."""
    return 0.9 if text in _decisions() else 0.5


def _decided(text: str) -> set[str]:
    """Its first clause, where that answers a question for a yes or no, or for one of a few letters."""
    return {letters(_CLAUSE.split(text, maxsplit=1)[0])} & _decisions()


@cache
def _decisions() -> frozenset[str]:
    return frozenset(map(letters, _DECISIONS.split()))


def _repeated(here: Mapping[str, str], *, short: bool = True) -> set[str]:
    """The items of long ones that are there more than once, and of the most frequent short one where there are more
    than a few, if these are asked for."""
    count = Counter(here.values())
    texts = {text for text, times in count.items() if times > 1 and not is_short(text)}
    shortest = max((text for text in count if is_short(text)), key=lambda text: (count[text], text), default="")
    if short and count[shortest] >= FEWEST:
        texts.add(shortest)
    return {item for item, text in here.items() if text in texts}


def _copied(here: Mapping[str, str], known: _Known) -> set[str]:
    """The items to which the answer is the earlier file's."""
    return {item for item, text in here.items() if known.says(item, text)}


def _together(
    here: Mapping[str, str],
    repeated: set[str],
    known: Sequence[_Known],
    each: Sequence[ChosenAnswers],
) -> ChosenAnswers:
    """All earlier files as one: what the answers are that any of them has, and that are neither among these nor
    `repeated`. `each`: of `known` one by one."""
    shared = [one for one, likeness in zip(known, each, strict=True) if likeness.same]
    copied = set[str]().union(*(_copied(here, one) for one in shared))
    most = max(
        (likeness for likeness in each if likeness.same), key=lambda one: (one.same, one.like), default=ChosenAnswers()
    )
    more = f" and {counted(len(shared) - 1, 'more file')}" if len(shared) > 1 else ""
    return replace(
        most,
        like=f"{most.like}{more}",
        same=len(copied),
        repeated=len(repeated - copied),
        changed=len(here.keys() - copied - repeated),
    )


def _likeness(here: Mapping[str, str], known: _Known, part: set[str], within: str) -> ChosenAnswers:
    same = len(_copied(here, known))
    changed = len(here.keys() | (known.said.keys() & part)) - same + (0 if within else known.one.elsewhere)
    return ChosenAnswers(like=known.one.name, same=same, changed=changed, within=within)


def _tells(one: ChosenAnswers, answers: int) -> bool:
    """Where fewer than five are new, all earlier files together tell it."""
    return answers >= FEWEST and 2 * one.same > answers
