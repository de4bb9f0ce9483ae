"""Claims about whose answers others may read."""

import pytest

from evenhand.domain.response import REFERENCE
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.submitted_models import may_be_shown
from evenhand.site.people.forms import AskedStudy, Pairs, Sharing
from evenhand.site.people.plan import PeopleStudyError, answers_for_people, plan_people_study
from tests.ledger.scene import BENCHMARK, ITEMS, set_up
from tests.refusals import refused
from tests.submitted_models import all_stages, submitted


def planned_models(ledger: Ledger, pairs: Pairs) -> set[str]:
    asked = AskedStudy(data=BENCHMARK.digest, form="forced", pairs=pairs, sharing=Sharing(people=1, each=1))
    return {model for one in plan_people_study(ledger, asked).comparisons for model in one.pair}


def test_of_submissions_others_may_read_only_what_is_published_and_not_withdrawn(ledger: Ledger):
    made = all_stages(ledger, ITEMS)
    founding = {"amber", REFERENCE}
    assert may_be_shown(ledger, {*made.values(), *founding}) == founding | {made["published"]}


def test_a_label_that_no_submission_bears_is_not_shown(ledger: Ledger):
    assert may_be_shown(ledger, ["submission-0", "amber"]) == {"amber"}
    submitted(ledger, ITEMS, "published")
    assert may_be_shown(ledger, ["submission-0", "amber"]) == {"amber"}


def test_only_those_asked_for_are_told(ledger: Ledger):
    submitted(ledger, ITEMS, "published")
    assert may_be_shown(ledger, []) == frozenset()


def test_people_are_given_every_founding_model_and_what_is_published(ledger: Ledger):
    set_up(ledger)
    founding = {one.model for one in answers_for_people(ledger, ITEMS)}
    assert len(founding) > 1
    made = all_stages(ledger, ITEMS)
    assert {one.model for one in answers_for_people(ledger, ITEMS)} == founding | {made["published"]}
    compared = founding - {REFERENCE} | {made["published"]}
    assert planned_models(ledger, Pairs()) == compared


@pytest.mark.parametrize("stage", ["judging", "anonymous", "withdrawn", "taken back"])
def test_people_are_not_given_what_is_not_published_whatever_way_it_is_named(ledger: Ledger, stage: str):
    set_up(ledger)
    other = next(one.model for one in answers_for_people(ledger, ITEMS) if one.model != REFERENCE)
    model = submitted(ledger, ITEMS, stage)
    ways = (
        Pairs(models=(model, other)),
        Pairs(who="against", against=model),
        Pairs(who="given", given=((other, model),)),
    )
    for pairs in ways:
        with refused(PeopleStudyError, f"'{model}'"):
            planned_models(ledger, pairs)
