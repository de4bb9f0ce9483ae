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
from dataclasses import dataclass, replace
from itertools import chain

from evenhand.domain.item import Item
from evenhand.format.look_alikes import words_alone
from evenhand.format.words import counted
from evenhand.reports.board.batches import FEWEST, Cells, apart

SHORT = 20
"""Letters, wide ones twice: answers that are shorter are the same by themselves, as "yes" is."""
NAMED = 3
"""Skills of a batch of several."""

_CLAUSE = re.compile(r"[.,;:!?\n。，；：！？]")


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
    drawn: bool,
    reserved: Collection[str] = (),
    cells: Cells | None = None,
) -> ChosenAnswers:
    """`texts`: the file's answers by item. `drawn`: whether it meets the reference on some of its items only, drawn by
    lot: then what several files have together is another sum. `reserved`: items of which a ladder tells a sum of its
    own. `cells`: by what views of the items are told apart; by skill and number of images where it is not said."""
    said = {item: _letters(text) for item, text in texts.items()}
    known = [(one, {item: _letters(text) for item, text in one.texts.items()}) for one in earlier]
    heard = _heard(earlier)
    for within, part in _parts(items, {*reserved}, _batches(items, said, cells)):
        here = {item: text for item, text in said.items() if item in part}
        repeated = _repeated({item: text for item, text in here.items() if text not in heard.get(item, ())})
        if len(here) >= FEWEST and 2 * len(repeated) > len(here):
            return ChosenAnswers(repeated=len(repeated), within=within)
        found = [
            _likeness(here, {item: text for item, text in theirs.items() if item in part}, one, within)
            for one, theirs in known
        ]
        telling = [one for one in found if _tells(one, len(here))]
        if telling:
            return min(telling, key=lambda one: (one.changed, one.like))
        together = replace(_together(here, repeated, known, found), within=within)
        few = together.changed < FEWEST and (together.same or together.repeated)
        if len(here) >= FEWEST and (few or (drawn and 2 * together.same > len(here))):
            return together
    return ChosenAnswers()


def _batches(items: Sequence[Item], said: Collection[str], cells: Cells | None) -> Iterator[tuple[str, set[str]]]:
    """As the figures of those that are answered are released: of small skills together, too."""
    skills = {one.digest: one.category or "no skill" for one in items}
    cells = cells or {one.digest: (one.category, len(one.images) > 1, frozenset()) for one in items}
    for batch in apart([one.digest for one in items if one.digest in said], cells):
        of = sorted({skills[item] for item in batch})
        rest = f" and {counted(len(of) - NAMED, 'more skill')}" if len(of) > NAMED else ""
        yield f"{', '.join(of[:NAMED])}{rest}", {*batch}


def _parts(
    items: Sequence[Item], reserved: set[str], batches: Iterable[tuple[str, set[str]]]
) -> Iterator[tuple[str, set[str]]]:
    """All, and then what is shown for itself."""
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
        yield "one image", {one.digest for one in items} - several
    yield from batches


def _letters(text: str) -> str:
    """Where a script has no spaces, signs would part its words."""
    return words_alone(text).replace(" ", "")


def _short(text: str) -> bool:
    if not text.isascii():
        return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text) < SHORT
    return len(text) < SHORT


def _heard(earlier: Sequence[EarlierAnswers]) -> dict[str, set[str]]:
    """By item, what founding models answer, and how they begin: who says "yes" where another says "Yes, it is" repeats
    itself because the questions are alike. Not what one of them says nearly always, as "Sure"."""
    heard: dict[str, set[str]] = {}
    for one in earlier:
        if not one.founding:
            continue
        begins = {
            item: {_letters(words) for words in (text, _CLAUSE.split(text, maxsplit=1)[0])} - {""}
            for item, text in one.texts.items()
        }
        times = Counter(chain.from_iterable(begins.values()))
        for item, some in begins.items():
            heard.setdefault(item, set()).update(text for text in some if 2 * times[text] <= len(begins))
    return heard


def _repeated(here: Mapping[str, str]) -> set[str]:
    """The items of long ones that are there more than once, and of the most frequent short one where there are more
    than a few."""
    count = Counter(here.values())
    texts = {text for text, times in count.items() if times > 1 and not _short(text)}
    shortest = max((text for text in count if _short(text)), key=lambda text: (count[text], text), default="")
    if count[shortest] >= FEWEST:
        texts.add(shortest)
    return {item for item, text in here.items() if text in texts}


def _copied(here: Mapping[str, str], theirs: Mapping[str, str], earlier: EarlierAnswers) -> set[str]:
    """The items to which the answer is the earlier file's."""
    return {item for item, text in here.items() if theirs.get(item) == text and (earlier.own or not _short(text))}


def _together(
    here: Mapping[str, str],
    repeated: set[str],
    known: Sequence[tuple[EarlierAnswers, Mapping[str, str]]],
    each: Sequence[ChosenAnswers],
) -> ChosenAnswers:
    """All earlier files as one: what the answers are that any of them has, and that are neither among these nor
    `repeated`. `each`: of `known` one by one."""
    shared = [(one, likeness) for one, likeness in zip(known, each, strict=True) if likeness.same]
    copied = set[str]().union(*(_copied(here, theirs, one) for (one, theirs), _ in shared))
    most = max((likeness for _, likeness in shared), key=lambda one: (one.same, one.like), default=ChosenAnswers())
    more = f" and {counted(len(shared) - 1, 'more file')}" if len(shared) > 1 else ""
    return replace(
        most,
        like=f"{most.like}{more}",
        same=len(copied),
        repeated=len(repeated - copied),
        changed=len(here.keys() - copied - repeated),
    )


def _likeness(
    here: Mapping[str, str], theirs: Mapping[str, str], earlier: EarlierAnswers, within: str
) -> ChosenAnswers:
    same = len(_copied(here, theirs, earlier))
    changed = len(here.keys() | theirs.keys()) - same + (0 if within else earlier.elsewhere)
    return ChosenAnswers(like=earlier.name, same=same, changed=changed, within=within)


def _tells(one: ChosenAnswers, answers: int) -> bool:
    if answers < FEWEST or not one.same:
        return False
    return 2 * one.same > answers or (not one.within and one.changed < FEWEST)
