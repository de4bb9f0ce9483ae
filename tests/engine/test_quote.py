"""The most a call can cost: what a budget sets aside for it before anything is known of the endpoint, and after."""

import io

import pytest
from PIL import Image

from evenhand.domain.call import Message, Picture, Reply, Request, Usage
from evenhand.domain.rater import Settings
from evenhand.engine.run.quote import AROUND_A_MESSAGE, Quote
from evenhand.models.endpoint import resolve
from evenhand.models.prices import Price, PriceList

A_DOLLAR_A_TOKEN = Price(input=1e6, output=1e6)
PICTURE = Picture(digest="p", detail="high")


def quote(model: str = "openai/gpt-4o", *, edge: int = 512) -> Quote:
    drawn = io.BytesIO()
    Image.new("RGB", (edge, edge)).save(drawn, "PNG")
    endpoint = resolve(model, base_url="http://127.0.0.1:1/v1", environment={})
    return Quote(endpoint, PriceList([A_DOLLAR_A_TOKEN]), lambda _: drawn.getvalue())


def request(*parts: str | Picture, max_tokens: int | None = 100) -> Request:
    message = Message(role="user", parts=parts)
    return Request(endpoint="e", model="m", messages=(message,), settings=Settings(max_tokens=max_tokens))


@pytest.mark.parametrize("words", ["a" * 400, "裕福" * 50, "🜁" * 10, "a b c d"])
def test_no_text_is_more_tokens_than_it_has_bytes(words: str) -> None:
    assert quote().most(request(words)) == len(words.encode()) + AROUND_A_MESSAGE + 100


@pytest.mark.parametrize(
    ("model", "edge", "tokens"),
    [
        ("openai/gpt-4o", 512, 85 + 170),
        ("openai/gpt-4o-mini", 512, 2833 + 5667),
        ("openai/gpt-4o-mini-2024-07-18", 1024, 2833 + 4 * 5667),
        ("openrouter/openai/gpt-4o-mini", 512, 2833 + 5667),
        ("openai/gpt-4.1-mini", 1024, 1659),  # 1024 patches of 32 pixels, times 1.62, rounded up
        ("openai/gpt-4.1-nano", 4096, 3779),  # 1536 patches at most, times 2.46
        ("openai/some-model", 1024, 74 * 74),  # patches of 14 pixels
        ("openai/some-model", 16, 85 + 170),
    ],
)
def test_an_image_is_counted_by_the_rule_of_its_model_or_by_the_dearer_one(model: str, edge: int, tokens: int) -> None:
    assert quote(model, edge=edge).most(request(PICTURE)) == tokens + AROUND_A_MESSAGE + 100


def test_the_dearer_price_is_set_aside_where_what_is_cached_costs_more() -> None:
    endpoint = resolve("openai/m", base_url="http://127.0.0.1:1/v1", environment={})
    for cached, dollars in ((9e6, 9 * 100 + 100), (0.0, 100 + 100), (None, 100 + 100)):
        it = Quote(endpoint, PriceList([Price(input=1e6, output=1e6, cached=cached)]), lambda _: b"")
        assert it.most(request("x" * 92)) == dollars


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        (Usage(), Usage(input=16, output=99)),
        (Usage(input=40), Usage(input=40, output=99)),
        (Usage(input=40, output=7), Usage(input=40, output=7)),
    ],
)
def test_what_an_endpoint_wrote_and_does_not_tell_shows_in_its_words(told: Usage, shown: Usage) -> None:
    reply = Reply(text="five " * 60 + " " * 9999, reasoning="five " * 60, finish="stop", usage=told)
    assert quote().shown(request("x" * 92), reply) == shown  # 599 bytes, six a token


def test_an_image_that_took_more_than_its_rule_teaches_to_set_more_aside_for_images_alone() -> None:
    it = quote()
    words = "x" * 600
    both, text = request(words, PICTURE), request(words)
    before = it.most(text)
    assert it.learn(both, Usage(input=8500 + 150, output=10))
    most = it.most(both)
    assert most is not None
    assert most >= 8500 + 150 + 100
    assert it.most(text) == before
    assert not it.learn(both, Usage(input=8500 + 150, output=10)), "nothing new"


def test_words_that_took_more_than_their_bytes_and_output_beyond_what_was_allowed_teach_too() -> None:
    it = quote()
    asked = request("x" * 92)  # 100 with what is put around it
    assert not it.learn(asked, Usage(input=100, output=100))
    assert not it.learn(asked, Usage())
    assert it.learn(asked, Usage(input=300, output=1))
    assert it.most(asked) == 300 + 100
    assert it.learn(asked, Usage(input=100, output=150))
    assert it.most(asked) == 300 + 150


def test_where_no_limit_of_tokens_is_set_the_longest_reply_teaches_what_to_set_aside() -> None:
    it = quote()
    asked = request("x" * 92, max_tokens=None)
    assert it.most(asked) == 100 + 4096
    assert it.learn(asked, Usage(input=25, output=8192))
    assert it.most(asked) == 100 + 8192
