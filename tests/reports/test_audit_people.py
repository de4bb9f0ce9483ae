"""Claims about a judge beside people and beside judges of other families."""

import pytest

from evenhand.domain.vote import Vote
from evenhand.reports.audit_people import _self_preference, family_of


def votes(rater: str, *wins: int, own: str = "gpt-4o", other: str = "claude-3") -> list[Vote]:
    """Positive for the model of the judge's own family."""
    return [
        Vote(item=str(item), model_a=other, model_b=own, first=own, value=-sign, levels=3, rater=rater)
        for item, sign in enumerate(wins)
    ]


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("openai/gpt-4o", "gpt"),
        ("GPT-4V", "gpt"),
        ("anthropic/claude-3-opus", "claude"),
        ("Qwen2.5-VL-72B", "qwen"),
        ("7", "7"),
    ],
)
def test_a_family_is_the_first_word_of_the_name(name: str, family: str):
    assert family_of(name) == family


def test_a_liking_for_its_own_is_what_people_do_not_share():
    """The judge lets its own win 3 of 4, people 1 of 4: wins 3/4 against 1/4."""
    found = _self_preference(votes("gpt", 1, 1, 1, -1), {"ann": votes("ann", 1, -1, -1, -1)}, "gpt", "people")
    assert found.name == "self_preference"
    assert found.estimate.value == pytest.approx(0.5)
    assert found.estimate.n == 4


def test_a_better_answer_is_no_liking():
    found = _self_preference(votes("gpt", 1, 1, 1, 1), {"ann": votes("ann", 1, 1, 1, 1)}, "gpt", "people")
    assert found.estimate.value == 0


def test_others_are_averaged_and_only_shared_cases_count():
    others = {"ann": votes("ann", 1, 0), "bob": votes("bob", -1)}
    found = _self_preference(votes("gpt", 1, 1, 1), others, "gpt", "judges of other families")
    assert found.name == "self_preference_beside_judges"
    assert found.estimate.value == pytest.approx(((1 - 0.5) + (1 - 0.5)) / 2)
    assert found.estimate.n == 2


def test_without_its_own_or_without_others_there_is_a_reason():
    neither = votes("gpt", 1, own="llama-3")
    assert "no model of the judge's own family" in str(_self_preference(neither, {}, "gpt", "people").estimate.reason)
    alone = _self_preference(votes("gpt", 1), {}, "gpt", "people").estimate
    assert alone.value is None
    assert "people have not judged" in str(alone.reason)
