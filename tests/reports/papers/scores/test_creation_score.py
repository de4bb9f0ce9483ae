"""Claims about Creation-MMBench's table made of a ledger: what counts, who is ranked, and what it says of itself."""

import json
from dataclasses import replace
from typing import Any

import pytest

from evenhand.domain.rater import Settings
from evenhand.domain.response import Response
from evenhand.domain.study import Orders
from evenhand.domain.verdict import NoVerdict, Preference, Verdict
from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.record import Ledger
from evenhand.reports.errors import RankError
from evenhand.reports.papers.scores.creation_choosing import CreationChoice, choose_creation
from evenhand.reports.papers.scores.creation_score import (
    CreationScore,
    ModelScore,
    _Parts,
    creation_evidence,
    creation_score,
)
from tests.refusals import noted, refused, tells
from tests.reports.papers.scores.creation_scene import (
    FACTUALITY,
    ITEMS,
    JUDGE,
    PREFERENCE,
    UNREADABLE,
    Judging,
    Shown,
    answers_of,
    for_model,
    grades,
    judge,
    prefers,
    set_up,
)


def score_of(ledger: Ledger, **choice: Any) -> CreationScore:
    chosen = choose_creation(studies(ledger), CreationChoice(benchmark="creation-mmbench", **choice))
    return creation_score(creation_evidence(ledger, chosen))


def only(score: CreationScore) -> ModelScore:
    (one,) = score.models
    return one


def counts(one: ModelScore) -> tuple[float, ...]:
    found = one.whole.dual.preference.counts
    return found.much_better, found.better, found.tie, found.worse, found.much_worse, found.fail


def test_votes_of_both_orders_are_put_together_and_the_reversed_one_negated(ledger: Ledger):
    set_up(ledger, *answers_of(["kiln"]))
    judge(ledger, lambda shown: prefers(-2))
    one = only(score_of(ledger))
    assert counts(one) == (4, 0, 0, 0, 4, 0), "much better where it stands second, much worse where it stands first"
    assert one.whole.dual.preference.reward.value == 0
    assert one.whole.forward.preference.reward.value == 100


def test_every_model_meets_the_baseline_and_the_highest_reward_leads(ledger: Ledger):
    set_up(ledger, *answers_of(["ash", "birch", "cedar", "dogwood"]))
    worth = {"ash": -1, "birch": 2, "cedar": 1, "dogwood": 1}
    judge(ledger, lambda shown: for_model(worth[shown.model], shown))
    judge(ledger, lambda shown: grades(worth[shown.model] + 5, 8.75, shown), FACTUALITY)
    score = score_of(ledger)
    assert [(one.model, one.rank) for one in score.models] == [
        ("birch", 1), ("cedar", 2), ("dogwood", 2), ("ash", 4),
    ]  # fmt: skip
    assert [one.whole.dual.vfs.value for one in score.models] == [7, 6, 6, 4]
    assert {one.whole.dual.baseline_vfs.value for one in score.models} == {8.75}
    assert (score.baseline, score.baseline_vfs.value, score.baseline_vfs.n) == ("reference", 8.75, 4 * 3 * 2)


def test_replicates_share_a_showing_and_one_without_a_verdict_among_them_is_no_failure(ledger: Ledger):
    set_up(ledger, *answers_of(["kiln"]))

    def says(shown: Shown) -> Verdict | NoVerdict:
        if shown.label == "1":
            return UNREADABLE
        if (shown.label, shown.replicate) in {("2", 0), ("3", 2)}:
            return UNREADABLE
        return for_model(2 - shown.replicate, shown)

    judge(ledger, says, replace(PREFERENCE, replicates=3))
    found = only(score_of(ledger)).whole
    # Of cases 2 and 3 the two replicates that were read count a half each, of case 4 all three a third.
    assert counts(only(score_of(ledger))) == pytest.approx((1 + 2 / 3, 2 + 2 / 3, 1 + 2 / 3, 0, 0, 2))
    assert found.dual.preference.reward.n == pytest.approx(6)
    assert (found.preference.wanted, found.preference.with_verdict) == (8, 6)


def test_categories_and_tasks_are_the_papers_first_and_own_tasks_stand_under_other(ledger: Ledger):
    set_up(ledger, *answers_of(["kiln"]))
    worth = {"1": 2, "2": 0, "3": -1, "4": 1}
    judge(ledger, lambda shown: for_model(worth[shown.label], shown))
    judge(ledger, lambda shown: grades(float(shown.label), 9, shown), FACTUALITY)
    one = only(score_of(ledger))
    rewards = [(part.name, part.figures.dual.preference.reward.value) for part in one.categories]
    assert rewards == [("Literary Writing", 50), ("Creative Multimodal Understanding", -50), ("other", 50)]
    tasks = [(part.name, part.category, part.figures.items, part.figures.dual.vfs.value) for part in one.tasks]
    assert tasks == [
        ("story_continue", "Literary Writing", 2, 1.5),
        ("meme_explanation", "Creative Multimodal Understanding", 1, 3),
        ("haiku_of_my_own", "other", 1, None),
    ]
    assert one.whole.dual.preference.reward.value == 25, "over judgements, not over categories"
    assert one.tasks[2].figures.factuality.wanted == 0, "no criteria, no failure"


def test_a_category_of_ones_own_stands_before_other():
    items = [replace(ITEMS[3], label=name, category=name) for name in ("zines", "other", "LW", "Literary Writing")]
    assert list(_Parts.of(items).by_category) == ["Literary Writing", "LW", "zines", "other"]
    nameless = replace(ITEMS[3], category=None, task=None)
    assert list(_Parts.of([nameless]).by_task) == [("other", "no task")]


def test_a_task_whose_judgements_all_failed_has_no_number(ledger: Ledger):
    set_up(ledger, *answers_of(["kiln"]))
    judge(ledger, lambda shown: UNREADABLE if shown.label == "3" else for_model(1, shown))
    failed = only(score_of(ledger)).tasks[1]
    assert (failed.name, failed.figures.dual.preference.reward.value) == ("meme_explanation", None)
    assert failed.figures.dual.preference.counts.fail == 2
    assert only(score_of(ledger)).whole.dual.preference.reward.value == 50


def test_a_ledger_where_every_judgement_failed_still_has_a_table(ledger: Ledger):
    set_up(ledger, *answers_of(["kiln"]))
    judge(ledger, lambda shown: UNREADABLE)
    one = only(score_of(ledger))
    assert (one.rank, one.whole.dual.preference.reward.value, counts(one)[-1]) == (None, None, 8)


def test_a_model_that_answered_too_little_is_not_ranked_and_its_band_counts_the_gaps(ledger: Ledger):
    set_up(ledger, *answers_of(["full"]), *answers_of(["sparse"], items=ITEMS[:1]))
    judge(ledger, lambda shown: for_model(1 if shown.model == "full" else 2, shown))
    score = score_of(ledger)
    sparse, full = score.models
    assert (sparse.model, sparse.rank, full.rank) == ("sparse", None, 1), "it does not push others down either"
    assert (sparse.whole.answered, sparse.whole.items) == (1, 4)
    assert sparse.whole.unanswered_worst == (2 * 100 - 6 * 100) / 8
    assert full.whole.unanswered_worst == full.whole.dual.preference.reward.value
    assert "Not ranked, because fewer than 95 % of the 4 items are answered: sparse (1)." in score.notes
    assert [note for note in score.notes if note.startswith("1 to 4 items: the interval is wide")]


def test_a_model_judged_on_a_few_of_its_answers_is_not_ranked_beside_one_judged_on_all(ledger: Ledger):
    set_up(ledger, *answers_of(["full", "hasty"]))
    judge(ledger, lambda shown: for_model(2, shown) if shown.model == "full" or shown.label == "1" else None)
    judge(
        ledger, lambda shown: grades(8, 8, shown) if shown.model == "hasty" or shown.label == "1" else None, FACTUALITY
    )
    score = score_of(ledger)
    assert [(one.model, one.rank, one.whole.judged) for one in score.models] == [("full", 1, 4), ("hasty", None, 1)]
    assert noted(score.notes, "hasty", "1 of 4 items", "judged")
    assert "full: 1 of 3 items graded for visual factuality." in score.notes
    assert noted(score.notes, "95 %", "4 items", "judged", "hasty (1")
    assert not any(note.startswith(("full: 4", "hasty: 3")) for note in score.notes)


def test_an_order_drawn_for_each_item_counts_an_unanswered_item_once(ledger: Ledger):
    set_up(ledger, *answers_of(["sparse"], items=ITEMS[:3]), *answers_of(["full"]))
    judge(ledger, lambda shown: for_model(-1, shown), replace(PREFERENCE, orders="random"))
    score = score_of(ledger)
    found = {one.model: one.whole for one in score.models}
    assert found["sparse"].unanswered_worst == (3 * -50 - 100) / 4
    assert found["full"].judged == 4


def test_one_order_alone_counts_an_unanswered_item_once(ledger: Ledger):
    set_up(ledger, *answers_of(["sparse"], items=ITEMS[:1]))
    judge(ledger, lambda shown: for_model(2, shown), replace(PREFERENCE, orders="published"))
    assert only(score_of(ledger)).whole.unanswered_worst == (100 - 3 * 100) / 4


def test_what_was_not_asked_yet_is_told_and_counted_where_it_belongs(ledger: Ledger):
    set_up(ledger, *answers_of(["kiln"]))
    judge(ledger, lambda shown: None if shown.label == "3" else for_model(1, shown))
    score = score_of(ledger)
    one = only(score)
    assert counts(one) == (0, 6, 0, 0, 0, 0)
    assert (one.whole.preference.wanted, one.whole.preference.not_asked) == (8, 2)
    assert [part.figures.preference.not_asked for part in one.tasks] == [0, 2, 0]
    assert noted(score.notes, "2 showings", "not asked")


def test_another_model_can_be_the_baseline(ledger: Ledger):
    set_up(ledger, *answers_of(["ash", "birch"]))
    judge(ledger, lambda shown: for_model(2, shown), replace(PREFERENCE, against="birch"))
    score = score_of(ledger)
    assert score.baseline == "birch"
    assert [(one.model, one.whole.dual.preference.reward.value) for one in score.models] == [
        ("ash", 100),
        ("reference", 100),
    ]


def test_the_reference_answered_everything_though_a_variant_is_judged_against_a_model(ledger: Ledger):
    set_up(ledger, *answers_of(["birch"]), *answers_of(["kiln"], variant="text-only-generic"))
    how = replace(PREFERENCE, against="birch", variant="text-only-generic")
    judge(ledger, lambda shown: for_model(1, shown), how, plain=("reference",))
    score = score_of(ledger)
    assert [(one.model, one.whole.answered, one.rank) for one in score.models] == [("kiln", 4, 1), ("reference", 4, 1)]


def test_a_verdict_on_an_answer_that_was_replaced_does_not_count(ledger: Ledger):
    set_up(ledger, *answers_of(["kiln"]))
    judge(ledger, lambda shown: for_model(2, shown))
    ledger.add_responses([Response(item=ITEMS[0].digest, model="kiln", text="Better words.")], replace=True)
    score = score_of(ledger)
    assert counts(only(score))[0] == 6
    assert "Left out: 2 judgements of answers that were replaced since." in score.notes
    assert "kiln: 3 of 4 items judged." in score.notes
    assert only(score).rank is None, "as if it had been judged on three from the first"


def test_deviations_are_told_under_the_table_of_the_protocol_they_concern(ledger: Ledger):
    set_up(ledger, *answers_of(["kiln"]))
    judge(
        ledger, lambda shown: for_model(1, shown), replace(PREFERENCE, notes=("By choice, see is none, not images.",))
    )
    judge(ledger, lambda shown: grades(8, 8, shown), FACTUALITY)
    notes = score_of(ledger).notes
    deviation = "Differs from the published protocol in 8 judgements: By choice, see is none, not images."
    assert f"creation_preference: {deviation}" in notes
    assert "1 of 4 items has no criteria of visual factuality: no VFS is wanted there." in notes


def test_cut_and_refused_answers_are_judged_and_told(ledger: Ledger):
    answers = [
        replace(one, flags=("truncated",)) if one.item == ITEMS[0].digest else one for one in answers_of(["kiln"])
    ]
    set_up(ledger, *answers)
    judge(ledger, lambda shown: for_model(1, shown))
    score = score_of(ledger)
    assert counts(only(score)) == (0, 8, 0, 0, 0, 0)
    assert only(score).answers.flagged == {"truncated": 1}
    assert "kiln: 1 answer is truncated and judged as it stands." in score.notes


def test_who_described_the_images_is_no_flag_of_an_answer(ledger: Ledger):
    flags = ("described by openai/desc",)
    answers = [replace(one, flags=flags) for one in answers_of(["kiln"])]
    set_up(ledger, replace(answers[0], flags=("refused", *flags)), *answers[1:])
    judge(ledger, lambda shown: for_model(1, shown))
    score = score_of(ledger)
    assert only(score).answers.flagged == {"refused": 1}
    assert "kiln: 4 of 4 items answered from descriptions by openai/desc." in score.notes
    assert noted(score.notes, "kiln", "1 answer", "refused")
    assert score.models[0].as_json()["described_by"] == {"openai/desc": 4}


def test_answers_asked_for_otherwise_than_published_are_told_the_baselines_too(ledger: Ledger):
    warm = ('asked with temperature 0.7, image_detail "low"', "adapted: openai/o1 does not take temperature.")
    kiln = [replace(one, flags=warm) for one in answers_of(["kiln"])]
    loom = [replace(one, flags=("asked with max_tokens 100", "said by x/y")) for one in answers_of(["loom"])]
    set_up(ledger, replace(kiln[0], flags=()), *kiln[1:], *loom)
    judge(ledger, lambda shown: for_model(1, shown), replace(PREFERENCE, against="loom"))
    score = score_of(ledger)
    published = "published are temperature 0 and at most 4096 tokens."
    assert f'kiln: 3 of 4 items answered with temperature 0.7, image_detail "low"; {published}' in score.notes
    assert "kiln: 3 of 4 items answered otherwise than published. openai/o1 does not take temperature." in score.notes
    assert noted(score.notes, "loom", "4 of 4 items", "max_tokens 100")
    assert score.models[0].as_json()["asked_with"] == {'temperature 0.7, image_detail "low"': 3}
    assert score.models[0].as_json()["adapted"] == {"openai/o1 does not take temperature.": 3}


@pytest.mark.parametrize(
    ("orders", "said"),
    [
        ("published", "the published order"),
        ("reversed", "the reversed order"),
        ("random", "one order drawn for each item"),
    ],
)
def test_one_order_alone_is_named_as_a_deviation(ledger: Ledger, orders: Orders, said: str):
    set_up(ledger, *answers_of(["kiln"]))
    judge(ledger, lambda shown: for_model(1, shown), replace(PREFERENCE, orders=orders))
    judge(ledger, lambda shown: grades(8, 8, shown), FACTUALITY)
    told = [note for note in score_of(ledger).notes if "creation_preference asked" in note]
    assert told == [f"Differs from the published judging: creation_preference asked in {said} alone, not in both."]


def test_each_order_judged_on_its_own_makes_both(ledger: Ledger):
    set_up(ledger, *answers_of(["kiln"], items=ITEMS[:2]))
    for orders in ("published", "reversed"):
        judge(ledger, lambda shown: for_model(1, shown), replace(PREFERENCE, orders=orders))
    score = score_of(ledger)
    assert only(score).whole.unanswered_worst == (4 * 50 - 4 * 100) / 8
    assert not noted(score.notes, "creation_preference asked")


def test_an_item_graded_in_one_order_of_two_is_not_graded_yet(ledger: Ledger):
    set_up(ledger, *answers_of(["kiln"]))
    judge(ledger, lambda shown: grades(8, 8, shown) if shown.forward or shown.label == "1" else None, FACTUALITY)
    assert noted(score_of(ledger).notes, "kiln", "1 of 3 items", "graded")


def test_replicates_are_said_to_share_a_vote(ledger: Ledger):
    set_up(ledger, *answers_of(["kiln"]))
    judge(ledger, lambda shown: grades(8, 8, shown), FACTUALITY)
    assert "replicates" not in score_of(ledger).notes[0]
    judge(ledger, lambda shown: for_model(1, shown), replace(PREFERENCE, replicates=2))
    tells(score_of(ledger).notes[0], "one vote", "replicates")


def test_judgings_at_different_settings_are_told(ledger: Ledger):
    set_up(ledger, *answers_of(["kiln"]))
    judge(ledger, lambda shown: for_model(1, shown))
    judge(ledger, lambda shown: grades(8, 8, shown), FACTUALITY)
    assert not noted(score_of(ledger).notes, "endpoint or settings")
    other = replace(JUDGE, endpoint="http://mine", settings=Settings(temperature=1.0))
    judge(ledger, lambda shown: for_model(1, shown), replace(PREFERENCE, rater=other, prompt="cd"))
    warm = next(one.key for one in studies(ledger) if one.rater.endpoint == "http://mine")
    assert (
        "The two judgings differ in the judge's endpoint or settings: creation_preference at http://mine with "
        '{"temperature":1.0}, creation_factuality at openai with {"temperature":0.0}.'
    ) in score_of(ledger, studies=frozenset([warm])).notes


def test_items_without_subjective_criteria_are_told_and_wanted_of_nobody(ledger: Ledger):
    bare = tuple(
        replace(item, criteria=(("Visual Factuality", "True?"),)) if item.label == "3" else item for item in ITEMS
    )
    set_up(ledger, *answers_of(["kiln"], items=bare[:2]), items=bare)
    judge(ledger, lambda shown: for_model(1, shown), items=bare)
    score = score_of(ledger)
    assert "1 of 4 items has no subjective criteria: no preference is wanted there." in score.notes
    assert noted(score.notes, "kiln", "2 of 3 items", "judged")
    assert only(score).whole.unanswered_worst == (4 * 50 - 2 * 100) / 6


def test_only_grades_or_only_preferences_make_half_a_table(ledger: Ledger):
    set_up(ledger, *answers_of(["kiln"]))
    judge(ledger, lambda shown: grades(7, 9, shown), FACTUALITY)
    score = score_of(ledger)
    one = only(score)
    assert (one.rank, one.whole.dual.preference.reward.value, one.whole.dual.vfs.value) == (None, None, 7)
    assert "No preferences were judged, so there is no Reward and no Win Rate." in score.notes


def test_verdicts_of_other_levels_make_no_reward(ledger: Ledger):
    set_up(ledger, *answers_of(["kiln"]))
    judge(ledger, lambda shown: Preference(value=1, levels=2), Judging(protocol="two_levels"))
    with refused(RankError, "two_levels", 2):
        score_of(ledger, protocol="two_levels")
    judge(ledger, lambda shown: prefers(1), FACTUALITY)
    with refused(RankError, "grades"):
        score_of(ledger)


def test_the_document_has_the_shape_that_is_promised(ledger: Ledger):
    set_up(ledger, *answers_of(["kiln"]))
    judge(ledger, lambda shown: for_model(1, shown))
    judge(ledger, lambda shown: grades(7.5, 9, shown), FACTUALITY)
    document = json.loads(json.dumps(score_of(ledger).as_json(), allow_nan=False))
    assert document["schema"] == 1
    assert (document["benchmark"], document["judge"]) == ("creation-mmbench", "openai/judge")
    one = document["models"][0]
    estimates = [f"{name}{end}" for name in ("reward", "win_rate", "vfs", "baseline_vfs")
                 for end in ("", "_lower", "_upper", "_n")]  # fmt: skip
    promised = {*estimates, "counts", "coverage", "answered"}
    assert promised | {"model", "categories", "tasks", "forward"} <= one.keys()
    assert all(promised | {"category"} <= part.keys() for part in one["categories"])
    assert all(promised | {"task", "category"} <= part.keys() for part in one["tasks"])
    assert (one["reward"], one["win_rate"], one["vfs"], one["baseline_vfs"]) == (50, 1, 7.5, 9)
    assert one["counts"] == {"much_better": 0, "better": 8, "tie": 0, "worse": 0, "much_worse": 0, "fail": 0}
    assert one["coverage"]["factuality"] == {"wanted": 6, "with_verdict": 6, "reasons": {}}
