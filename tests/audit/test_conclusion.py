"""An audit says in one sentence what it decides and what would decide the rest, and so many trials then do."""

import re

import pytest

from evenhand.audit.conclusion import Extent, conclusion
from evenhand.audit.design import Design, design
from evenhand.audit.findings import answers
from evenhand.audit.measures.catalog import measures, offers
from evenhand.audit.measures.record import Measure, MeasureOffer
from evenhand.domain.estimate import Estimate
from tests.audit.audits import ALL, sources
from tests.audit.test_audit_measures import by_name
from tests.audit.test_audit_section import heard
from tests.refusals import tells

SOURCES = sources()


def audited(budget: int, **more: object) -> tuple[list[Measure], Design]:
    made = design(SOURCES, budget=budget, **more)  # pyright: ignore[reportArgumentType]
    return measures(made, heard(by_name, of=made)), made


def extent(made: Design) -> Extent:
    trials = sum(study.wanted for study in made.studies)
    return Extent(trials=trials, left_out=made.left_out, asked=offers(made.purposeful), whole=made.whole)


def unsure(found: list[Measure]) -> set[str]:
    return {one.measure.name for one in answers(found) if one.found == "open"}


def test_few_trials_decide_nothing_and_as_many_as_it_names_decide_what_it_promises():
    found, made = audited(100, parts=("pairs",))
    said = conclusion(found, extent(made))
    opening = r"This audit decides nothing: \d+ trials on \d+ items are too few\. "
    told = re.match(opening + r"About ([\d,]+) trials would decide (\d+) of these: --budget (\d+)\.", said)
    assert told, said
    assert told[1] == told[3]
    later, _ = audited(int(told[3]), parts=("pairs",))
    assert len(unsure(found)) - len(unsure(later)) >= int(told[2])
    assert re.search(r"The other 2 take more than the 22 items available \(--benchmark, --data, --responses\)\.$", said)


def test_where_the_budget_is_not_what_lacks_no_budget_is_named():
    found, made = audited(ALL, parts=("pairs",))
    assert unsure(found) == {"coverage"}
    said = conclusion(found, extent(made))
    assert said.startswith("No sign of trouble so far, but ")
    tells(said, "1 of 5 questions", "22 items available")
    assert "--budget" not in said


def test_images_of_the_audits_twins_are_not_told_as_items_of_the_benchmark():
    found, made = audited(ALL)
    said = conclusion(found, extent(made))
    twins = made.whole["coverage"].of_twins
    assert twins > 0
    tells(said, f"{made.whole['coverage'].items - twins} items and {twins} images of the audit's twins available")


def test_what_was_problems_found_stands_first():
    found, made = audited(ALL)
    said = conclusion(found, extent(made))
    faults = sum(one.found == "fault" for one in answers(found))
    assert faults > 0
    assert said.startswith(f"Problems found in {faults} of {len(answers(found))} questions; ")


@pytest.mark.parametrize(
    ("chosen", "says"),
    [((), "Nothing could be measured."), (("swap_consistency",), "No sign of trouble in what was measured.")],
)
def test_nothing_open_is_said_without_a_word_on_trials(chosen: tuple[str, ...], says: str):
    found, made = audited(ALL)
    assert conclusion([one for one in found if one.name in chosen], extent(made)) == says


def test_the_less_is_known_the_more_trials_are_named():
    """A measure that nearly decides takes hardly more; one that lies on the rule's edge takes many times as many."""
    extent_of = Extent(
        trials=100,
        left_out=10_000,
        asked={"swap_consistency": MeasureOffer(cases=40, items=40)},
        whole={"swap_consistency": MeasureOffer(cases=10_000, items=10_000)},
    )

    def needed(share: float) -> int:
        estimate = Estimate(value=share, lower=share - 0.14, upper=min(share + 0.14, 1.0), n=40, clusters=40)
        found = extent_of.needed(Measure(name="swap_consistency", estimate=estimate, design="d"))
        assert found is not None
        return found

    assert 100 < needed(0.9) < needed(0.84) < needed(0.82)
