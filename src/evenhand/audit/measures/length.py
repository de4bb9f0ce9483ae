"""Length: whether idle words, which say nothing, make a judge prefer an answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.audit.alterations import DOSES, padded
from evenhand.audit.measures.record import (
    EFFECT,
    SMALL_EFFECT,
    WIDE,
    AuditMeasure,
    AuditReplies,
    Measure,
    Reading,
    near,
    read_whole,
)
from evenhand.audit.trials import Block, Purposeful, Sources
from evenhand.domain.trial import Trial
from evenhand.format.charts import ACCENT, INK, Heading, chart_of, dashed, layered, the_altair
from evenhand.stats.reliability.trial_effects import lean, length_slope

if TYPE_CHECKING:
    from evenhand.audit.design import Design


@dataclass(frozen=True, slots=True, kw_only=True)
class Longer:
    """An answer beside itself made longer."""

    trial: Trial
    words: int
    longer_first: bool


def _trials(sources: Sources, seed: int) -> list[Block]:  # noqa: ARG001
    makers = sources.makers
    blocks: list[Block] = []
    for base in makers.bases("length"):
        plain = makers.kept(padded(base, 0))
        block: list[Purposeful] = []
        for words in DOSES:
            long = makers.kept(padded(base, words))
            block.append(Longer(trial=makers.pair(long, plain), words=words, longer_first=True))
            block.append(Longer(trial=makers.pair(plain, long), words=words, longer_first=False))
        blocks.append(tuple(block))
    return blocks


def _shown(trials: Sequence[Purposeful]) -> list[Longer]:
    return [one for one in trials if isinstance(one, Longer)]


def _length_effect(design: "Design", heard: AuditReplies, seed: int) -> list[Measure]:  # noqa: ARG001
    trials = _shown(design.purposeful)
    whole_pairs = read_whole(trials, heard, lambda one: one.words)
    said = [sign if one.longer_first else -sign for one, sign in whole_pairs.signs]
    items = [one.trial.item for one, _ in whole_pairs.signs]
    words = " and ".join(map(str, DOSES))
    return [
        Measure(
            name="length_effect",
            estimate=lean(said, items),
            design=f"An answer against itself with {words} words more that say nothing, read in both orders: wins of "
            "the longer minus wins of the plain.",
            unit="effect",
            left_out=whole_pairs.left_out,
        ),
        Measure(
            name="length_slope",
            estimate=length_slope(said, [one.words for one, _ in whole_pairs.signs], items),
            design="The same for each 100 words added, by a line through the origin.",
            unit="effect",
            part_of="length_effect",
            left_out=whole_pairs.left_out,
        ),
    ]


def _chart(document: Mapping[str, Any]) -> Any:
    shown: Mapping[str, Any] = document.get("pictures") or {}
    points = [one for one in shown.get("lengths", ()) if one["value"] is not None]
    by_name = {one["name"]: one for one in document["measures"]}
    slope = by_name.get("length_slope")
    if not points or slope is None or slope["value"] is None:
        return None
    alt = the_altair()
    most = max(one["words"] for one in points) + 10
    line = [
        {"words": words, **{name: slope[name] * words / 100 for name in ("value", "lower", "upper")}}
        for words in (0, most)
    ]
    across = alt.X("words:Q", title="words added that say nothing", scale=alt.Scale(domain=[0, most], nice=False))

    def up(field: str) -> Any:
        return alt.Y(
            field, title="longer wins minus plain wins", scale=alt.Scale(domain=[-1, 1]), axis=alt.Axis(titlePadding=12)
        )

    fitted = chart_of(line).encode(x=across)
    seen = chart_of(points).encode(x=across)
    layers = (
        fitted.mark_area(color=ACCENT, opacity=0.14, clip=True).encode(y=up("lower:Q"), y2=alt.Y2("upper:Q")),
        fitted.mark_line(color=ACCENT, clip=True).encode(y=up("value:Q")),
        dashed(0, "y"),
        seen.mark_rule(color=INK, strokeWidth=1.5).encode(y=up("lower:Q"), y2=alt.Y2("upper:Q")),
        seen.mark_point(filled=True, size=80, color=INK, opacity=1).encode(y=up("value:Q")),
    )
    told = "95 % intervals of each length and of a line through 0; dashed: not at all"
    return layered(*layers, heading=Heading(title="How length pulls", subtitle=told), width=WIDE, height=190)


LENGTH_EFFECT = AuditMeasure(
    name="length_effect",
    within=EFFECT,
    part="length",
    trials=_trials,
    shown=_shown,
    measure=_length_effect,
    reading=Reading(
        of=near(0.0, SMALL_EFFECT),
        fault="it prefers the {side} of two answers that say the same",
        fine="idle words do not move it",
        open="whether idle words move it",
        sides=("longer", "shorter"),
    ),
    low=-SMALL_EFFECT,
    high=SMALL_EFFECT,
    chart=_chart,
)
