"""What intervals of agreement, of boards' correlation and of a gate's bounds say of a known truth."""

from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np

from bench.coverage_designs import Drawn, Found, World
from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import Range, clustered_share, error_of
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.bridge import NoBridge, RatedByBoth, bridge
from evenhand.stats.reliability.agreement.kappa import Weighting, cohens_kappa, gwets_ac1
from evenhand.stats.reliability.agreement.rater_matrix import Cases, RaterMatrix
from evenhand.stats.reliability.board_correlation import board_correlation
from evenhand.stats.reliability.latent_correlation import TwoBoards
from evenhand.stats.reliability.one_sided import ObservedShare

MARGINS = {"95 % one verdict": (0.95, 0.03, 0.02), "even verdicts": (0.45, 0.35, 0.20)}
Errors: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]
"""Of the models of two boards in turn."""


def drawn_verdicts(rng: np.random.Generator, margins: str, alike: float, cases: int) -> tuple[np.ndarray, np.ndarray]:
    """Of two raters: the same draw in a share `alike` of the cases, else two draws."""
    one, other = rng.choice((1.0, 0.0, -1.0), (2, cases), p=MARGINS[margins])
    return one, np.where(rng.random(cases) < alike, one, other)


def of_kappa(margins: str, alike: float, cases: int, rng: np.random.Generator) -> Found:
    """With these draws kappa's truth is the share `alike` itself."""
    return Found.of(
        [cohens_kappa(*drawn_verdicts(rng, margins, alike, cases), np.arange(cases))], truth("kappa", margins, alike)
    )


def of_ac1(margins: str, alike: float, cases: int, rng: np.random.Generator) -> Found:
    found = gwets_ac1(*drawn_verdicts(rng, margins, alike, cases), np.arange(cases))
    return Found.of([found], truth("AC1", margins, alike))


def truth(figure: str, margins: str, alike: float, *, either_way: bool = False) -> float:
    """(pa - pe) / (1 - pe) of such draws, of as many cases as there can be."""
    drawn = np.array(MARGINS[margins])
    share = (drawn + drawn[::-1]) / 2 if either_way else drawn
    agreed = alike + (1 - alike) * float(drawn @ drawn)
    chance = float(share @ share) if figure == "kappa" else float(share @ (1 - share)) / (len(share) - 1)
    return (agreed - chance) / (1 - chance)


def of_either_way(figure: str, margins: str, alike: float, cases: int, rng: np.random.Generator) -> Found:
    """Where nothing says which of two sides is named first, however often the same one happens to be."""
    rate = cohens_kappa if figure == "kappa" else gwets_ac1
    found = rate(*drawn_verdicts(rng, margins, alike, cases), np.arange(cases), either_way=True)
    return Found.of([found], truth(figure, margins, alike, either_way=True))


def of_heavy(figure: str, heavy: int, rest: int, rng: np.random.Generator) -> Found:
    """40 items, one with a large share of the cases; how often two raters agree is the item's, 2/3 on average."""
    item = np.repeat(np.arange(40), [heavy, *[rest] * 39])
    one = rng.choice((-1.0, 1.0), len(item))
    alike = rng.random(len(item)) < rng.beta(2, 1, 40)[item]
    other = np.where(alike, one, -one)
    found = cohens_kappa(one, other, item) if figure == "kappa" else gwets_ac1(one, other, item, classes=2)
    return Found.of([found], 1 / 3)


def of_bound(items: int, largest: float, kept: float, rng: np.random.Generator) -> Found:
    """Kappa where each item has a verdict of its own, which both raters give in a share `kept` of its 20 cases."""
    shares = (largest, 0.6 * (1 - largest), 0.4 * (1 - largest))
    item = np.repeat(np.arange(items), 20)
    own = rng.choice((1.0, 0.0, -1.0), items, p=shares)[item]
    one, other = (
        np.where(rng.random(len(item)) < kept, own, rng.choice((1.0, 0.0, -1.0), len(item), p=shares)) for _ in range(2)
    )
    return Found.of([cohens_kappa(one, other, item)], kept**2)


FIVE = ((-2.0, -1.0, 0.0, 1.0, 2.0), (0.15, 0.25, 0.2, 0.25, 0.15))


def of_failing(weighting: Weighting, failing: float, kept: float, items: int, rng: np.random.Generator) -> Found:
    """A judge that says the opposite on whole items, a share `failing` of them; on the others what a person says in a
    share `kept` of 10 cases each, else a draw of its own."""
    found = cohens_kappa(*_failing(rng, failing, kept, items), weighting=weighting)
    return Found.of([found], _failing_truth(weighting, failing, kept))


def _failing(rng: np.random.Generator, failing: float, kept: float, items: int) -> tuple[np.ndarray, ...]:
    item = np.repeat(np.arange(items), 10)
    person, own = rng.choice(FIVE[0], (2, len(item)), p=FIVE[1])
    fails = (rng.random(items) < failing)[item]
    judge = np.where(rng.random(len(item)) < kept, person, own)
    return np.where(fails, -person, judge), person, item


def _failing_truth(weighting: Weighting, failing: float, kept: float) -> float:
    """Both raters' shares are the same on either kind of items, for the opposite of a share is as frequent."""
    share = np.array(FIVE[1])
    # Only 0 is its own opposite.
    opposite = -1.0 if weighting == "quadratic" else 1 - (1 - share[2]) / (1 - float(share @ share))
    return (1 - failing) * kept + failing * opposite


def of_boards(models: int, latent: float, error: Errors, rng: np.random.Generator) -> Found:
    """Ratings with a fixed correlation over the models at hand; errors in units of their spread, of either board."""
    one = _unit(rng.normal(size=models))
    noise = rng.normal(size=models)
    away = _unit(noise - noise.mean() - (noise @ one) / (one @ one) * one)
    other = latent * one + np.sqrt(1 - latent**2) * away
    first, second = (np.resize(each, models) for each in error)
    boards = TwoBoards.apart(one + rng.normal(0, first), first, other + rng.normal(0, second), second)
    return Found.of([boards.latent()], latent)


def _unit(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std(ddof=1)


def of_judged_boards(models: int, items: int, rng: np.random.Generator) -> Found:
    """Judge and person on the same answers: what an answer is worth on an item moves both; latent correlation 1."""
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
    return Found.of([board_correlation(said[0], said[1], draws=1).latent], 1.0)


def of_gate(side: str, share: float, cases: int, rng: np.random.Generator) -> Found:
    """One bound alone, of 20 items; an item's cases are alike half of the time. The width is its distance."""
    items = 20
    common, own = rng.random((items, 1)) < share, rng.random((items, cases)) < share
    won = np.where(rng.random((items, 1)) < 0.5, common, own).astype(float).ravel()
    seen = ObservedShare.of(clustered_share(won, np.ones(len(won)), np.repeat(np.arange(items), cases)), Range())
    assert seen is not None
    lower, upper = seen.one_sided
    held, bound = (lower <= share, lower) if side == "lower" else (share <= upper, upper)
    return Found(held=np.array([float(held)]), width=abs(bound - share))


def of_first_position(kept: float, leaning: float, items: int, rng: np.random.Generator) -> Found:
    """Its share, each pair shown in both orders; a verdict that holds names each place once."""
    return Found.of([_first(rng, kept, leaning, items)], kept / 2 + (1 - kept) * leaning)


def _first(rng: np.random.Generator, kept: float, leaning: float, items: int) -> Estimate:
    holds = rng.random(items) < kept
    place = (rng.random(items) < leaning).astype(float)
    shown = np.stack([np.where(holds, 1.0, place), np.where(holds, 0.0, place)], axis=1).ravel()
    return clustered_share(shown, np.ones(2 * items), np.repeat(np.arange(items), 2))


def of_bridge(models: int, tau: float, sizes: tuple[int, ...], rng: np.random.Generator) -> Found:
    """A newcomer whom only the new judge rated, on the old judge's board; both boards fitted from verdicts, those of
    each item as often as `sizes` says."""
    worth = rng.normal(0, 0.8, models + 1)
    seen = 1.2 * worth + tau * rng.normal(size=models + 1)
    asked = World(items=len(sizes), sizes=sizes, models=models, item_spread=0.0, tied=0.0)
    old = [one.rating for one in bradley_terry(replace(asked, worth=tuple(worth[:-1])).drawn(rng)).models]
    new = [one.rating for one in bradley_terry(replace(asked, models=models + 1, worth=tuple(seen)).drawn(rng)).models]
    rated = [(one, other) for one, other in zip(old, new[:-1], strict=True) if one.lower is not None and other.lower]
    nothing = Found(held=np.array([np.nan]), width=np.nan)
    if new[-1].lower is None:
        return nothing
    try:
        line = bridge(
            RatedByBoth(
                old=[one.value or 0.0 for one, _ in rated],
                old_error=[error_of(one) or 0.0 for one, _ in rated],
                new=[other.value or 0.0 for _, other in rated],
                new_error=[error_of(other) or 0.0 for _, other in rated],
            )
        )
    except NoBridge:
        return nothing
    truth = 1000 + 400 / np.log(10) * (worth[-1] - worth[:-1].mean())
    return Found.of([line.placed(new[-1].value or 0.0, error_of(new[-1]) or 0.0)], float(truth))


def of_drawn_bridge(models: int, tau: float, error: float, rng: np.random.Generator) -> Found:
    """The same with ratings whose errors are normal and known: what the formula holds by itself."""
    worth = rng.normal(0, 0.8, models + 1)
    old = worth[:-1] + error * rng.normal(size=models)
    new = 1.2 * worth + tau * rng.normal(size=models + 1) + error * rng.normal(size=models + 1)
    errors = [error] * models
    try:
        line = bridge(RatedByBoth(old=old.tolist(), old_error=errors, new=new[:-1].tolist(), new_error=errors))
    except NoBridge:
        return Found(held=np.array([np.nan]), width=np.nan)
    return Found.of([line.placed(float(new[-1]), error)], float(worth[-1]))


UNEQUAL: dict[str, Errors] = {
    "errors 0.1 and 0.6": ((0.1,), (0.6,)),
    "errors 0.1 to 0.8 of models": ((0.1, 0.1, 0.8), (0.1, 0.1, 0.8)),
    "errors 0.1 to 0.8, other models": ((0.1, 0.8), (0.8, 0.1)),
}

BRIDGED: dict[str, tuple[int, ...]] = {
    "20 items": (1,) * 20,
    "60 items": (1,) * 60,
    "40 uneven items": tuple(20 // place for place in range(1, 21)) + (1,) * 20,
}
"""How often each item of two bridged boards is judged."""

WEIGHTINGS: dict[str, Weighting] = {"kappa": "none", "weighted kappa": "quadratic"}

DESIGNS: dict[str, Drawn] = {
    **{
        f"kappa, {margins}, agreement {alike}, {cases} cases": partial(of_kappa, margins, alike, cases)
        for margins in MARGINS
        for alike in (0.3, 0.6, 0.9, 0.98)
        for cases in (50, 100, 200, 400, 800)
    },
    **{
        f"either way round: {figure}, {margins}, agreement {alike}, {cases} cases": partial(
            of_either_way, figure, margins, alike, cases
        )
        for figure in ("kappa", "AC1")
        for margins in MARGINS
        for alike in (0.3, 0.6, 0.9)
        for cases in (20, 50, 200)
    },
    **{
        f"AC1, {margins}, agreement {alike}, {cases} cases": partial(of_ac1, margins, alike, cases)
        for margins in MARGINS
        for alike in (0.3, 0.6, 0.9, 0.98)
        for cases in (20, 50, 100, 400)
    },
    **{
        f"{figure}, 40 items, one with {heavy / (heavy + 39 * rest):.0%} of {heavy + 39 * rest} cases": partial(
            of_heavy, figure, heavy, rest
        )
        for figure in ("kappa", "AC1")
        for heavy, rest in ((28, 1), (270, 10), (60, 1), (205, 1))
    },
    **{
        f"kappa, verdicts bound to {items} items, {largest:.0%} one, kept {kept}": partial(
            of_bound, items, largest, kept
        )
        for items in (12, 24, 60)
        for largest in (0.45, 0.8)
        for kept in (0.5, 0.9)
    },
    **{
        f"{told}, a judge that fails on {failing:.0%} of {items} whole items, kept {kept}": partial(
            of_failing, weighting, failing, kept, items
        )
        for told, weighting in WEIGHTINGS.items()
        for items in (30, 40)
        for failing in (0.06, 0.1)
        for kept in (0.8, 1.0)
    },
    **{
        f"boards of {models}, latent {latent}, errors {error}": partial(of_boards, models, latent, ((error,), (error,)))
        for models in (4, 5, 10, 20)
        for latent in (1.0, 0.9, 0.6)
        for error in (0.15, 0.4)
    },
    **{
        f"boards of {models}, latent {latent}, {told}": partial(of_boards, models, latent, error)
        for models in (5, 10, 20)
        for latent in (1.0, 0.9, 0.6)
        for told, error in UNEQUAL.items()
    },
    **{
        f"boards of {models} from 60 shared items, latent 1": partial(of_judged_boards, models, 60)
        for models in (5, 10, 20)
    },
    **{
        f"bridge by {models} models, tau {tau}, {told}": partial(of_bridge, models, tau, sizes)
        for models in (5, 8, 12, 20)
        for tau in (0.0, 0.1, 0.2)
        for told, sizes in BRIDGED.items()
    },
    **{
        f"bridge drawn, {models} models, tau {tau}, errors {error}": partial(of_drawn_bridge, models, tau, error)
        for models in (5, 8, 12, 20)
        for tau in (0.0, 0.1, 0.2)
        for error in (0.05, 0.1, 0.2)
    },
    **{
        f"gate, {side} bound, share {share}, 20 items of {cases}": partial(of_gate, side, share, cases)
        for share in (0.5, 0.9, 0.95, 0.99)
        for cases in (1, 2)
        for side in ("lower", "upper")
    },
    **{
        f"first position, {kept:.0%} keep, lean {leaning}, {items} items": partial(
            of_first_position, kept, leaning, items
        )
        for kept in (0.5, 0.8, 0.95)
        for leaning in (0.5, 0.8)
        for items in (20, 60, 200)
    },
}
