import asyncio
import json
import threading
from base64 import b64encode
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.call import Message, Picture, Request
from evenhand.domain.errors import CallFailure, Misuse
from evenhand.domain.rater import Settings
from evenhand.models.endpoint import INSECURE_HTTP, resolve
from evenhand.models.wire.body import BodyShape, BodyWriter
from evenhand.models.wire.openai import OpenAIWire
from tests.models.asking import KEY, OFFER, asking, completion
from tests.refusals import noted, refused
from tests.scripted_server import Canned, Script, ScriptedServer

EVERYTHING = Settings(
    temperature=0.5,
    top_p=0.9,
    max_tokens=64,
    seed=7,
    stop=("END",),
    top_logprobs=5,
    response_format={"type": "json_object"},
    reasoning_effort="low",
    extra_body={"min_p": 0.1},
)


def body_for(name: str, settings: Settings, *, offer: bool = False, explicit: frozenset[str] = frozenset()) -> bytes:
    """What would be sent to a provider's own address."""
    endpoint = resolve(name, environment={})
    request = Request(
        endpoint=endpoint.identity,
        model=endpoint.model,
        messages=(Message(role="user", parts=("Hi",)),),
        settings=settings,
        offer=OFFER if offer else None,
    )
    writer = BodyWriter(endpoint, explicit=explicit, pictures=None)
    body = writer.body(request, writer.fixed(request, BodyShape.of(endpoint)))
    assert isinstance(body, bytes)
    return body


async def test_every_setting_goes_out_under_its_name() -> None:
    async with asking() as it:
        await it.ask("Hi", settings=EVERYTHING)
        assert it.sent == {
            "model": "gpt-4o",
            "messages": [{"role": "user", "content": "Hi"}],
            "temperature": 0.5,
            "top_p": 0.9,
            "max_tokens": 64,
            "seed": 7,
            "stop": ["END"],
            "logprobs": True,
            "top_logprobs": 5,
            "response_format": {"type": "json_object"},
            "reasoning_effort": "low",
            "min_p": 0.1,
        }


async def test_what_is_not_set_is_not_sent() -> None:
    async with asking() as it:
        await it.ask("Hi")
        assert it.sent == {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}


async def test_the_key_goes_out_as_a_bearer_and_only_so() -> None:
    async with asking(Script(key=KEY)) as it:
        assert (await it.ask()).finish == "stop"
        seen = it.server.requests[-1]
        assert KEY not in repr(seen.headers) + repr(seen.raw)


async def test_turns_keep_their_roles_and_order() -> None:
    turns = [("system", "S"), ("user", "U"), ("assistant", "A"), ("user", "V")]
    async with asking() as it:
        messages = tuple(Message(role=role, parts=(text,)) for role, text in turns)  # pyright: ignore[reportArgumentType]
        await it.client.complete(replace(it.request(), messages=messages))
        assert [(m["role"], m["content"]) for m in it.sent["messages"]] == turns


async def test_other_settings_after_the_first_are_not_sent_as_the_first() -> None:
    async with asking() as it:
        await it.ask(settings=Settings(temperature=0.1))
        await it.ask(settings=Settings(temperature=0.2))
        assert it.sent["temperature"] == 0.2


async def test_images_arrive_in_order_byte_for_byte_between_the_texts() -> None:
    urls = {name: b"data:image/png;base64," + b64encode(bytes([number]) * 50_000) for number, name in enumerate("abc")}
    async with asking(pictures=lambda picture: urls[picture.digest]) as it:
        parts = (
            Picture(digest="b"),
            "one",
            Picture(digest="a", detail="high"),
            Picture(digest="c"),
            Picture(digest="b"),
        )
        await it.ask(*parts)
        content = it.sent["messages"][0]["content"]
        assert it.server.requests[-1].headers["Content-Length"] == str(len(it.server.requests[-1].raw))
    assert content == [
        {"type": "image_url", "image_url": {"url": urls["b"].decode()}},
        {"type": "text", "text": "one"},
        {"type": "image_url", "image_url": {"url": urls["a"].decode(), "detail": "high"}},
        {"type": "image_url", "image_url": {"url": urls["c"].decode()}},
        {"type": "image_url", "image_url": {"url": urls["b"].decode()}},
    ]


class _SomeInMemory:
    """Gives every picture, and notes by which thread it was asked."""

    def __init__(self, *held: str) -> None:
        self._held = held
        self.asked: dict[str, int] = {}

    def __call__(self, picture: Picture) -> bytes:
        self.asked[picture.digest] = threading.get_ident()
        return b"data:," + picture.digest.encode()

    def at_hand(self, picture: Picture) -> bool:
        return picture.digest in self._held


async def test_only_a_body_with_images_that_have_to_be_fetched_is_made_beside_the_other_calls() -> None:
    here, some = threading.get_ident(), _SomeInMemory("a", "b")
    async with asking(pictures=some) as it:
        await it.ask(Picture(digest="a"), Picture(digest="b"), "both at hand")
        assert set(some.asked.values()) == {here}
        await it.ask(Picture(digest="a"), Picture(digest="c"), "one of them far away")
        assert some.asked["c"] != here
        urls = [part["image_url"]["url"] for part in it.sent["messages"][0]["content"][:2]]
        assert urls == ["data:,a", "data:,c"]


async def test_a_body_of_megabytes_is_sent_whole() -> None:
    url = b"data:image/png;base64," + b"A" * 3_000_000
    async with asking(pictures=lambda picture: url) as it:
        await it.ask(Picture(digest="a"), "x" * 1_500_000)
        assert it.sent["messages"][0]["content"][0]["image_url"]["url"].encode() == url
        await it.ask("y" * 1_500_000)
        assert it.sent["messages"][0]["content"] == "y" * 1_500_000


@given(text=st.text(max_size=200))
def test_a_text_can_never_be_taken_for_an_image(text: str) -> None:
    endpoint = resolve("vllm/m", environment={})
    request = Request(
        endpoint="vllm",
        model="m",
        messages=(Message(role="user", parts=(text, Picture(digest="a"), text)),),
        settings=Settings(),
    )
    writer = BodyWriter(endpoint, explicit=frozenset(), pictures=lambda picture: b"data:,")
    body = writer.body(request, writer.fixed(request, BodyShape.of(endpoint)))
    assert not isinstance(body, bytes)
    assert [chunk for chunk in body.chunks if chunk == b"data:,"] == [b"data:,"]


async def test_images_without_a_source_of_images_are_misuse() -> None:
    async with asking() as it:
        with pytest.raises(Misuse, match="images"):
            await it.ask(Picture(digest="a"))


def test_providers_are_asked_in_their_own_words() -> None:
    assert b'"max_completion_tokens":9' in body_for("openai/gpt-4o", Settings(max_tokens=9))
    assert b'"max_tokens":9' in body_for("anthropic/claude", Settings(max_tokens=9))
    assert b'"random_seed":7' in body_for("mistral/large", Settings(seed=7))
    assert b'"logprobs":5}' in body_for("together/llama", Settings(top_logprobs=5))
    demand = b'"provider":{"require_parameters":true}'
    assert demand in body_for("openrouter/a/b", Settings(seed=1), explicit=frozenset({"seed"}))
    assert demand not in body_for("openrouter/a/b", Settings(seed=1))


async def test_a_default_that_a_provider_ignores_is_not_sent_and_said() -> None:
    async with asking(Script(shape="anthropic"), model="anthropic/claude") as it:
        reply = await it.ask(settings=Settings(seed=7, temperature=0))
        assert "seed" not in it.sent
        assert it.sent["temperature"] == 0
    assert noted(reply.adapted, "anthropic/claude", "seed", 7)
    assert reply.fingerprint == ""


def test_an_explicit_setting_that_a_provider_ignores_is_misuse() -> None:
    endpoint = resolve("anthropic/claude", environment={})
    with refused(Misuse, "seed", code="EH-SETTING-REFUSED"):
        OpenAIWire(endpoint, environment={"ANTHROPIC_API_KEY": KEY}, explicit=frozenset({"seed"}))


def test_a_temperature_that_would_be_capped_is_said_or_refused() -> None:
    hot = Settings(temperature=1.5)
    assert b'"temperature":1.0' in body_for("anthropic/claude", hot)
    with refused(Misuse, "temperature at 1", code="EH-SETTING-REFUSED"):
        body_for("anthropic/claude", hot, explicit=frozenset({"temperature"}))


async def test_refused_defaults_are_adapted_once_and_remembered() -> None:
    async with asking(model="openai/o3") as it:
        settings = Settings(temperature=0, max_tokens=100, top_p=0.5)
        first = await it.ask(settings=settings)
        assert first.requests == 3
        assert first.adapted == (
            "openai/o3 does not take temperature: its default was used instead of 0.0.",
            "openai/o3 does not take max_tokens: it was sent as max_completion_tokens, which means the same.",
        )
        assert "temperature" not in it.sent
        assert (it.sent["max_completion_tokens"], it.sent["top_p"]) == (100, 0.5)
        second = await it.ask("Another", settings=settings)
        assert (second.requests, second.adapted) == (1, first.adapted)


async def test_many_at_once_adapt_together() -> None:
    async with asking(model="openai/o3") as it:
        settings = Settings(temperature=0, max_tokens=100)
        replies = await asyncio.gather(*(it.ask(f"Question {n}", settings=settings) for n in range(20)))
        assert {reply.adapted for reply in replies} == {replies[0].adapted}
        assert max(reply.requests for reply in replies) <= 3
        assert (await it.ask(settings=settings)).requests == 1


async def test_a_limit_is_sent_by_its_other_name_and_said_so_even_where_explicit() -> None:
    renamed = "openai/o3 does not take max_tokens: it was sent as max_completion_tokens, which means the same."
    async with asking(model="openai/o3", explicit=("max_tokens",)) as it:
        reply = await it.ask(settings=Settings(max_tokens=100))
        assert (reply.adapted, it.sent["max_completion_tokens"]) == ((renamed,), 100)
        assert (await it.ask(offer=OFFER)).adapted == (renamed,)
        assert (await it.ask()).adapted == ()


def test_a_name_of_the_limit_that_is_known_from_the_start_is_no_adaptation() -> None:
    endpoint = resolve("openai/gpt-4o", environment={})
    request = Request(endpoint="openai", model="gpt-4o", messages=(), settings=Settings(max_tokens=9))
    writer = BodyWriter(endpoint, explicit=frozenset(), pictures=None)
    assert writer.fixed(request, BodyShape.of(endpoint)).adapted == ()
    assert noted(
        writer.fixed(request, BodyShape.of(endpoint).renamed()).adapted,
        "openai/gpt-4o",
        "max_completion_tokens",
        "max_tokens",
    )


async def test_a_refused_explicit_setting_is_misuse_that_names_it() -> None:
    async with asking(model="openai/o3", explicit=("temperature",)) as it:
        with refused(Misuse, "temperature", code="EH-SETTING-REFUSED"):
            await it.ask(settings=Settings(temperature=0))


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (
            400,
            [
                {
                    "error": {
                        "code": 400,
                        "message": 'Invalid JSON payload received. Unknown name "seed": Cannot find field.',
                    }
                }
            ],
        ),
        (
            422,
            {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]},
        ),
        (422, {"object": "error", "message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"]}]}}),
        (400, {"error": {"message": "property 'seed' is unsupported", "type": "invalid_request_error"}}),
        (
            400,
            {
                "type": "error",
                "error": {"type": "invalid_request_error", "message": "seed: Extra inputs are not permitted"},
            },
        ),
    ],
)
async def test_refusals_are_understood_in_every_dialect(status: int, body: dict[str, object]) -> None:
    async with asking(canned=(Canned(status=status, body=body), completion("fine"))) as it:
        reply = await it.ask(settings=Settings(seed=7, temperature=0))
        assert "seed" not in it.sent
        assert it.sent["temperature"] == 0
    assert "seed" in reply.adapted[0]


@pytest.mark.parametrize(
    "error",
    [
        {
            "message": "max_tokens is too large: 99. This model supports at most 9.",
            "param": "max_tokens",
            "code": "invalid_value",
        },
        {"message": "This model does not support image input. You asked: " + "what " * 30 + "temperature?"},
        {"message": "You asked about the temperature " + "and more " * 30 + "with an unsupported image."},
        {"message": "Unsupported image.", "param": "messages", "code": "unsupported_value"},
    ],
)
async def test_other_complaints_change_nothing(error: dict[str, object]) -> None:
    async with asking(canned=(Canned(status=400, body={"error": error}),)) as it:
        with pytest.raises((CallFailure, Misuse)):
            await it.ask(settings=Settings(temperature=0, max_tokens=99))
        assert (await it.ask(settings=Settings(temperature=0, max_tokens=99))).adapted == ()
        assert (it.sent["temperature"], it.sent["max_tokens"]) == (0, 99)


async def test_a_limit_refused_by_both_names_is_misuse() -> None:
    refusals = [
        Canned(status=400, body={"error": {"message": f"{name} is not supported", "param": name}})
        for name in ("max_tokens", "max_completion_tokens")
    ]
    async with asking(canned=tuple(refusals)) as it:
        with refused(Misuse, "tokens", code="EH-SETTING-REFUSED"):
            await it.ask(settings=Settings(max_tokens=9))


async def test_a_refused_extra_body_is_misuse() -> None:
    refusal = Canned(status=400, body={"error": {"message": "Unrecognized request argument supplied: min_p"}})
    async with asking(canned=(refusal,)) as it:
        with refused(Misuse, "extra_body", code="EH-SETTING-REFUSED"):
            await it.ask(settings=Settings(extra_body={"min_p": 0.1}))


@pytest.mark.parametrize("name", ["model", "messages", "stream", "n"])
async def test_extra_body_cannot_replace_the_question(name: str) -> None:
    async with asking() as it:
        with pytest.raises(Misuse, match=name):
            await it.ask(settings=Settings(extra_body={name: 2}))
        assert it.server.requests == []


async def test_a_proxy_is_used_for_other_hosts_and_never_for_loopback() -> None:
    async with ScriptedServer() as proxy:
        proxies = {"HTTP_PROXY": f"http://user:hunter22@127.0.0.1:{proxy.base_url.split(':')[2]}"}
        remote = resolve("m", base_url="http://far.example/v1", environment={})
        client = OpenAIWire(remote, environment={}, proxies=proxies)
        assert (await client.complete(_hello())).text
        assert proxy.requests[-1].headers["Host"] == "far.example"
        assert proxy.requests[-1].headers["Proxy-Authorization"] == "Basic dXNlcjpodW50ZXIyMg=="
        await client.close()
        direct = OpenAIWire(remote, environment={}, proxies={**proxies, "no_proxy": "localhost,.example"})
        with pytest.raises(CallFailure, match="not found"):
            await direct.complete(_hello())
        await direct.close()
        async with ScriptedServer() as near:
            client = OpenAIWire(resolve("m", base_url=near.base_url, environment={}), environment={}, proxies=proxies)
            await client.complete(_hello())
            assert (len(near.requests), len(proxy.requests)) == (1, 1)
            await client.close()


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy"])
async def test_a_proxy_named_where_the_keys_come_from_is_not_used(variable: str) -> None:
    async with ScriptedServer() as proxy:
        remote = resolve("m", base_url="http://far.invalid/v1", api_key_env="PLANTED", environment={})
        client = OpenAIWire(remote, environment={"PLANTED": KEY, variable: proxy.base_url, INSECURE_HTTP: "1"})
        with pytest.raises(CallFailure, match="not found"):
            await client.complete(_hello())
        await client.close()
        assert proxy.requests == []


async def test_a_proxy_between_is_never_shown_the_key() -> None:
    heard: list[bytes] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(proxy, "127.0.0.1", 0) as server:
        proxies = {"https_proxy": f"user:pw@127.0.0.1:{server.sockets[0].getsockname()[1]}"}
        openai = resolve("openai/gpt-4o", environment={})
        client = OpenAIWire(openai, environment={"OPENAI_API_KEY": KEY}, proxies=proxies)
        with pytest.raises(CallFailure, match="the proxy refused") as caught:
            await client.complete(_hello())
        await client.close()
    assert heard[0].startswith(b"CONNECT api.openai.com:443 ")
    assert b"\r\nProxy-Authorization: Basic dXNlcjpwdw==\r\n" in heard[0]
    assert KEY.encode() not in heard[0]
    assert "pw" not in str(caught.value)


def _hello() -> Request:
    return Request(endpoint="x", model="m", messages=(Message(role="user", parts=("Hi",)),), settings=Settings())


async def test_a_service_tier_is_sent_and_told_and_is_no_part_of_what_is_asked() -> None:
    async with ScriptedServer() as server:
        endpoint = resolve("openai/gpt-4o", base_url=server.base_url, environment={})
        client = OpenAIWire(endpoint, environment={}, tier="flex")
        request = Request(
            endpoint=endpoint.identity,
            model=endpoint.model,
            messages=(Message(role="user", parts=("Hi",)),),
            settings=Settings(),
        )
        reply = await client.complete(request)
        await client.close()
    assert server.requests[-1].body["service_tier"] == "flex"
    assert reply.usage.tier == "flex"
    assert "service_tier" not in request.canonical


@pytest.mark.parametrize(("name", "tier"), [("anthropic/claude-3", "flex"), ("openai/gpt-4o", "slow")])
def test_a_service_tier_that_the_provider_does_not_have_is_refused(name: str, tier: str) -> None:
    endpoint = resolve(name, environment={})
    with pytest.raises(Misuse) as raised:
        OpenAIWire(endpoint, environment={"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}, tier=tier)
    assert raised.value.code == "EH-SETTING-REFUSED"
    assert tier in str(raised.value)


def test_the_beginning_of_a_prompt_is_marked_where_a_cache_needs_it_and_no_word_changes() -> None:
    turns = (
        Message(role="system", parts=("You judge.",)),
        Message(role="user", parts=("Look at two answers.",)),
        Message(role="assistant", parts=("I will.",)),
        Message(role="user", parts=(Picture(digest="a" * 64), Picture(digest="b" * 64), "Which is better?")),
    )

    def sent(name: str) -> list[dict[str, Any]]:
        endpoint = resolve(name, environment={})
        request = Request(endpoint="e", model=endpoint.model, messages=turns, settings=Settings())
        writer = BodyWriter(endpoint, explicit=frozenset(), pictures=lambda _: b"data:image/png;base64,AA==")
        body = writer.body(request, writer.fixed(request, BodyShape.of(endpoint)))
        assert not isinstance(body, bytes)
        return json.loads(b"".join(body.chunks))["messages"]

    plain, marked = sent("openrouter/openai/gpt-4o"), sent("openrouter/anthropic/claude-sonnet-4")
    mark = {"cache_control": {"type": "ephemeral"}}
    assert marked[2]["content"] == [{"type": "text", "text": "I will.", **mark}]
    assert marked[3]["content"][1] == {**plain[3]["content"][1], **mark}
    marked[2]["content"] = marked[2]["content"][0]["text"]
    del marked[3]["content"][1]["cache_control"]
    assert marked == plain
