"""Works out the figures of docs/explanation and prints them in the words of the pages: `python -m docs.figures`.

tests/docs/test_explanations.py compares them with the pages.
"""

import json
import math
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np

from docs.drawings import BETTER, elo_in_orders, held
from evenhand.api.reading import rank
from evenhand.reports.papers.catalog import reproduce
from evenhand.stats.ratings.differences import neighbours
from evenhand.stats.ratings.differences.simultaneous import DRAWS, LEAST_DRAWS
from evenhand.stats.reliability.grade_score.chance import expected
from evenhand.stats.reliability.grade_score.chance_pattern import ChancePattern
from evenhand.stats.reliability.grade_score.chance_table import EXACT
from evenhand.stats.reliability.grade_score.orders import MOST_OPTIONS_IN_ALL, orders_of
from evenhand.stats.reliability.summary import CONSISTENT_ENOUGH, ENOUGH_COVERAGE, FAR_FROM_EVEN


def chance() -> Iterator[str]:
    for options in (2, 3, 4, 5, 6, 8):
        level = EXACT[options]
        yield f"| {options} | {level.llm:.3f} | {level.choice:.3f} | {level.grade:.3f} |"
    worst = 0.0
    for options in range(2, MOST_OPTIONS_IN_ALL + 1):
        orders = orders_of(options, showings="all")
        found = expected(ChancePattern.whole(options, orders))
        level, worst = found.expected, max(worst, found.standard_error)
        yield f"| {options} | {len(orders)} | {level.llm:.3f} | {level.choice:.3f} | {level.grade:.3f} |"
    yield f"with a standard error of at most {worst:.4f}"
    three, four, five = (f"{EXACT[options].grade:.3f}".lstrip("0") for options in (3, 4, 5))
    yield f"So 0{four[:3]} on four options is no middling judge"
    yield f"lowers the score of chance from {three} to {four}, and from {four} to {five} with four"
    table = next(one for one in reproduce("grade-score").tables if one.table == "1")
    impossible = [row for row in table.rows if row.note and row.note.startswith("impossible")]
    yield f"{len(impossible)} of the {len(table.rows)} cells of the paper's Table 1 lie above"


def clusters() -> Iterator[str]:
    shares = {each: held(each) for each in (1, 2, 4, 8, 16)}
    for each, found in shares.items():
        alone, clustered = found["every verdict taken for independent"], found["clustered by item"]
        yield f"| {each} | {_percent(alone)} | {_percent(clustered)} |"
    weights = np.array([27.0, *[1.0] * 39])
    share = weights[0] / weights.sum()
    yield f"40 items of which one has {share:.0%} of the rows".replace("%", " %")
    assert 5 < weights.sum() ** 2 / (weights**2).sum() < 6
    yield "as five or six alike ones"
    (known, _, _), (rating, lower, upper) = (_repeated(with_rater=with_rater) for with_rater in (True, False))
    yield f"with a rater column A's rating stays {known:.0f}; without one it is {rating:.0f}"
    yield f"its interval is {upper - lower:,.0f} points wide and separates A from nobody"


def _repeated(*, with_rater: bool) -> tuple[float, float, float]:
    """A's rating and its interval, of 40 items split evenly of which one stands there 400 times."""
    lines = ["item,model_a,model_b,winner,rater" if with_rater else "item,model_a,model_b,winner"]
    for item, times in [(0, 400), *((item, 1) for item in range(1, 40))]:
        winner = "model_a" if item % 2 == 0 else "model_b"
        lines += [f"{item},A,B,{winner}{',judge' if with_rater else ''}"] * times
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "battles.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        models = rank(path).models
    assert [one.tier for one in models] == [1, 1]
    (found,) = [one.rating for one in models if one.model == "A"]
    assert found.value is not None
    assert found.lower is not None
    assert found.upper is not None
    return found.value, found.lower, found.upper


def _percent(share: float) -> str:
    """Halves upwards: 96.5 is 97."""
    return f"{math.floor(100 * share + 0.5 + 1e-9)} %"


def elo() -> Iterator[str]:
    ratings = elo_in_orders()
    top = ratings[:, 0]
    yield f"has ratings between {top.min():.0f} and {top.max():.0f} from the very same evidence"
    usual = np.argsort(-ratings.mean(axis=0))
    swapped = sum(bool((np.argsort(-one) != usual).any()) for one in ratings)
    yield f"in {swapped} of the {len(ratings)} orders two models change places"
    # A rating moves by K times the surprise, and each point changes that by ln(10) / 1600 where two are even.
    yield f"with K 4 by a third of the way still missing after {4 * 400 / (4 * math.log(10)):.0f} battles"
    assert round(3 * math.exp(-1)) == 1


def failures() -> Iterator[str]:
    won, unread = 0.7, 0.5
    yield f"wins {won:.0%} of the verdicts that were read".replace("%", " %")
    yield f"it stands at {won * (1 - unread) + unread / 2:.0%}: every model".replace("%", " %")
    yield f"it stands at {won * (1 - unread):.0%}: the model pays".replace("%", " %")
    with tempfile.TemporaryDirectory() as folder:
        board = rank(_unread(Path(folder)))
    point = board.findings.tipping_point
    assert point is not None
    yield f'"{point.sentence}"'
    yield f"With coverage above {100 * ENOUGH_COVERAGE:.0f} %"


def _unread(folder: Path) -> Path:
    """Judgements of three models on 60 items; three in ten of B's ended without a verdict."""
    rng = random.Random(1)
    lines: list[str] = []
    for item in range(60):
        for a, b, better in (("A", "B", 0.6), ("A", "C", 0.8), ("B", "C", 0.7)):
            value = 1 if rng.random() < better else -1
            lost = "B" in (a, b) and rng.random() < 0.3
            said = {"verdict": None, "reason": "unreadable"} if lost else {"verdict": {**_OF_TWO, "value": value}}
            lines.append(json.dumps({**_JUDGED, "item": str(item), "models": [a, b], "reason": None, **said}))
    path = folder / "judgements.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


_OF_TWO = {"kind": "preference", "levels": 2}
_JUDGED = {"protocol": "p", "rater": "r", "rater_kind": "model", "replicate": 0, "run": "x", "at": 0, "cost_usd": 0}


def order_bias() -> Iterator[str]:
    yield f"falls only slowly from {BETTER:.0%} to 50 %".replace("%", " %", 1)
    yield f"the interval of the swap consistency lies below {100 * CONSISTENT_ENOUGH:.0f} %"
    yield f"outside {100 * (0.5 - FAR_FROM_EVEN):.0f} to {100 * (0.5 + FAR_FROM_EVEN):.0f} %"
    yield f"needs {_items_needed(0.5) / _items_needed(0):.1f} times the items of one at 0"
    lead, scatter = (_of_an_item(0.5)[place] / _of_an_item(0)[place] for place in (0, 1))
    assert (lead, round(1 / lead**2)) == (0.5, 4)
    yield f"so their variance is {scatter:.2f} times as large"


def _items_needed(follows: float) -> float:
    """For a given certainty, up to a factor that all judges share."""
    lead, variance = _of_an_item(follows)
    return variance / lead**2


def _of_an_item(follows: float) -> tuple[float, float]:
    """Mean and variance of an item's verdict, -1 to 1 over both orders, of the picture's judges."""
    outcomes = [
        (chance, (first + second) / 2)
        for looked, better in ((BETTER, 1), (1 - BETTER, -1))
        for of_first, first in ((follows, 1), (1 - follows, better))
        for of_second, second in ((follows, -1), (1 - follows, better))
        for chance in (looked * of_first * of_second,)
    ]
    mean = sum(chance * value for chance, value in outcomes)
    return mean, sum(chance * value**2 for chance, value in outcomes) - mean**2


def ranks() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ten.csv"
        verdicts = ["model_a"] * 10 + ["tie"] * 2
        lines = [f"{item},A,B,{winner}" for item, winner in enumerate(verdicts)]
        path.write_text("\n".join(["item,model_a,model_b,winner", *lines]) + "\n", encoding="utf-8")
        board = rank(path)
    (said,) = [part for part in board.about_ranks[0].split(". ") if part.startswith("Separated from the next")]
    yield said.rstrip(".")
    yield "two level, are p = 0.002"
    yield "of 59 own ranges three may be wrong"
    yield f"Up to {neighbours.EXACT} items all combinations are counted, above {neighbours.FLIPS:,} are drawn"
    yield f"from {DRAWS:,} simulations (`--seed`), {LEAST_DRAWS:,} at the least"


FIGURES: Mapping[str, Callable[[], Iterator[str]]] = MappingProxyType(
    {
        "chance.md": chance,
        "clusters.md": clusters,
        "elo.md": elo,
        "failures.md": failures,
        "order-bias.md": order_bias,
        "ranks.md": ranks,
    }
)


if __name__ == "__main__":
    for page, figures in FIGURES.items():
        sys.stdout.write("\n  ".join((page, *figures())) + "\n")
