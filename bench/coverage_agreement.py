"""How often 95 % intervals of agreement, of boards' correlation and of a gate's bounds hold the truth.

    python -m bench.coverage_agreement [--repetitions 1000] [--seed 0] [DESIGN ...]

Designs: kappa, ac1, heavy, boards, gate, first. Each line says what was simulated, how often the truth was held,
how wide the intervals were, and, of kappa, how often there was one.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import Range, clustered_share
from evenhand.stats.reliability.agreement.kappa import cohens_kappa, gwets_ac1
from evenhand.stats.reliability.agreement.rater_matrix import Cases, RaterMatrix
from evenhand.stats.reliability.board_correlation import board_correlation
from evenhand.stats.reliability.latent_correlation import TwoBoards
from evenhand.stats.reliability.one_sided import ObservedShare

MARGINS = {"95 % one verdict": (0.95, 0.03, 0.02), "even": (0.45, 0.35, 0.20)}
LARGE = 2_000_000
"""Cases from which a truth without a formula is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRow:
    design: str
    held: float
    """Share of the intervals that hold the truth."""
    width: float
    printed: float = 1.0
    """Share of the repetitions that gave an interval."""

    def __str__(self) -> str:
        note = "" if self.printed == 1 else f"  an interval in {self.printed:.1%}"
        return f"{self.design:58} {self.held:6.1%}  width {self.width:.3f}{note}"


def _row(design: str, found: list[Estimate], truth: float) -> CoverageRow:
    bounds = [(one.lower, one.upper) for one in found if one.lower is not None and one.upper is not None]
    held = sum(lower <= truth <= upper for lower, upper in bounds)
    width = sum(upper - lower for lower, upper in bounds)
    count = max(len(bounds), 1)
    return CoverageRow(design=design, held=held / count, width=width / count, printed=len(bounds) / len(found))


def _verdicts(rng: np.random.Generator, margins: str, alike: float, cases: int) -> tuple[np.ndarray, np.ndarray]:
    """Of two raters: the same draw in a share `alike` of the cases, else two draws."""
    one, other = rng.choice((1.0, 0.0, -1.0), (2, cases), p=MARGINS[margins])
    return one, np.where(rng.random(cases) < alike, one, other)


@cache
def _ac1_truth(margins: str, alike: float) -> float:
    value = gwets_ac1(*_verdicts(np.random.default_rng(0), margins, alike, LARGE), np.arange(LARGE)).value
    assert value is not None
    return value


def kappa(repetitions: int, seed: int) -> Iterator[CoverageRow]:
    """With these draws kappa's truth is the share `alike` itself."""
    rng = np.random.default_rng(seed)
    for margins in MARGINS:
        for alike in (0.3, 0.6):
            for n in (50, 100, 200, 400, 800):
                found = [cohens_kappa(*_verdicts(rng, margins, alike, n), np.arange(n)) for _ in range(repetitions)]
                yield _row(f"kappa, {margins}, agreement {alike}, {n} cases", found, alike)


def heavy(repetitions: int, seed: int) -> Iterator[CoverageRow]:
    """40 items, one with a large share of the cases; how often two raters agree is the item's, 2/3 on average."""
    rng = np.random.default_rng(seed)
    for cases, rest in ((28, 1), (270, 10), (60, 1), (205, 1)):
        item = np.repeat(np.arange(40), [cases, *[rest] * 39])
        drawn = [_by_item(rng, item) for _ in range(repetitions)]
        what = f"40 items, one with {cases / len(item):.0%} of {len(item)} cases"
        yield _row(f"kappa, {what}", [cohens_kappa(one, other, item) for one, other in drawn], 1 / 3)
        yield _row(f"AC1, {what}", [gwets_ac1(one, other, item, classes=2) for one, other in drawn], 1 / 3)


def _by_item(rng: np.random.Generator, item: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    one = rng.choice((-1.0, 1.0), len(item))
    alike = rng.random(len(item)) < rng.beta(2, 1, 40)[item]
    return one, np.where(alike, one, -one)


def ac1(repetitions: int, seed: int) -> Iterator[CoverageRow]:
    rng = np.random.default_rng(seed)
    for margins in MARGINS:
        for alike in (0.3, 0.6, 0.9):
            for n in (20, 50, 100, 400):
                found = [gwets_ac1(*_verdicts(rng, margins, alike, n), np.arange(n)) for _ in range(repetitions)]
                yield _row(f"AC1, {margins}, agreement {alike}, {n} cases", found, _ac1_truth(margins, alike))


def boards(repetitions: int, seed: int) -> Iterator[CoverageRow]:
    """Latent ratings with a fixed correlation over the models at hand; errors of .15 and .4 of their spread."""
    rng = np.random.default_rng(seed)
    for models in (4, 5, 10, 20):
        for truth in (1.0, 0.9, 0.6):
            for error in (0.15, 0.4):
                found = [_two_boards(rng, models, truth, error).latent() for _ in range(repetitions)]
                yield _row(f"boards of {models}, latent {truth}, errors {error}", found, truth)
    for models in (5, 10, 20):
        found = [_judged_boards(rng, models, items=60) for _ in range(repetitions)]
        yield _row(f"boards of {models} from 60 shared items, latent 1", found, 1.0)


def _two_boards(rng: np.random.Generator, models: int, truth: float, error: float) -> TwoBoards:
    one = _unit(rng.normal(size=models))
    noise = rng.normal(size=models)
    away = _unit(noise - noise.mean() - (noise @ one) / (one @ one) * one)
    other = truth * one + np.sqrt(1 - truth**2) * away
    errors = np.full(models, error)
    return TwoBoards.apart(one + rng.normal(0, errors), errors, other + rng.normal(0, errors), errors)


def _unit(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std(ddof=1)


def _judged_boards(rng: np.random.Generator, models: int, *, items: int) -> Estimate:
    """Judge and person on the same answers: what an answer is worth on an item moves both."""
    worth = np.linspace(-0.5, 0.5, models) + rng.normal(0, 0.6, (items, models))
    item, model = np.meshgrid(np.arange(items), np.arange(models), indexing="ij")
    cases = Cases(item=item.ravel(), model=model.ravel(), models=tuple(f"m{one}" for one in range(models)))
    said = [
        RaterMatrix(
            cases=cases,
            raters=(name,),
            case=np.arange(items * models),
            rater=np.zeros(items * models, dtype=np.int64),
            value=np.clip(np.rint(worth + rng.normal(0, 0.8, worth.shape)), -2, 2).ravel(),
            levels=5,
        )
        for name in ("judge", "person")
    ]
    return board_correlation(said[0], said[1], draws=1).latent


def gate(repetitions: int, seed: int) -> Iterator[CoverageRow]:
    """Each side alone, so that 95 % are wanted of each; an item's cases are alike half of the time."""
    rng = np.random.default_rng(seed)
    for share in (0.5, 0.9, 0.95, 0.99):
        for cases in (1, 2):
            sides = [_gate_bounds(rng, share, items=20, cases=cases) for _ in range(repetitions)]
            for side, name in ((0, "lower"), (1, "upper")):
                held = sum((bounds[side] - share) * (1 if side else -1) >= 0 for bounds in sides)
                far = sum(abs(bounds[side] - share) for bounds in sides)
                yield CoverageRow(
                    design=f"gate, {name} bound, share {share}, 20 items of {cases}",
                    held=held / repetitions,
                    width=far / repetitions,
                )


def _gate_bounds(rng: np.random.Generator, share: float, *, items: int, cases: int) -> tuple[float, float]:
    common, own = rng.random((items, 1)) < share, rng.random((items, cases)) < share
    won = np.where(rng.random((items, 1)) < 0.5, common, own).astype(float).ravel()
    seen = ObservedShare.of(clustered_share(won, np.ones(len(won)), np.repeat(np.arange(items), cases)), Range())
    assert seen is not None
    return seen.one_sided


def first(repetitions: int, seed: int) -> Iterator[CoverageRow]:
    """The share of the first position, each pair shown in both orders; a verdict that holds names each place once."""
    rng = np.random.default_rng(seed)
    for kept in (0.5, 0.8, 0.95):
        for leaning in (0.5, 0.8):
            for items in (20, 60, 200):
                truth = kept / 2 + (1 - kept) * leaning
                found = [_first(rng, kept, leaning, items) for _ in range(repetitions)]
                yield _row(f"first position, {kept:.0%} keep, lean {leaning}, {items} items", found, truth)


def _first(rng: np.random.Generator, kept: float, leaning: float, items: int) -> Estimate:
    holds = rng.random(items) < kept
    place = (rng.random(items) < leaning).astype(float)
    shown = np.stack([np.where(holds, 1.0, place), np.where(holds, 0.0, place)], axis=1).ravel()
    return clustered_share(shown, np.ones(2 * items), np.repeat(np.arange(items), 2))


DESIGNS = {"kappa": kappa, "ac1": ac1, "heavy": heavy, "boards": boards, "gate": gate, "first": first}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repetitions", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("designs", nargs="*", choices=[*DESIGNS, []], default=[])
    chosen = options.parse_args()
    print(f"{chosen.repetitions} repetitions, seed {chosen.seed}; 95 % wanted")
    for name in chosen.designs or DESIGNS:
        for row in DESIGNS[name](chosen.repetitions, chosen.seed):
            print(row, flush=True)


if __name__ == "__main__":
    main()
