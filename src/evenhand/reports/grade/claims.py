"""The findings of the Grade Score paper's sections 6.1 to 6.5 and 7 as claims, tested on the given data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.stats.multiplicity import holm
from evenhand.stats.reliability.grade_score.comparison import RunSpread
from evenhand.stats.reliability.grade_score.contrast import Contrast, ContrastPart, Measure, contrast, difference
from evenhand.stats.reliability.grade_score.score import GradeScore

Answer: TypeAlias = Literal["holds here", "does not hold here", "cannot be told"]

HARDLY_LESS = 0.05
"""A Choice Score that falls by less than this "remains relatively high": the low end of the authors' own spread."""
_AUTHORS_SPREAD = (0.05, 0.12)
_SIGNIFICANT = 0.05
HOW_TESTED = (
    "Each claim is tested at the 5 % level on the rows that all of its runs scored. Where it takes several "
    "comparisons, their p-values are corrected for their number by Holm's method."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """One judge's score under one prompt, with or without the unrelated option."""

    judge: str
    prompt: int
    unrelated: bool
    score: GradeScore
    own: GradeScore | None
    spread: RunSpread | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    section: str
    """Of the paper."""
    claim: str
    answer: Answer
    evidence: str
    """A sentence with the numbers, or with what would have to be asked."""
    value: Estimate | None = None
    comparisons: int = 1
    p_value: float | None = None
    """The smallest of the comparisons, corrected for their number; None where the interval of one alone decides."""

    def as_json(self) -> dict[str, Json]:
        value = self.value.as_json("difference") if self.value else {}
        return {
            "section": self.section,
            "claim": self.claim,
            "answer": self.answer,
            "evidence": self.evidence,
            "comparisons": self.comparisons,
            "p_value": self.p_value,
            **value,
        }


def claims(cells: Sequence[Graded]) -> tuple[Claim, ...]:
    """Every finding; one that these cells cannot test says what it would need. Fewer than two cells test none."""
    if len(cells) < 2:
        return tuple(_spreads(cells))
    return (*_unrelated(cells), *_judges(cells), *_order_warning(cells), *_parts(cells), *_design(cells),
            *_spreads(cells))  # fmt: skip


def risen(value: Estimate) -> Answer:
    """Whether something rose, by an interval of the difference."""
    if value.lower is not None and value.lower > 0:
        return "holds here"
    if value.upper is not None and value.upper < 0:
        return "does not hold here"
    return "cannot be told"


def _corrected(several: Sequence[Contrast]) -> tuple[float, ...]:
    """Their p-values by Holm; one without a common row proves nothing."""
    return holm([1.0 if one.p_value is None else one.p_value for one in several])


def _p(corrected: float, comparisons: int) -> str:
    return f"p = {corrected:.2g}" + (f" (Holm, {comparisons} comparisons)" if comparisons > 1 else "")


def _pairs(cells: Sequence[Graded]) -> list[tuple[Graded, Graded]]:
    """With and without the unrelated option: same judge, same prompt."""
    plain = {(cell.judge, cell.prompt): cell for cell in cells if not cell.unrelated}
    return [(cell, plain[key]) for cell in cells if cell.unrelated and (key := (cell.judge, cell.prompt)) in plain]


def _unrelated(cells: Sequence[Graded]) -> Iterator[Claim]:
    section, claim = "6.1", "An unrelated option raises the Grade Score, whatever the prompt and the judge."
    pairs = _pairs(cells)
    if not pairs:
        yield _untested(
            section, claim, "a prompt asked both with and without the unrelated option: --prompts, without --unrelated"
        )
        return
    change = _changed(pairs, "grade")
    each = [difference([one.score], [other.score]) for one, other in pairs]
    adjusted = _corrected(each)
    changes = [one.value.value or 0.0 for one in each]
    fell = [p for p, moved in zip(adjusted, changes, strict=True) if moved < 0 and p < _SIGNIFICANT]
    words = (
        f"The Grade Score changes by {_said(change)}{_by_chance(pairs, 'grade')}; it is higher in "
        f"{sum(moved > 0 for moved in changes)} of {len(pairs)} judge and prompt pairs."
    )
    if fell:
        words += f" It clearly falls in {len(fell)}: {_p(min(fell), len(pairs))}."
    answer = "does not hold here" if fell else risen(change.value)
    yield Claim(
        section=section, claim=claim, answer=answer, evidence=words, value=change.value, comparisons=len(pairs),
        p_value=min(adjusted),
    )  # fmt: skip
    yield _removed(pairs)
    yield _most_for_first_two(pairs)


def _removed(pairs: Sequence[tuple[Graded, Graded]]) -> Claim:
    """Above chance, because a row with trials left out has another chance level, and cannot attain 1."""
    own = [one.own for one, _ in pairs if one.own is not None]
    change = difference(own, [other.score for _, other in pairs], measure="above")
    return Claim(
        section="6.1",
        claim="It does so as well when the unrelated option, which changes N, is left out of the scoring.",
        answer=risen(change.value),
        evidence=(
            "Scored on the row's own options alone, over the trials that chose one of them, the Grade Score above "
            f"chance (0 at random, 1 at best) changes by {_said(change)}."
        ),
        value=change.value,
    )


def _most_for_first_two(pairs: Sequence[tuple[Graded, Graded]]) -> Claim:
    section, claim = "6.1", "It helps Prompts 1 and 2 more than Prompts 3 and 4."
    early = [pair for pair in pairs if pair[0].prompt in (1, 2)]
    late = [pair for pair in pairs if pair[0].prompt in (3, 4)]
    if not early or not late:
        return _untested(section, claim, "one of the first two prompts and one of the others: --prompts all")
    parts = [
        ContrastPart(weight=sign * turn / len(group), score=cell.score)
        for sign, group in ((1, early), (-1, late))
        for pair in group
        for turn, cell in zip((1, -1), pair, strict=True)
    ]
    change = contrast(parts)
    words = f"The change is larger by {_said(change)} under Prompts 1 and 2."
    return Claim(section=section, claim=claim, answer=risen(change.value), evidence=words, value=change.value)


def _judges(cells: Sequence[Graded]) -> Iterator[Claim]:
    names = list(dict.fromkeys(cell.judge for cell in cells))
    varies, highest = "Grade Scores differ between judges.", "One judge has the highest Grade Score in every row."
    if len(names) < 2:
        yield _untested("6.2", varies, "two judges: --judge A --judge B")
        yield _untested("6.2", highest, "two judges: --judge A --judge B")
        return
    of_pair = {pair: _between(cells, *pair) for pair in combinations(names, 2)}
    (first, second), widest = max(of_pair.items(), key=lambda one: abs(one[1].value.value or 0.0))
    adjusted = _corrected(list(of_pair.values()))
    words = f"{first} minus {second}, the widest gap, is {_said(widest)}; {_p(min(adjusted), len(of_pair))}."
    yield Claim(
        section="6.2", claim=varies, answer=_differs(adjusted), evidence=words, value=widest.value,
        comparisons=len(of_pair), p_value=min(adjusted),
    )  # fmt: skip
    yield _highest(cells, highest, dict(zip(of_pair, adjusted, strict=True)))


def _differs(adjusted: Sequence[float]) -> Answer:
    return "holds here" if min(adjusted) < _SIGNIFICANT else "cannot be told"


def _between(cells: Sequence[Graded], first: str, second: str) -> Contrast:
    """Over the prompts, with and without the unrelated option, that both judges were asked under."""
    of = {(cell.judge, cell.prompt, cell.unrelated): cell.score for cell in cells}
    both = [key[1:] for key in of if key[0] == first and (second, *key[1:]) in of]
    return difference([of[(first, *row)] for row in both], [of[(second, *row)] for row in both])


def _highest(cells: Sequence[Graded], claim: str, overall: Mapping[tuple[str, str], float]) -> Claim:
    """`overall`: of each two judges the corrected p-value of their difference over all rows of the table.

    Which judge is best is seen in the same data, so every two judges of every row are counted as compared.
    """
    rows: dict[tuple[int, bool], list[Graded]] = {}
    for cell in cells:
        rows.setdefault((cell.prompt, cell.unrelated), []).append(cell)
    tops = [max(row, key=lambda cell: cell.score.grade_score.value or 0.0).judge for row in rows.values()]
    best = max(dict.fromkeys(tops), key=tops.count)
    met = [pair for row in rows.values() for pair in combinations(row, 2)]
    apart = [difference([one.score], [other.score]) for one, other in met]
    adjusted = _corrected(apart)
    beaten: list[tuple[float, str]] = []
    for (one, other), found, p in zip(met, apart, adjusted, strict=True):
        winner, loser = (one, other) if (found.value.value or 0.0) > 0 else (other, one)
        if p < _SIGNIFICANT and loser.judge == best:
            beaten.append((p, winner.judge))
    answer: Answer = "cannot be told"
    if beaten:
        answer = "does not hold here"
    elif tops.count(best) == len(tops) and all(p < _SIGNIFICANT for pair, p in overall.items() if best in pair):
        answer = "holds here"
    words = f"{best} is highest in {tops.count(best)} of {len(tops)} rows of the table"
    lost = "."
    if beaten:
        names = ", ".join(dict.fromkeys(name for _, name in beaten))
        lost = f"; {names} clearly beats it in {len(beaten)}: {_p(min(beaten)[0], len(met))}."
    return Claim(section="6.2", claim=claim, answer=answer, evidence=words + lost, comparisons=len(met))


def _order_warning(cells: Sequence[Graded]) -> Iterator[Claim]:
    """Prompt 3 tells the judge to pay no attention to the order."""
    helps = "Telling the judge to mind no order (Prompt 3) gives a higher Grade Score than the other prompts."
    mixed = "It helps some judges more than others."
    effects = _prompt_effects(cells, (3,), (1, 2, 4))
    if not effects:
        yield _untested("6.3", helps, "Prompt 3 and another prompt: --prompts 1,3")
        return
    everything = contrast(
        [ContrastPart(weight=p.weight / len(effects), score=p.score) for e in effects.values() for p in e]
    )
    words = f"Prompt 3 minus the other prompts is {_said(everything)}."
    yield Claim(section="6.3", claim=helps, answer=risen(everything.value), evidence=words, value=everything.value)
    if len(effects) < 2:
        yield _untested("6.3", mixed, "two judges: --judge A --judge B")
        return
    of_pair = {
        (one, other): contrast(
            [*effects[one], *(ContrastPart(weight=-p.weight, score=p.score) for p in effects[other])]
        )
        for one, other in combinations(effects, 2)
    }
    (one, other), widest = max(of_pair.items(), key=lambda item: abs(item[1].value.value or 0.0))
    adjusted = _corrected(list(of_pair.values()))
    words = f"Its effect on {one} is larger than on {other} by {_said(widest)}; {_p(min(adjusted), len(of_pair))}."
    yield Claim(
        section="6.3", claim=mixed, answer=_differs(adjusted), evidence=words, value=widest.value,
        comparisons=len(of_pair), p_value=min(adjusted),
    )  # fmt: skip


def _prompt_effects(
    cells: Sequence[Graded], wanted: Sequence[int], others: Sequence[int]
) -> dict[str, list[ContrastPart]]:
    """By judge: the mean under the wanted prompts minus the mean under the others, unrelated option alike."""
    found: dict[str, list[ContrastPart]] = {}
    for judge in dict.fromkeys(cell.judge for cell in cells):
        parts: list[ContrastPart] = []
        for unrelated in (False, True):
            alike = [cell for cell in cells if cell.judge == judge and cell.unrelated == unrelated]
            first = [cell.score for cell in alike if cell.prompt in wanted]
            second = [cell.score for cell in alike if cell.prompt in others]
            if first and second:
                parts += [ContrastPart(weight=1 / len(first), score=score) for score in first]
                parts += [ContrastPart(weight=-1 / len(second), score=score) for score in second]
        if parts:
            designs = sum(part.weight for part in parts if part.weight > 0)
            found[judge] = [ContrastPart(weight=part.weight / designs, score=part.score) for part in parts]
    return found


def _parts(cells: Sequence[Graded]) -> Iterator[Claim]:
    llm = "The unrelated option raises the LLM Score (entropy of the positions)."
    choice = f"The Choice Score stays as high with it (falls by less than {HARDLY_LESS})."
    pairs = _pairs(cells)
    if not pairs:
        for claim in (llm, choice):
            yield _untested(
                "6.4",
                claim,
                "a prompt asked both with and without the unrelated option: --prompts, without --unrelated",
            )
        return
    change = _changed(pairs, "llm")
    words = f"The LLM Score changes by {_said(change)}{_by_chance(pairs, 'llm')}."
    yield Claim(section="6.4", claim=llm, answer=risen(change.value), evidence=words, value=change.value)
    change = _changed(pairs, "choice")
    value = change.value
    answer: Answer = "cannot be told"
    if value.lower is not None and value.lower > -HARDLY_LESS:
        answer = "holds here"
    elif value.upper is not None and value.upper < -HARDLY_LESS:
        answer = "does not hold here"
    words = f"The Choice Score changes by {_said(change)}{_by_chance(pairs, 'choice')}."
    yield Claim(section="6.4", claim=choice, answer=answer, evidence=words, value=value)


def _design(cells: Sequence[Graded]) -> Iterator[Claim]:
    claim = "Prompts 1 and 2, which ask for reasons, give a higher Grade Score than Prompt 4, which asks for points."
    effects = _prompt_effects(cells, (1, 2), (4,))
    if not effects:
        yield _untested("6.5", claim, "Prompt 4 and one of the first two: --prompts 1,2,4")
        return
    change = contrast(
        [ContrastPart(weight=p.weight / len(effects), score=p.score) for e in effects.values() for p in e]
    )
    words = f"Prompts 1 and 2 minus Prompt 4 is {_said(change)}."
    yield Claim(section="6.5", claim=claim, answer=risen(change.value), evidence=words, value=change.value)


def _spreads(cells: Sequence[Graded]) -> Iterator[Claim]:
    low, high = _AUTHORS_SPREAD
    spreads = [cell.spread for cell in cells if cell.spread is not None and cell.spread.widest is not None]
    if not spreads:
        return
    widest = [spread.widest or 0.0 for spread in spreads]
    answer: Answer = "holds here" if low <= max(widest) <= high else "does not hold here"
    runs = max(len(spread.runs) for spread in spreads)
    items = min(spread.items for spread in spreads)
    yield Claim(
        section="7",
        claim=f"The same experiment repeated gives Grade Scores {low} to {high} apart.",
        answer=answer,
        evidence=f"Of {runs} runs the farthest two lie {max(widest):.3f} apart, on {items} rows.",
    )


def _changed(pairs: Sequence[tuple[Graded, Graded]], measure: Measure) -> Contrast:
    return difference([one.score for one, _ in pairs], [other.score for _, other in pairs], measure=measure)


def _by_chance(pairs: Sequence[tuple[Graded, Graded]], measure: Measure) -> str:
    """How far one more option alone moves the score: that of a judge who picks at random."""
    moved = [
        getattr(one.score.chance, measure) - getattr(other.score.chance, measure)
        for one, other in pairs
        if one.score.chance is not None and other.score.chance is not None
    ]
    return f" (by {sum(moved) / len(moved):+.3f} for a judge who picks at random)" if moved else ""


def _untested(section: str, claim: str, needs: str) -> Claim:
    return Claim(section=section, claim=claim, answer="cannot be told", evidence=f"That needs {needs}.")


def _said(found: Contrast) -> str:
    value = found.value
    if value.value is None:
        return "unknown (no row was scored in all of them)"
    between = ""
    if value.lower is not None and value.upper is not None:
        between = f" (95 % {value.lower:+.3f} to {value.upper:+.3f}; {value.clusters} rows)"
    # Sums of floats can leave a hair below 0.
    return f"{round(value.value, 3) + 0.0:+.3f}{between}"
