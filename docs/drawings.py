"""Draws the pictures of docs/explanation from seeded simulations: `python docs/drawings.py`; tested for staleness."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.domain.vote import Vote
from evenhand.format.charts import ACCENT, INK, LOSES, MUTED, Heading, svg, the_altair, titled
from evenhand.stats.intervals import clustered_share
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.elo.ratings import elo
from evenhand.stats.reliability.grade_score.chance_table import EXACT
from evenhand.stats.reliability.order_bias import order_bias

HERE = Path(__file__).parent / "explanation"
WIDTH, HEIGHT = 520, 260
BETTER = 0.8
"""How often a judge that looks at the answers finds the better one, in the picture of order bias."""

Signs = npt.NDArray[np.int8]


def order_bias_picture() -> Any:
    """Judges that follow the place in a growing share of verdicts, and else the better answer four times of five."""
    rng = np.random.default_rng(1)
    points: list[dict[str, Any]] = []
    for follows in np.linspace(0, 1, 11):
        found = order_bias(_judged(rng, float(follows), items=300))
        for name, estimate in (
            ("verdict stays when the answers swap positions", found.swap_consistency),
            ("verdicts for the first shown", found.first_position_share),
        ):
            points.append(
                {
                    "x": float(follows),
                    "measure": name,
                    "value": estimate.value,
                    "lower": estimate.lower,
                    "upper": estimate.upper,
                }
            )
        points.append({"x": float(follows), "measure": "verdicts for the better answer", **_better(follows)})
    heading = Heading(
        title="A judge that follows the place",
        subtitle="300 simulated pairs in both orders for each judge; bars are 95 % intervals, clustered by item",
    )
    return titled(_lines(points, "share of verdicts that follow the place"), heading)


def _better(follows: float) -> dict[str, float]:
    """Over both orders the place helps and harms alike."""
    share = (1 - follows) * BETTER + follows / 2
    return {"value": share, "lower": share, "upper": share}


def _judged(rng: np.random.Generator, follows: float, *, items: int) -> list[Vote]:
    votes: list[Vote] = []
    for number in range(items):
        # What the judge thinks of the two answers, where it looks at them: once for both orders.
        better = 1 if rng.random() < BETTER else -1
        for first, place in (("good", 1), ("poor", -1)):
            value = place if rng.random() < follows else better
            votes.append(
                Vote(
                    item=str(number), model_a="good", model_b="poor", first=first, value=value, levels=2, rater="judge"
                )
            )
    return votes


def failures_picture() -> Any:
    """A model that wins seven of ten verdicts, where a growing share of the replies cannot be read."""
    points = [
        {"x": float(failed), "measure": name, "value": value, "lower": value, "upper": value}
        for failed in np.linspace(0, 0.5, 11)
        for name, value in (
            ("left out and counted", 0.7),
            ("counted as ties", 0.7 * (1 - failed) + 0.5 * failed),
            ("counted as losses", 0.7 * (1 - failed)),
        )
    ]
    band = [
        {"x": float(failed), "lower": 0.7 * (1 - failed), "upper": 0.7 * (1 - failed) + failed}
        for failed in np.linspace(0, 0.5, 11)
    ]
    alt = the_altair()
    area = (
        alt.Chart(alt.Data(values=band))
        .mark_area(color="#e4e7eb", opacity=0.6)
        .encode(x="x:Q", y="lower:Q", y2="upper:Q")
    )
    heading = Heading(
        title="One model, three ways to count what could not be read",
        subtitle="It wins 70 % of the verdicts that were read; grey: where it could be, had all been read",
    )
    return titled(alt.layer(area, _lines(points, "share of replies without a verdict")), heading)


def clusters_picture() -> Any:
    """How often intervals of 95 % hold the true win rate, for a growing number of verdicts on each of 40 items."""
    points: list[dict[str, Any]] = []
    for each in (1, 2, 4, 8, 16):
        for name, share in held(each).items():
            points.append({"x": each, "measure": name, "value": share, "lower": share, "upper": share})
    heading = Heading(
        title="What a 95 % interval is worth",
        subtitle="40 items, some easy for the model and some hard; 400 simulated studies for each point",
    )
    return titled(_lines(points, "verdicts on each item", title="intervals that hold the true win rate"), heading)


def held(each: int, *, items: int = 40, repetitions: int = 400) -> dict[str, float]:
    """Shares of intervals that hold the true win rate, with `each` verdicts on an item."""
    rng = np.random.default_rng(each)
    clustered = taken_alone = 0
    item = np.repeat(np.arange(items), each)
    for _ in range(repetitions):
        chance = rng.beta(0.9, 0.6, size=items)  # the mean is 0.6
        won = (rng.random(items * each) < chance[item]).astype(np.float64)
        ones = np.ones(len(won))
        clustered += _holds(clustered_share(won, ones, item.astype(np.int64)), 0.6)
        taken_alone += _holds(clustered_share(won, ones, np.arange(len(won), dtype=np.int64)), 0.6)
    return {
        "clustered by item": clustered / repetitions,
        "every verdict taken for independent": taken_alone / repetitions,
    }


def _holds(estimate: Any, truth: float) -> bool:
    return estimate.lower <= truth <= estimate.upper


def elo_picture() -> Any:
    """The same 600 battles of five models in 200 orders."""
    alt = the_altair()
    battles = _battles(np.random.default_rng(5))
    played = [
        {"model": model, "rating": rating}
        for ratings in elo_in_orders(battles)
        for model, rating in zip(battles.models, ratings, strict=True)
    ]
    fitted = [{"model": one.model, "rating": one.rating.value} for one in bradley_terry(battles).models]
    axes = {
        "x": alt.X("rating:Q", title="rating", scale=alt.Scale(zero=False)),
        "y": alt.Y("model:N", title=None),
    }
    ticks = alt.Chart(alt.Data(values=played)).mark_tick(color=ACCENT, opacity=0.25).encode(**axes)
    points = alt.Chart(alt.Data(values=fitted)).mark_point(color=LOSES, filled=True, size=70).encode(**axes)
    heading = Heading(
        title="The same 600 battles, played in 200 orders",
        subtitle="Lines: Elo with K 16, one for each order. Points: Bradley-Terry, which knows no order",
    )
    return titled(alt.layer(ticks, points).properties(width=WIDTH, height=HEIGHT), heading)


def elo_in_orders(battles: Comparisons | None = None, *, orders: int = 200) -> npt.NDArray[np.float64]:
    """Orders x models: what Elo with K 16 says after playing them in that order."""
    battles = battles or _battles(np.random.default_rng(5))
    rng = np.random.default_rng(6)
    found: list[list[float]] = []
    for _ in range(orders):
        order = rng.permutation(len(battles))
        shuffled = Comparisons(
            models=battles.models,
            model_a=battles.model_a[order],
            model_b=battles.model_b[order],
            sign=battles.sign[order],
        )
        found.append([one.rating.value or 0.0 for one in elo(shuffled, k=16)])
    return np.array(found)


def _battles(rng: np.random.Generator) -> Comparisons:
    strength = np.array([1.2, 0.6, 0.0, -0.6, -1.2])
    first = rng.integers(0, 5, size=600)
    second = (first + rng.integers(1, 5, size=600)) % 5
    won = rng.random(600) < 1 / (1 + np.exp(strength[second] - strength[first]))
    sign: Signs = np.where(won, 1, -1).astype(np.int8)
    names = ("heron", "lynx", "magpie", "otter", "stoat")
    return Comparisons(models=names, model_a=first.astype(np.int32), model_b=second.astype(np.int32), sign=sign)


def chance_picture() -> Any:
    points = [
        {"x": options, "measure": name, "value": value, "lower": value, "upper": value}
        for options, level in EXACT.items()
        for name, value in (
            ("Grade Score", level.grade),
            ("LLM Score", level.llm),
            ("Choice Score", level.choice),
        )
    ]
    heading = Heading(
        title="What a judge scores who picks at random",
        subtitle="Exact means over all its choices. A judge who always picks the first place has a Grade Score of 0",
    )
    return titled(_lines(points, "options to choose from", title="score"), heading)


def _lines(points: list[dict[str, Any]], across: str, *, title: str = "share") -> Any:
    alt = the_altair()
    names = list(dict.fromkeys(point["measure"] for point in points))
    whole = all(isinstance(point["x"], int) for point in points)
    axis = alt.Axis(tickMinStep=1, format="d") if whole else alt.Axis()
    colours = alt.Scale(domain=names, range=[ACCENT, LOSES, MUTED][: len(names)])
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("x:Q", title=across, axis=axis, scale=alt.Scale(zero=False)),
        color=alt.Color(
            "measure:N",
            scale=colours,
            title=None,
            sort=names,
            legend=alt.Legend(orient="bottom", columns=1, labelLimit=0),
        ),
    )
    y = alt.Y("value:Q", title=title, scale=alt.Scale(domain=[0, 1]))
    bars = base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("lower:Q", title=title), y2="upper:Q")
    line = base.mark_line(point=alt.OverlayMarkDef(filled=True, size=28, stroke=INK, strokeWidth=0)).encode(y=y)
    return alt.layer(bars, line).properties(width=WIDTH, height=HEIGHT)


PICTURES: Mapping[str, Callable[[], Any]] = MappingProxyType(
    {
        "order-bias.svg": order_bias_picture,
        "failures.svg": failures_picture,
        "clusters.svg": clusters_picture,
        "elo.svg": elo_picture,
        "chance.svg": chance_picture,
    }
)


def drawn(name: str) -> str:
    return svg(PICTURES[name]()) + "\n"


if __name__ == "__main__":
    for name in PICTURES:
        (HERE / name).write_text(drawn(name), encoding="utf-8")
