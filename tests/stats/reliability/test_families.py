"""Claims about which models are taken for one maker's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.stats.reliability.families import Families, parse_families
from tests.refusals import refused


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("openai/gpt-4o", "openai"),
        ("GPT-4V", "openai"),
        ("chatgpt-4o-latest", "openai"),
        ("o3-mini", "openai"),
        ("openrouter/anthropic/claude-3-opus", "anthropic"),
        ("google/gemini-1.5-pro", "google"),
        ("gemma-2-9b", "google"),
        ("together/meta-llama/Llama-3-8b", "meta"),
        ("Mixtral-8x22B", "mistral"),
        ("Qwen2.5-VL-72B", "qwen"),
        ("local/smollm2", "huggingface"),
        # Of other makers' weights, or of names that only begin alike.
        ("LLaVA-13B", None),
        ("openai/whatever", None),
        ("gptune-7b", None),
        ("philo", None),
        ("o100", None),
        ("7", None),
        ("reference", None),
    ],
)
def test_a_family_is_known_by_the_beginning_of_the_name_or_not_at_all(name: str, family: str | None):
    assert Families().of(name) == family


def test_what_the_user_says_goes_before_the_rule():
    families = parse_families(["llava-13b=meta", "gpt-j=EleutherAI"])
    assert (families.of("llava-13b"), families.of("gpt-j"), families.of("gpt-4o")) == ("meta", "eleutherai", "openai")


def test_a_name_may_hold_an_equals_sign():
    assert parse_families(["a=b=meta"]).of("a=b") == "meta"


@pytest.mark.parametrize("wrong", ["llava", "=meta", "llava=", " = "])
def test_what_is_not_a_name_and_a_family_is_refused(wrong: str):
    with pytest.raises(ValueError, match="NAME=FAMILY"):
        parse_families([wrong])


def test_two_families_for_one_name_are_refused():
    with refused(ValueError, "vicuna", "meta and lmsys"):
        parse_families(["vicuna=meta", "vicuna=lmsys"])


def test_what_was_assumed_is_said():
    said = Families().told(["gpt-4o", "openai/gpt-4o", "claude-3", "llava-13b", "gpt-4o"])
    assert said == (
        "Families assumed by name: anthropic: claude-3; openai: gpt-4o, openai/gpt-4o; not known, so left out: "
        "llava-13b."
    )


@given(st.text())
def test_any_name_has_a_family_or_none(name: str):
    assert Families().of(name) is None or Families().of(name) == Families().of(f"some/{name.rpartition('/')[2]}")
