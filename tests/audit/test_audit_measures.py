"""Judges with one habit each, and what the measures say of them."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from evenhand.audit.design import Design, design
from evenhand.audit.findings import findings
from evenhand.audit.measures.catalog import measures
from evenhand.audit.measures.length import Longer
from evenhand.audit.measures.planted import Steered
from evenhand.audit.measures.record import AuditReplies, Measure
from evenhand.audit.trials import Looked, PairTrial, Picked, Purposeful
from evenhand.domain.estimate import Estimate
from evenhand.domain.verdict import Choice, NoVerdict, Preference, Verdict
from evenhand.stats.reliability.trial_effects import obeyed_by_chance
from tests.audit.audits import ALL, sources

WHOLE = design(sources(), budget=ALL)
Habit = Callable[[Purposeful], int]
"""Positive for the answer shown first."""


def said(habit: Habit, *, of: Design = WHOLE, picks: int = 0) -> dict[str, Estimate]:
    verdicts: dict[str, Verdict | NoVerdict] = {}
    for one in of.purposeful:
        verdicts[one.trial.key] = (
            Choice(value=picks) if isinstance(one, Picked) else Preference(value=habit(one), levels=5)
        )
    return {one.name: one.estimate for one in measures(of, AuditReplies(verdicts=verdicts))}


def by_name(one: Purposeful) -> int:
    """The model whose name comes first, whatever the place."""
    return 1 if isinstance(one, PairTrial) and one.models[0] < one.models[1] else -1


def test_who_follows_a_place_is_seen_to():
    found = said(lambda _: 1)
    assert found["swap_consistency"].value == 0
    assert found["first_position"].value == 1
    assert found["repeatability"].value == 1
    for name in ("length_effect", "planted_effect", "planted_effect_order", "looks"):
        assert found[name].value == pytest.approx(0), name


def test_who_follows_content_is_seen_to():
    found = said(by_name)
    assert found["swap_consistency"].value == 1
    assert found["first_position"].value == 0.5
    assert found["transitivity"].value == 1
    assert found["tie_rate"].value is None  # VisIT's protocol offers no tie


def test_who_takes_the_longer_or_the_shorter_is_seen_to():
    longer = said(lambda one: 1 if isinstance(one, Longer) and one.longer_first else -1)
    assert longer["length_effect"].value == 1
    assert longer["length_slope"].value == pytest.approx(1.6)
    shorter = said(lambda one: -1 if isinstance(one, Longer) and one.longer_first else 1)
    assert shorter["length_effect"].value == -1


def test_who_obeys_is_seen_to_wherever_the_words_stand():
    found = said(lambda one: 1 if isinstance(one, Steered) and one.names_first else -1)
    for name in ("", "_verdict", "_order", "_system_turn", "_own_place", "_other_place"):
        assert found[f"planted_effect{name}"].value == 1, name


def test_who_only_likes_answers_with_planted_words_does_not_obey():
    found = said(lambda one: 1 if isinstance(one, Steered) and one.names_first == one.names_own else -1)
    assert found["planted_effect"].value == pytest.approx(0)
    assert found["planted_effect_own_place"].value == 1
    assert found["planted_effect_other_place"].value == -1


def test_who_obeys_one_kind_is_seen_to_obey_that_kind():
    def habit(one: Purposeful) -> int:
        return 1 if isinstance(one, Steered) and (one.names_first or one.kind != "order") else -1

    found = said(habit)
    assert found["planted_effect_order"].value == 1
    assert found["planted_effect_verdict"].value == 0


def test_who_obeys_one_way_is_seen_to_obey_that_way_alone():
    def habit(one: Purposeful) -> int:
        return 1 if isinstance(one, Steered) and (one.names_first or one.way != "order in base64") else -1

    verdicts: dict[str, Verdict | NoVerdict] = {
        one.trial.key: Preference(value=habit(one), levels=5) for one in WHOLE.purposeful if not isinstance(one, Picked)
    }
    found = {one.name: one for one in measures(WHOLE, AuditReplies(verdicts=verdicts))}
    ways = {one.way: one for one in found.values() if one.way is not None}
    assert [way for way, one in ways.items() if one.stands_out] == ["order in base64"]
    assert ways["order in base64"].estimate.value == 1
    assert ways["order in German"].estimate.value == 0
    assert (found["planted_effect"].estimate.value or 0) < 0.2
    faults = [one for one in findings(list(found.values())) if "a planted order in base64 moves it (+1.000" in one]
    assert len(faults) == 1
    assert not any("planted in an answer do not move it" in one for one in findings(list(found.values())))


def test_ways_that_few_items_show_have_no_measure_of_their_own():
    some = design(sources(), budget=120)
    assert not [name for name in said(lambda _: 1, of=some) if name.startswith("planted_by_way")]


def test_a_way_stands_out_by_hand():
    # Of ten showings each turned by the name: one of the 1,024 choices of signs gives so much.
    assert obeyed_by_chance([2] * 10) == pytest.approx(1 / 1024)
    assert obeyed_by_chance([2, 2, -2]) == pytest.approx(4 / 8)
    assert obeyed_by_chance([0, 0]) == obeyed_by_chance([]) == 1


def test_who_looks_is_seen_to():
    found = said(lambda one: 1 if isinstance(one, Looked) and one.right_first else -1)
    assert found["looks"].value == 0.5
    assert found["looks_with_image"].value == 1
    assert found["follows_wrong_image"].value == 1


def test_who_picks_the_same_place_every_time_is_far_below_chance():
    assert (said(by_name, picks=1)["grade_above_chance"].value or 0) < -1


def test_who_changes_its_mind_is_not_repeatable():
    found = said(lambda one: -1 if isinstance(one, PairTrial) and one.repeat else 1)
    assert found["repeatability"].value == 0
    # What was asked again is no second vote.
    assert found["first_position"].value == 1


def test_coverage_is_told_apart_for_each_protocol():
    verdicts: dict[str, Verdict | NoVerdict] = {
        one.trial.key: NoVerdict(reason="unreadable") if isinstance(one, Picked) else Preference(value=1, levels=2)
        for one in WHOLE.purposeful
    }
    found = {one.name: one for one in measures(WHOLE, AuditReplies(verdicts=verdicts))}
    assert found["coverage"].estimate.value == 1
    assert "under visit_pairwise" in found["coverage"].design
    (other,) = [one for name, one in found.items() if name.startswith("coverage_")]
    assert (other.estimate.value, other.part_of) == (0, "coverage")
    assert "option_selection" in other.name


def test_a_judge_without_words_for_a_verdict_has_the_reason_and_the_other_kinds():
    without = [one for one in WHOLE.main.purposeful if not (isinstance(one, Steered) and one.kind == "verdict")]
    some = replace(WHOLE, main=replace(WHOLE.main, purposeful=tuple(without)))
    found = said(lambda one: 1 if isinstance(one, Steered) and one.names_first else -1, of=some)
    assert "no words are known" in (found["planted_effect_verdict"].reason or "")
    assert found["planted_effect"].value == found["planted_effect_order"].value == 1


def test_a_tie_is_a_verdict_and_silence_is_none():
    protocol = replace(WHOLE.main.asking.protocol, levels=5)
    five = replace(WHOLE, main=replace(WHOLE.main, asking=replace(WHOLE.main.asking, protocol=protocol)))
    assert said(lambda _: 0, of=five)["tie_rate"].value == 1
    first, *rest = WHOLE.purposeful
    half: dict[str, Verdict | NoVerdict] = {first.trial.key: Preference(value=1, levels=2)}
    half[rest[0].trial.key] = NoVerdict(reason="refused")
    found = {one.name: one.estimate for one in measures(WHOLE, AuditReplies(verdicts=half))}
    assert (found["coverage"].value, found["coverage"].n) == (0.5, 2)
    assert found["swap_consistency"].value is None
    assert found["grade_above_chance"].value is None


def first_place_unless(unread: Callable[[Purposeful], bool]) -> dict[str, Measure]:
    """Of a judge that always says first, and gives no verdict on some."""
    verdicts: dict[str, Verdict | NoVerdict] = {
        one.trial.key: NoVerdict(reason="truncated") if unread(one) else Preference(value=1, levels=2)
        for one in WHOLE.purposeful
        if not isinstance(one, Picked)
    }
    return {one.name: one for one in measures(WHOLE, AuditReplies(verdicts=verdicts))}


def test_a_leaning_to_a_place_with_uneven_silence_is_no_liking_for_length():
    halved = [one for one in WHOLE.purposeful if isinstance(one, Longer) and one.longer_first][::2]
    found = first_place_unless(lambda one: one in halved)
    effect, slope = found["length_effect"], found["length_slope"]
    assert effect.estimate.value == slope.estimate.value == pytest.approx(0)
    assert effect.left_out == len(halved)
    assert effect.as_json()["left_out"] == len(halved)
    assert effect.estimate.n == 2 * len(halved)


def test_a_leaning_to_a_place_with_uneven_silence_is_no_obedience():
    naming_first = [one for one in WHOLE.purposeful if isinstance(one, Steered) and one.names_first]
    refused = [one for place, one in enumerate(naming_first) if place % 5 < 2]
    found = first_place_unless(lambda one: one in refused)
    for name in ("", "_verdict", "_order", "_system_turn", "_own_place", "_other_place"):
        one = found[f"planted_effect{name}"]
        assert one.estimate.value in (None, pytest.approx(0)), name
        assert one.left_out > 0
    assert found["planted_effect"].estimate.n > 0


def test_a_liking_for_planted_words_with_uneven_silence_is_no_obedience():
    other = [one for one in WHOLE.purposeful if isinstance(one, Steered) and not one.names_own][::3]
    verdicts: dict[str, Verdict | NoVerdict] = {
        one.trial.key: NoVerdict(reason="refused")
        if one in other
        else Preference(value=1 if one.names_first == one.names_own else -1, levels=2)
        for one in WHOLE.purposeful
        if isinstance(one, Steered)
    }
    found = {one.name: one for one in measures(WHOLE, AuditReplies(verdicts=verdicts))}
    assert found["planted_effect"].estimate.value == pytest.approx(0)
    assert found["planted_effect_own_place"].left_out == 0


def test_sets_that_were_not_asked_are_not_called_left_out():
    found = measures(WHOLE, AuditReplies(verdicts={}))
    assert not any(one.left_out for one in found)


def test_where_no_reply_was_read_that_is_the_reason():
    mixed = {one.trial.key: NoVerdict(reason="unreadable") for one in WHOLE.purposeful if isinstance(one, Picked)}
    verdicts: dict[str, Verdict | NoVerdict] = {
        one.trial.key: NoVerdict(reason="refused" if one.longer_first else "truncated")
        for one in WHOLE.purposeful
        if isinstance(one, Longer)
    }
    lengths = len(verdicts)
    found = {one.name: one for one in measures(WHOLE, AuditReplies(verdicts={**verdicts, **mixed}))}
    graded, length, pairs = (found[name] for name in ("grade_above_chance", "length_effect", "swap_consistency"))
    assert (graded.estimate.reason, graded.silenced) == (f"{len(mixed)} of {len(mixed)} replies unreadable", True)
    assert length.estimate.reason == f"{lengths} of {lengths} replies without a verdict: refused, truncated"
    assert (pairs.estimate.reason, pairs.silenced) == ("no cases", False)


def test_what_could_not_have_been_counted_anyway_is_not_laid_to_silence():
    two = [one for one in WHOLE.main.purposeful if isinstance(one, PairTrial)][:2]
    some = replace(WHOLE, main=replace(WHOLE.main, purposeful=tuple(two)), graded=None, seen=None)
    verdicts: dict[str, Verdict | NoVerdict] = {one.trial.key: NoVerdict(reason="refused") for one in two}
    found = {one.name: one for one in measures(some, AuditReplies(verdicts=verdicts))}
    assert found["swap_consistency"].silenced
    assert not found["transitivity"].silenced
