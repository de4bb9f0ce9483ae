import subprocess
import sys
from datetime import UTC, datetime

import pytest
from genai_prices import calc_price
from genai_prices import types as listed
from genai_prices.data_snapshot import get_snapshot
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.call import Usage
from evenhand.domain.errors import Misuse
from evenhand.models.endpoint import Endpoint, resolve
from evenhand.models.prices import FLAT_UP_TO, Price, PriceList, estimate_tokens, parse_price

AT = datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp()
MILLION = Usage(input=1_000_000, output=1_000_000)


def endpoint(name: str, base_url: str | None = None) -> Endpoint:
    return resolve(name, base_url=base_url, environment={})


def test_a_known_model_costs_what_the_list_says() -> None:
    # $2.50 and $10 per million tokens, half the input price for what was cached.
    usage = Usage(input=1000, output=100, cached=400)
    assert PriceList().cost(endpoint("openai/gpt-4o"), usage, at=AT) == pytest.approx(
        (600 * 2.5 + 400 * 1.25 + 100 * 10) / 1e6
    )


@given(tokens=st.integers(0, 400_000), output=st.integers(0, 60_000), cached=st.integers(0, 400_000))
def test_kept_rates_give_what_the_list_gives(tokens: int, output: int, cached: int) -> None:
    usage = Usage(input=tokens, output=output, cached=min(cached, tokens))
    for provider, model in [("openai", "gpt-4o"), ("google", "gemini-2.5-pro"), ("x-ai", "grok-4")]:
        asked = genai_usage(usage)
        moment = datetime.fromtimestamp(AT, tz=UTC)
        expected = calc_price(asked, model, provider_id=provider, genai_request_timestamp=moment).total_price
        name = {"x-ai": "xai"}.get(provider, provider)
        assert PRICES.cost(endpoint(f"{name}/{model}"), usage, at=AT) == pytest.approx(float(expected))


PRICES = PriceList()


def genai_usage(usage: Usage) -> listed.AbstractUsage:
    from genai_prices import Usage as Tokens

    return Tokens(input_tokens=usage.input, output_tokens=usage.output, cache_read_tokens=usage.cached)


def test_no_list_price_depends_on_the_length_of_short_prompts() -> None:
    starts = [
        tier.start
        for provider in get_snapshot().providers
        for model in provider.models
        for prices in (
            [model.prices] if isinstance(model.prices, listed.ModelPrice) else [p.prices for p in model.prices]
        )
        for price in vars(prices).values()
        if isinstance(price, listed.TieredPrices)
        for tier in price.tiers
    ]
    assert starts
    assert min(starts) > FLAT_UP_TO


@pytest.mark.parametrize(
    "where",
    [
        endpoint("openai/no-such-model-9"),
        endpoint("ollama/llava"),
        endpoint("vllm/m"),
        endpoint("sglang/m"),
        endpoint("llamacpp/m"),
        endpoint("openai/gpt-4o", "http://127.0.0.1:8000/v1"),
        endpoint("llava", "http://gpu.example/v1"),
    ],
    ids=lambda where: f"{where.name} at {where.identity}",
)
def test_an_unknown_price_is_unknown_not_nothing(where: Endpoint) -> None:
    assert PriceList().cost(where, MILLION, at=AT) is None
    assert not PriceList().known(where, at=AT)


def test_tokens_that_were_not_told_have_no_cost() -> None:
    assert PriceList().cost(endpoint("openai/gpt-4o"), Usage(input=5), at=AT) is None
    assert PriceList([parse_price("input=1,output=1")]).cost(endpoint("vllm/m"), Usage(output=5), at=AT) is None


def test_an_embedded_model_costs_nothing() -> None:
    assert PriceList().cost(None, Usage(), at=AT) == 0.0


def test_the_users_price_stands_over_the_list() -> None:
    prices = PriceList([parse_price("input=2,output=4"), parse_price("vllm/m: input=1, output=1, cached=0.5")])
    assert prices.cost(endpoint("openai/gpt-4o"), MILLION, at=AT) == 6
    assert prices.cost(endpoint("vllm/m"), Usage(input=1_000_000, output=0, cached=1_000_000), at=AT) == 0.5
    assert prices.known(endpoint("ollama/llava"), at=AT)


def test_a_price_for_one_model_leaves_the_others() -> None:
    prices = PriceList([parse_price("vllm/m:input=1,output=1")])
    assert prices.cost(endpoint("ollama/llava"), MILLION, at=AT) is None


def test_a_price_without_a_cached_rate_takes_cached_input_as_input() -> None:
    assert Price(input=2, output=0).of(Usage(input=1_000_000, output=0, cached=500_000)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2.5",
        "input=2.5",
        "input=a,output=1",
        "input=-1,output=1",
        "input=nan,output=1",
        "in=1,output=2",
        "input=1,input=2,output=3",
    ],
)
def test_a_price_that_is_none_is_refused_with_what_is_wanted(text: str) -> None:
    with pytest.raises(Misuse, match=r"--price"):
        parse_price(text)


def test_the_list_is_loaded_only_when_a_price_is_asked_for_and_never_from_the_network() -> None:
    code = (
        "import socket, sys\n"
        "import evenhand.models.prices as prices, evenhand.models.endpoint as e\n"
        "assert 'genai_prices' not in sys.modules and 'aiohttp' not in sys.modules\n"
        "def refuse(*_): raise SystemExit('the network was touched')\n"
        "socket.socket.connect = refuse; socket.getaddrinfo = refuse\n"
        "from evenhand.domain.call import Usage\n"
        "where = e.resolve('openai/gpt-4o', environment={})\n"
        "assert prices.PriceList().cost(where, Usage(input=1, output=1), at=1.78e9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_tokens_are_estimated_from_bytes_and_words() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("abcde") == 2
    assert estimate_tokens("a b c d") == 4
    assert estimate_tokens("裕福") == 2


def test_a_batch_costs_the_published_share_or_what_the_user_says() -> None:
    listed_at, flat = endpoint("openai/gpt-4o"), PriceList([parse_price("input=10,output=20,batch=1/4")])
    usual = PriceList().cost(listed_at, MILLION, at=AT)
    assert usual is not None
    assert PriceList().cost(listed_at, MILLION, at=AT, batch=True) == pytest.approx(usual / 2)
    assert flat.cost(listed_at, MILLION, at=AT, batch=True) == pytest.approx(5)
    assert flat.cost(listed_at, MILLION, at=AT) == pytest.approx(30)
    third = PriceList([parse_price("input=10,output=20,cached=4,batch=0.25")])
    cached = Usage(input=1_000_000, output=0, cached=1_000_000)
    assert third.cost(listed_at, cached, at=AT, batch=True) == pytest.approx(1)


def test_a_batch_without_a_price_of_its_own_costs_as_usual_and_a_plan_is_told_so() -> None:
    own = endpoint("judge", "http://127.0.0.1:1/v1")
    prices = PriceList([parse_price("input=10,output=20")])
    assert prices.cost(own, MILLION, at=AT, batch=True) == pytest.approx(30)
    assert not prices.batch_known(own)
    assert PriceList([parse_price("input=10,output=20,batch=0.5")]).batch_known(own)
    assert prices.batch_known(endpoint("anthropic/claude-3"))


def test_a_service_tier_is_priced_by_the_one_that_served() -> None:
    asked, prices = endpoint("openai/gpt-4o"), PriceList([parse_price("input=10,output=20")])
    assert prices.cost(asked, MILLION, at=AT, tier="flex") == pytest.approx(15)
    served = Usage(input=1_000_000, output=1_000_000, tier="default")
    assert prices.cost(asked, served, at=AT, tier="flex") == pytest.approx(30)
    assert prices.cost(asked, MILLION, at=AT, tier="priority") is None, "it differs by model, and nobody said"
    said = PriceList([parse_price("input=10,output=20,tier=2")])
    assert said.cost(asked, MILLION, at=AT, tier="priority") == pytest.approx(60)


def test_what_is_put_into_a_cache_has_a_price_of_its_own() -> None:
    usage = Usage(input=1000, output=0, cached=300, cache_written=500)
    said = PriceList([parse_price("input=10,output=20,cached=1,written=12.5")])
    assert said.cost(endpoint("openai/gpt-4o"), usage, at=AT) == pytest.approx((200 * 10 + 300 + 500 * 12.5) / 1e6)
    claude, model = endpoint("anthropic/claude-sonnet-4-0"), "claude-sonnet-4-0"
    for tokens in (1000, 4 * FLAT_UP_TO):
        used = Usage(input=tokens, output=0, cached=tokens // 4, cache_written=tokens // 2)
        asked = genai_written(used)
        moment = datetime.fromtimestamp(AT, tz=UTC)
        expected = calc_price(asked, model, provider_id="anthropic", genai_request_timestamp=moment).total_price
        assert PriceList().cost(claude, used, at=AT) == pytest.approx(float(expected))


def genai_written(usage: Usage) -> listed.AbstractUsage:
    from genai_prices import Usage as Tokens

    return Tokens(
        input_tokens=usage.input,
        output_tokens=usage.output,
        cache_read_tokens=usage.cached,
        cache_write_tokens=usage.cache_written,
    )


@pytest.mark.parametrize("text", ["input=1,output=2,batch=x", "input=1,output=2,batch=1/2/3", "input=1/2,output=2"])
def test_a_price_that_is_none_is_refused_with_the_part_that_is_wrong(text: str) -> None:
    with pytest.raises(Misuse, match="batch= or tier="):
        parse_price(text)
