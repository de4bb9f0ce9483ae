"""Claims about a judge beside people and beside judges of other families."""

import pytest

from evenhand.audit.measures.people import _agreement, _self_preference
from evenhand.domain.vote import Vote
from evenhand.stats.reliability.families import Families, parse_families
from tests.refusals import tells


def votes(rater: str, *wins: int, own: str = "gpt-4o", other: str = "claude-3") -> list[Vote]:
    """Positive for the model of the judge's own family."""
    return [
        Vote(item=str(item), model_a=other, model_b=own, first=own, value=-sign, levels=3, rater=rater)
        for item, sign in enumerate(wins)
    ]


KNOWN = Families()


def test_a_liking_for_its_own_is_what_people_do_not_share():
    """The judge lets its own win 3 of 4, people 1 of 4: wins 3/4 against 1/4."""
    found = _self_preference(votes("gpt", 1, 1, 1, -1), {"ann": votes("ann", 1, -1, -1, -1)}, KNOWN, "gpt-4o", "people")
    assert found.name == "self_preference"
    assert found.estimate.value == pytest.approx(0.5)
    assert found.estimate.n == 4


def test_a_better_answer_is_no_liking():
    found = _self_preference(votes("gpt", 1, 1, 1, 1), {"ann": votes("ann", 1, 1, 1, 1)}, KNOWN, "gpt-4o", "people")
    assert found.estimate.value == 0


def test_others_are_averaged_and_only_shared_cases_count():
    others = {"ann": votes("ann", 1, 0), "bob": votes("bob", -1)}
    found = _self_preference(votes("gpt", 1, 1, 1), others, KNOWN, "gpt-4o", "judges of other families")
    assert found.name == "self_preference_beside_judges"
    assert found.estimate.value == pytest.approx(((1 - 0.5) + (1 - 0.5)) / 2)
    assert found.estimate.n == 2


def test_without_its_own_or_without_others_there_is_a_reason():
    neither = votes("gpt", 1, own="llama-3")
    tells(_self_preference(neither, {}, KNOWN, "gpt-4o", "people").estimate.reason, "family")
    alone = _self_preference(votes("gpt", 1), {}, KNOWN, "gpt-4o", "people").estimate
    assert alone.value is None
    assert "people have not judged" in str(alone.reason)


def test_an_answer_of_unknown_family_is_nobodys_and_its_pairs_are_left_out():
    pairs = [*votes("gpt", 1, 1), *votes("gpt", -1, -1, other="llava-13b")]
    people = {"ann": [*votes("ann", -1, -1), *votes("ann", 1, 1, other="llava-13b")]}
    found = _self_preference(pairs, people, KNOWN, "gpt-4o", "people")
    assert (found.estimate.value, found.estimate.n) == (1, 2)
    assert "anthropic: claude-3; openai: gpt-4o; not known, so left out: llava-13b." in found.design
    told = _self_preference(pairs, people, parse_families(["llava-13b=meta"]), "gpt-4o", "people")
    assert (told.estimate.value, told.estimate.n) == (0, 4)


def test_two_models_of_one_maker_are_no_pair_of_families():
    found = _self_preference(
        votes("gpt", 1, other="chatgpt-4o"), {"ann": votes("ann", -1, other="chatgpt-4o")}, KNOWN, "gpt-4o", "people"
    )
    assert found.estimate.value is None


def test_a_judge_of_unknown_family_has_no_own():
    found = _self_preference(votes("x", 1), {"ann": votes("ann", -1)}, KNOWN, "vllm/mine", "people").estimate
    assert found.value is None
    assert found.reason == "the family of vllm/mine is not known; --family vllm/mine=NAME says it"


def in_order(item: str, first: str, second: str, sign: int, rater: str) -> Vote:
    """Positive for the first shown."""
    return Vote(item=item, model_a=first, model_b=second, first=first, value=sign, levels=2, rater=rater)


def test_a_pair_read_in_one_of_two_orders_is_no_agreement_with_people():
    """The judge always says first: read in both orders that is a tie, and in one it would pass for an opinion."""
    people = {"ann": [in_order(str(item), "x", "y", 1, "ann") for item in range(4)]}
    shown = [(str(item), *pair) for item in range(4) for pair in (("x", "y"), ("y", "x"))]
    both = [in_order(*one, 1, "judge") for one in shown[:4]]
    halves = [in_order(*one, 1, "judge") for one in shown[4::2]]
    agreement, _ = _agreement([*both, *halves], people, shown)
    assert (agreement.estimate.value, agreement.estimate.n, agreement.left_out) == (0, 2, 2)
    # Where one order is all that was ever shown it counts as it is, as with `evenhand align`.
    once, _ = _agreement(halves, people, shown[4::2])
    assert (once.estimate.value, once.estimate.n, once.left_out) == (1, 2, 0)


def test_pairs_that_people_did_not_judge_are_not_called_left_out():
    people = {"ann": [in_order("0", "x", "y", 1, "ann")]}
    shown = [("0", "x", "y"), ("0", "y", "x"), ("1", "x", "y"), ("1", "y", "x")]
    own = [in_order(*shown[0], 1, "judge"), in_order(*shown[1], -1, "judge"), in_order(*shown[2], 1, "judge")]
    agreement, _ = _agreement(own, people, shown)
    assert (agreement.estimate.value, agreement.left_out) == (1, 0)
