"""Claims about names made of content: the same everywhere, another for any other cause."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from PIL import Image

from evenhand.domain.call import Message, Offer, Picture, Request
from evenhand.domain.identity import (
    Json,
    bytes_hash,
    canonical_hash,
    canonical_hash_after,
    canonical_json,
    content_hash,
    draw,
)
from evenhand.domain.item import Benchmark, Brief, Item
from evenhand.domain.rater import Rater, Settings
from evenhand.domain.trial import Condition, Trial
from evenhand.images import ImageStore
from tests.domain import fixed

ROOT = Path(__file__).parents[2]

# If one of these moves, every ledger in the world would ask and pay for its trials again.
NAMES = {
    "call": "4fdcdc92ed39ada96ec1c777c641d8f07f57171d4348f5e12032df1fbe5e684e",
    "item": "7679fbb5d8f28b5de7ccad99fd2469c52f2c473b4de6b776124a7a9485643e84",
    "response": "020ce26a100012f8c0820411c75d33639925e24522ffc364c149168b8120bdf4",
    "rater": "5e4c9a67e589a11dd09b781e2662b13906b5bdda5804abd19b859c0197435365",
    "condition": "03dfc7c4146341591875f99654febb967af6f3bed43c74957df1cc9292719846",
    "trial": "f3b01b04a7c2f2b136d3747d79e1abca4eae0150901515583c32f8a03f231e9d",
    "study": "9b6662cc1953651564df6725f1e91864ebdd99116c08f19c3efcc35968f46d13",
    "benchmark": "d0de3022dd774d4f0f8a864d63f4a45268680e1d870a96416a6bf66a7d1e6b00",
    "draw": "129380220904956045",
    "trials": "84b26b1b9e3ab9afaecbaa9f969e7f709306a2791ac050953b2db92a79cac903",
}

words = st.text(max_size=20)
pictures = st.builds(
    Picture,
    digest=st.sampled_from("abc").map(lambda letter: bytes_hash(letter.encode())),
    detail=st.none() | st.sampled_from(["low", "high", "auto"]),
    max_edge=st.none() | st.integers(1, 4096),
)
messages = st.lists(
    st.builds(
        Message,
        role=st.sampled_from(["system", "user", "assistant"]),
        parts=st.lists(words | pictures, max_size=4).map(tuple),
    ),
    max_size=4,
).map(tuple)
documents = st.dictionaries(words, words | st.integers() | st.booleans() | st.none(), max_size=3)
setting_values: Mapping[str, st.SearchStrategy[Any]] = {
    "temperature": st.floats(0, 2),
    "top_p": st.floats(0, 1),
    "max_tokens": st.integers(1, 100_000),
    "seed": st.integers(),
    "stop": st.lists(words, max_size=3).map(tuple),
    "top_logprobs": st.integers(0, 20),
    "response_format": documents,
    "reasoning_effort": st.sampled_from(["low", "medium", "high"]),
    "extra_body": documents,
}


def set_to(given: dict[str, Any]) -> Settings:
    return Settings(**given)


settings = st.fixed_dictionaries({}, optional=dict(setting_values)).map(set_to)
offers = st.none() | st.builds(Offer, begin=words, answers=st.lists(words, max_size=3).map(tuple))
requests = st.builds(
    Request,
    endpoint=words,
    model=words,
    messages=messages,
    settings=settings,
    offer=offers,
    replicate=st.integers(0, 9),
    attempt=st.integers(0, 9),
)


def as_on(machine: Mapping[str, str]) -> dict[str, str]:
    """The names as another interpreter gives them in these surroundings."""
    command = [sys.executable, "-m", "tests.domain.fixed"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **machine}, capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


def test_the_same_content_has_the_same_name_for_good():
    assert dict(fixed.names()) == NAMES


@pytest.mark.parametrize(
    "machine",
    [
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "PYTHONUTF8": "0"},
        {"PYTHONHASHSEED": "4294967295", "LC_ALL": "C.UTF-8", "TZ": "Pacific/Auckland"},
    ],
)
def test_the_same_content_has_the_same_name_on_another_machine(machine: dict[str, str]):
    assert as_on(machine) == NAMES


def test_a_call_is_named_by_text_that_anybody_can_write_down():
    plain = Request(
        endpoint="openai", model="m", messages=(Message(role="user", parts=("é",)),), settings=Settings(temperature=0)
    )
    written = (
        'call\n{"attempt":0,"endpoint":"openai","messages":[["user",["\\u00e9"]]],"model":"m","offer":null,'
        '"replicate":0,"settings":{"temperature":0.0}}'
    )
    assert plain.key == bytes_hash(written.encode("ascii"))


def test_every_field_of_a_request_is_a_cause():
    """A field added later without being named here, and so in the key, fails this."""
    causes = {"endpoint", "model", "messages", "settings", "offer", "replicate", "attempt"}
    assert {f.name for f in fields(Request) if f.init} == causes == set(fixed.REQUEST.content())
    assert set(fixed.SETTINGS.as_json()) == {f.name for f in fields(Settings)} == set(setting_values)


LETTERS = 'ab "\\/<\n\t\x00\x1f\x7f\u00e9\u2028\U0001f600'


@given(st.text(st.sampled_from(LETTERS[:7]) | st.sampled_from(LETTERS), min_size=190, max_size=300))
def test_a_long_text_is_written_as_a_short_one_is(text: str):
    assert canonical_json(text) == json.dumps(text)


@given(words, words)
def test_a_content_whose_beginning_was_hashed_before_has_the_same_name(first: str, rest: str):
    named = canonical_hash_after("call", canonical_json(first))
    for more in (canonical_json(rest), "", canonical_json(rest)):
        assert named(more) == canonical_hash("call", canonical_json(first) + more)


@given(requests)
def test_a_request_is_written_as_the_canonical_json_of_its_content(request: Request):
    assert request.canonical == canonical_json(request.content())


@given(words, st.lists(words, max_size=3).map(tuple), words, words, st.integers(0, 9), st.integers(0, 9))
def test_a_trial_is_named_by_the_canonical_json_of_its_fields(
    item: str, responses: tuple[str, ...], rater: str, condition: str, replicate: int, attempt: int
):
    trial = Trial(
        item=item, responses=responses, rater=rater, condition=condition, replicate=replicate, attempt=attempt
    )
    assert trial.key == content_hash("trial", [item, list(responses), rater, condition, replicate, attempt])


@given(requests)
def test_a_request_made_twice_has_one_key(request: Request):
    assert replace(request).key == request.key


@given(requests, st.data())
def test_another_endpoint_model_replicate_or_attempt_is_another_key(request: Request, data: st.DataObject):
    name = data.draw(st.sampled_from(["endpoint", "model", "replicate", "attempt"]))
    other = data.draw(words if name in ("endpoint", "model") else st.integers(0, 9))
    assume(other != getattr(request, name))
    assert replace(request, **{name: other}).key != request.key


@given(requests, st.data())
def test_another_value_of_any_setting_is_another_key(request: Request, data: st.DataObject):
    name = data.draw(st.sampled_from(sorted(setting_values)))
    other = replace(request.settings, **{name: data.draw(st.none() | setting_values[name])})
    assume(canonical_json(other.as_json()) != canonical_json(request.settings.as_json()))
    assert replace(request, settings=other).key != request.key


@pytest.mark.parametrize("name", sorted(setting_values))
def test_a_setting_that_is_set_differs_from_one_that_is_not(name: str):
    unset = replace(fixed.SETTINGS, **{name: () if name == "stop" else None})
    assert replace(fixed.REQUEST, settings=unset).key != fixed.REQUEST.key


@pytest.mark.parametrize("name", ["temperature", "top_p"])
@pytest.mark.parametrize("number", [0, 1])
def test_a_whole_number_is_the_same_setting_however_it_is_written(name: str, number: int):
    whole, written = (replace(fixed.SETTINGS, **{name: value}) for value in (number, float(number)))
    assert replace(fixed.REQUEST, settings=whole).key == replace(fixed.REQUEST, settings=written).key
    judge, same_judge = (Rater(kind="model", name="m", settings=s) for s in (whole, written))
    assert judge.key == same_judge.key


def test_temperature_0_is_not_no_temperature():
    assert Rater(kind="model", name="m", settings=Settings(temperature=0)).key != Rater(kind="model", name="m").key


@given(st.text(min_size=1), st.data())
def test_one_character_of_a_prompt_changes_the_key(prompt: str, data: st.DataObject):
    place = data.draw(st.integers(0, len(prompt) - 1))
    other = data.draw(st.characters(exclude_categories=["Cs"]))
    assume(other != prompt[place])
    assert asked(prompt[:place] + other + prompt[place + 1 :]).key != asked(prompt).key


@given(pictures, pictures)
def test_another_picture_detail_or_size_is_another_key(one: Picture, other: Picture):
    assert (asked(one).key == asked(other).key) == (one == other)


def test_the_order_of_pictures_and_of_messages_is_part_of_the_key():
    one, other = Picture(digest="a"), Picture(digest="b")
    assert asked(one, other).key != asked(other, one).key
    turns = fixed.REQUEST.messages
    assert replace(fixed.REQUEST, messages=turns[::-1]).key != fixed.REQUEST.key


def test_a_text_that_looks_like_a_picture_is_not_one():
    picture = Picture(digest="a")
    lookalike = canonical_json({"image": "a", "detail": None, "max_edge": None})
    assert asked(picture).key != asked(lookalike).key


@given(offers, offers)
def test_another_offer_is_another_key(one: Offer | None, other: Offer | None):
    assert (replace(fixed.REQUEST, offer=one).key == replace(fixed.REQUEST, offer=other).key) == (one == other)


def test_one_pixel_changes_the_picture_and_so_the_call(tmp_path: Path):
    store = ImageStore(tmp_path)
    image = Image.new("RGB", (8, 8), (200, 10, 10))
    before = store.put(png(image)).digest
    assert store.put(png(image)).digest == before
    image.putpixel((3, 4), (200, 10, 11))
    after = store.put(png(image)).digest
    assert after != before
    assert asked(Picture(digest=after)).key != asked(Picture(digest=before)).key


def test_a_label_is_only_a_name_and_every_other_field_of_an_item_is_its_content():
    assert replace(fixed.ITEM, label="8").digest == fixed.ITEM.digest
    with_brief = replace(fixed.ITEM, brief=Brief(role="a poet"))
    assert (
        len({fixed.ITEM.digest, with_brief.digest, replace(with_brief, brief=Brief(background="a poet")).digest}) == 3
    )
    for name in {f.name for f in fields(Item) if f.init} - {"label", "brief"}:
        assert replace(fixed.ITEM, **{name: emptied(getattr(fixed.ITEM, name))}).digest != fixed.ITEM.digest, name


def test_how_a_response_came_to_be_is_no_part_of_it_and_everything_else_is():
    assert replace(fixed.RESPONSE, flags=("truncated",)).digest == fixed.RESPONSE.digest
    for name in ("item", "model", "text", "variant", "made_from", "alteration"):
        changed = replace(fixed.RESPONSE, **{name: getattr(fixed.RESPONSE, name) + "x"})
        assert changed.digest != fixed.RESPONSE.digest, name


def test_every_way_of_showing_is_another_condition():
    plain = Condition(protocol="p", prompt_hash="h")
    for name in {f.name for f in fields(Condition) if f.init}:
        changed = replace(plain, **{name: getattr(fixed.CONDITION, name)})
        assert changed.key != plain.key, name


def test_order_is_data():
    swapped = replace(fixed.TRIAL, responses=fixed.TRIAL.responses[::-1])
    assert swapped.key != fixed.TRIAL.key


def test_every_field_of_a_trial_and_a_study_is_its_identity():
    for name in {f.name for f in fields(Trial) if f.init} - {"responses"}:
        value = getattr(fixed.TRIAL, name)
        assert replace(fixed.TRIAL, **{name: value * 2}).key != fixed.TRIAL.key, name
    others = {"against": "amber", "pairing": "round-robin", "orders": "both", "purpose": "board", "answers": "ab"}
    for name in set(fixed.STUDY.content()):
        value = others.get(name) or getattr(fixed.STUDY, name) * 2
        assert replace(fixed.STUDY, **{name: value}).key != fixed.STUDY.key, name


def test_a_person_is_not_a_model_of_the_same_name():
    assert Rater(kind="human", name="m").key != Rater(kind="model", name="m").key


def test_data_under_one_name_with_another_item_has_another_digest():
    for items in ((replace(fixed.ITEM, instruction="?"),), (replace(fixed.ITEM, label="8"),), (fixed.ITEM,) * 2):
        assert replace(fixed.BENCHMARK, items=items).digest != fixed.BENCHMARK.digest
    renamed = Benchmark(name="hills", items=(fixed.ITEM,), licence="", citation="", protocols=())
    assert renamed.digest == fixed.BENCHMARK.digest


@given(st.recursive(st.none() | st.booleans() | st.integers() | words, lambda inner: st.lists(inner, max_size=3)))
def test_two_kinds_with_one_content_have_two_names(content: Json):
    assert content_hash("item", content) != content_hash("call", content)


@given(st.dictionaries(words, st.integers() | words))
def test_the_order_of_keys_does_not_matter(document: dict[str, int | str]):
    turned = dict(reversed(list(document.items())))
    assert canonical_json(turned) == canonical_json(document)
    assert json.loads(canonical_json(document)) == document


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_a_number_has_no_name(number: float):
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json([number])


@given(st.integers(), st.lists(words, max_size=3))
def test_a_draw_depends_on_seed_and_names_alone(seed: int, names: list[str]):
    drawn = draw(seed, *names)
    assert 0 <= drawn < 2**64
    assert draw(seed, *names) == drawn
    assert draw(seed + 1, *names) != drawn
    assert draw(seed, *names, "x") != drawn


def asked(*parts: str | Picture) -> Request:
    return Request(endpoint="e", model="m", messages=(Message(role="user", parts=parts),), settings=Settings())


def png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def emptied(value: Any) -> Any:
    return value[:-1] if isinstance(value, tuple) else value + "x"
