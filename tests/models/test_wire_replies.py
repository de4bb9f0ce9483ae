import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.call import Offer, Reply, Usage
from evenhand.domain.errors import CallFailure, Misuse
from evenhand.domain.rater import Settings
from evenhand.models.wire import reply as wire_reply
from tests.models.asking import OFFER, asking, completion
from tests.refusals import refused
from tests.scripted_server import Canned, Script


async def replied(canned: Canned) -> Reply:
    async with asking(canned=(canned,)) as it:
        return await it.ask()


@pytest.mark.parametrize(
    ("said", "finish"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "refused"), ("tool_calls", "other"), (None, "other")],
)
async def test_how_a_reply_ended_is_kept(said: str | None, finish: str) -> None:
    assert (await replied(completion("text", finish=said))).finish == finish


async def test_a_reply_tells_which_model_answered_and_how_long_it_took() -> None:
    begun = time.perf_counter()
    reply = await replied(completion("text", model="gpt-4o-2024-08-06", system_fingerprint="fp_1"))
    assert (reply.text, reply.model, reply.fingerprint, reply.requests) == ("text", "gpt-4o-2024-08-06", "fp_1", 1)
    assert 0 < reply.seconds <= time.perf_counter() - begun


def choice(text: str, **fields: Any) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": text}, "finish_reason": "stop", **fields}


@pytest.mark.parametrize(
    "choices",
    [
        [choice("second", index=1), choice("first", index=0)],
        [choice("third", index=2), choice("first", index=1)],
        [choice("first"), choice("second")],
        [choice("first", index="0"), choice("second", index=None)],
    ],
)
async def test_choices_are_taken_by_their_index(choices: list[dict[str, Any]]) -> None:
    assert (await replied(Canned(body={"choices": choices}))).text == "first"


async def test_another_status_of_success_brings_a_reply_as_well() -> None:
    assert (await replied(Canned(status=201, body={"choices": [choice("made", index=0)]}))).text == "made"


async def test_a_refusal_is_a_reply() -> None:
    reply = await replied(completion({"role": "assistant", "content": None, "refusal": "I can't."}))
    assert (reply.finish, reply.text) == ("refused", "I can't.")


@pytest.mark.parametrize(
    "canned",
    [
        Canned(status=400, body={"error": {"code": "content_filter", "message": "Filtered."}}),
        Canned(status=403, body={"error": {"code": 403, "message": "Filtered.", "metadata": {"flagged_input": "x"}}}),
    ],
)
async def test_a_filter_before_the_model_is_a_refusal(canned: Canned) -> None:
    assert (await replied(canned)).finish == "refused"


async def test_a_reply_used_up_by_reasoning_is_truncated_not_empty() -> None:
    reply = await replied(completion({"content": None, "reasoning_content": "Hmm"}, finish="length"))
    assert (reply.finish, reply.text, reply.reasoning) == ("length", "", "Hmm")


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "B", "reasoning_content": "A, A, A"}, "B", "A, A, A"),
        ({"content": "B", "reasoning": "A, A, A"}, "B", "A, A, A"),
        ({"content": "<think>\nA, A\n</think>\n\nB"}, "B", "A, A"),
        ({"content": " \n<think>A</think>B"}, "B", "A"),
        ({"content": "<think>he wrote </think> A, so</think>B"}, "B", "he wrote </think> A, so"),
        ({"content": "Overall, Response A is better? No.\n</think>\n\nB"}, "B", "Overall, Response A is better? No."),
        ({"content": "he wrote </think> A, so</think>B"}, "B", "he wrote </think> A, so"),
        ({"content": "he wrote <think>A</think>, so</think>B"}, "B", "he wrote <think>A</think>, so"),
        # A parser that splits at the first mark leaves the rest of the thought in the content.
        ({"content": " A, so</think>B", "reasoning_content": "he wrote"}, "B", "he wrote\n\nA, so"),
        ({"content": "<think>A</think>B", "reasoning": "A"}, "B", "A"),
        ({"content": "A thought is begun with <think>."}, "A thought is begun with <think>.", ""),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "A"}]},
                    {"type": "text", "text": "B"},
                ]
            },
            "B",
            "A",
        ),
        ({"content": [{"type": "text", "text": "B"}, {"type": "text", "text": "!"}]}, "B!", ""),
    ],
)
async def test_reasoning_is_kept_apart_from_the_answer(message: dict[str, Any], text: str, reasoning: str) -> None:
    reply = await replied(completion(message))
    assert (reply.text, reply.reasoning) == (text, reasoning)


async def test_a_thought_that_was_cut_off_is_no_answer() -> None:
    reply = await replied(completion("<think>Overall, Response A is better.", finish="length"))
    assert (reply.text, reply.finish) == ("", "length")


@pytest.mark.parametrize("opened", ["<think>", ""])
async def test_a_thought_without_an_answer_is_an_empty_reply(opened: str) -> None:
    with pytest.raises(CallFailure) as caught:
        await replied(completion(f"{opened}Overall, Response A is better.</think>"))
    assert caught.value.reason == "empty-reply"


@given(
    opened=st.sampled_from(["<think>", ""]),
    thought=st.text(),
    answer=st.text(min_size=1).filter(lambda text: "</think>" not in text),
)
def test_no_thought_ever_reaches_the_answer(opened: str, thought: str, answer: str) -> None:
    read = wire_reply.answer({"finish_reason": "stop"}, {"content": f"{opened}{thought}</think>{answer}"})
    assert read.text == answer.lstrip()


@pytest.mark.parametrize(
    ("given_usage", "expected"),
    [
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 15,
                "prompt_tokens_details": {"cached_tokens": 8},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            Usage(input=10, output=5, cached=8, reasoning=3),
        ),
        ({"prompt_tokens": 10, "completion_tokens": 5}, Usage(input=10, output=5)),
        (
            {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 4},
            Usage(input=9, output=1, cached=4),
        ),
        # xAI: 20 tokens of reasoning beside the completion, not within it.
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 35,
                "completion_tokens_details": {"reasoning_tokens": 20},
            },
            Usage(input=10, output=25, reasoning=20),
        ),
        # Gemini: the same without saying so.
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 35}, Usage(input=10, output=25, reasoning=20)),
        ({"prompt_tokens": True, "completion_tokens": -1, "prompt_tokens_details": None}, Usage()),
        # A server that does not count.
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, Usage()),
        ({"prompt_tokens": 0, "completion_tokens": 5, "total_tokens": 5}, Usage()),
        ({"prompt_tokens": 10, "completion_tokens": 0, "total_tokens": 10}, Usage(input=10)),
        ({"prompt_tokens": 10**9, "completion_tokens": 10**9 + 1}, Usage(input=10**9)),
        ({"prompt_tokens": 10**18, "completion_tokens": 10**18, "total_tokens": 10**19}, Usage()),
        (None, Usage()),
        ("7", Usage()),
    ],
)
async def test_tokens_are_read_and_unknown_ones_stay_unknown(given_usage: object, expected: Usage) -> None:
    assert (await replied(completion("text", usage=given_usage))).usage == expected


async def test_vllm_goes_on_from_the_begun_turn() -> None:
    async with asking(Script(shape="vllm", judge="always-first"), model="vllm/m") as it:
        reply = await it.ask(offer=OFFER, settings=Settings(max_tokens=500, temperature=0))
        assert it.sent["messages"][-1] == {"role": "assistant", "content": "Overall, Response"}
        assert (it.sent["max_tokens"], it.sent["logprobs"], it.sent["top_logprobs"]) == (1, True, 20)
        assert (it.sent["continue_final_message"], it.sent["add_generation_prompt"]) == (True, False)
    assert reply.offered == pytest.approx((math.log(0.8 + 0.1), math.log(0.06)))
    assert reply.finish == "stop"
    assert reply.text == " A"


async def test_where_no_turn_can_be_begun_the_model_writes_the_beginning_itself() -> None:
    async with asking(Script(judge="always-first")) as it:
        reply = await it.ask(offer=OFFER)
        assert it.sent["messages"][-1]["role"] == "user"
        assert it.sent["max_tokens"] == 1 + len("Overall, Response")
    assert reply.offered == pytest.approx((math.log(0.9), math.log(0.06)))


async def test_llamacpp_is_given_a_trailing_turn_and_nothing_else() -> None:
    async with asking(Script(judge="always-first"), model="llamacpp/m") as it:
        reply = await it.ask(offer=OFFER)
        assert it.sent["messages"][-1] == {"role": "assistant", "content": "Overall, Response"}
        assert "continue_final_message" not in it.sent
    assert reply.offered == pytest.approx((math.log(0.9), math.log(0.06)))


@pytest.mark.parametrize("model", ["anthropic/claude", "groq/llama", "google/gemini", "mistral/large"])
async def test_without_log_probabilities_there_is_no_constrained_readout(model: str) -> None:
    async with asking(model=model) as it:
        with refused(Misuse, "--readout free", code="EH-LOGPROBS-MISSING"):
            await it.ask(offer=OFFER)
        assert it.server.requests == []


async def test_more_alternatives_than_there_are_is_misuse() -> None:
    async with asking(model="xai/grok") as it:
        with pytest.raises(Misuse, match="at most 8"):
            await it.ask(settings=Settings(top_logprobs=9))
        await it.ask(offer=OFFER)
        assert it.sent["top_logprobs"] == 8


async def test_a_server_that_leaves_the_log_probabilities_out_stops_the_run_the_first_time() -> None:
    async with asking(canned=(completion("A"),)) as it:
        with refused(Misuse, "--readout free", code="EH-LOGPROBS-MISSING"):
            await it.ask(offer=OFFER)
        await it.ask(offer=OFFER)
        it.server.then(completion("A"))
        with pytest.raises(CallFailure) as caught:
            await it.ask(offer=OFFER)
    assert (caught.value.reason, caught.value.transient) == ("bad-reply", True)


async def test_a_server_that_refuses_log_probabilities_stops_the_run() -> None:
    refusal = Canned(
        status=400, body={"error": {"message": "logprobs are not supported with this model", "param": "logprobs"}}
    )
    async with asking(canned=(refusal,)) as it:
        with refused(Misuse, "--readout free", code="EH-LOGPROBS-MISSING"):
            await it.ask(offer=OFFER)


async def test_a_refused_offer_is_a_refusal() -> None:
    async with asking(Script(faults={"refusal": 1.0})) as it:
        reply = await it.ask(offer=OFFER)
    assert (reply.finish, reply.offered) == ("refused", None)


def listed(*tokens: tuple[str, float]) -> dict[str, Any]:
    entries = [{"token": token, "logprob": math.log(share)} for token, share in tokens]
    return {"content": [{**entries[0], "top_logprobs": entries}]}


def test_spellings_of_one_answer_add_up_and_the_drawn_token_counts_once() -> None:
    offered = wire_reply.offered(listed((" A", 0.5), ("A", 0.2), ("▁A", 0.1), ("ĠB", 0.05), ("C", 0.04)), OFFER)
    assert offered == pytest.approx((math.log(0.8), math.log(0.05)))


def test_a_log_probability_rounded_above_zero_is_certainty() -> None:
    above = {"content": [{"token": "A", "logprob": 1e-6, "top_logprobs": []}]}
    assert wire_reply.offered(above, OFFER) == (0.0, None)


def test_an_answer_that_is_not_listed_has_no_probability() -> None:
    assert wire_reply.offered(listed((" A", 0.9), (" ", 0.05), ("", 0.01)), OFFER) == pytest.approx(
        (math.log(0.9), None)
    )


def test_a_token_that_begins_two_answers_counts_for_neither() -> None:
    offer = Offer(begin="", answers=("Response A", "Response B", "Tie"))
    assert wire_reply.offered(listed(("Response", 0.9), ("T", 0.1)), offer) == pytest.approx(
        (None, None, math.log(0.1))
    )


def test_the_older_shape_of_log_probabilities_is_read_too() -> None:
    older = {"tokens": [" A"], "token_logprobs": [-0.1], "top_logprobs": [{" A": -0.1, " B": -2.5}]}
    assert wire_reply.offered(older, OFFER) == pytest.approx((-0.1, -2.5))
    assert wire_reply.offered({"tokens": [" B"], "token_logprobs": [-0.1]}, OFFER) == (None, pytest.approx(-0.1))


@pytest.mark.parametrize("logprobs", [None, {}, {"content": []}, {"content": None}, [], {"content": [{"token": 1}]}])
def test_log_probabilities_that_are_none_are_none(logprobs: object) -> None:
    assert wire_reply.offered(logprobs, OFFER) is None


@given(shares=st.lists(st.floats(0.001, 0.1), min_size=2, max_size=10), data=st.data())
def test_offered_probabilities_never_exceed_what_was_listed(shares: list[float], data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from([" A", "A", " B", "B", "C", " "]), min_size=2, max_size=10, unique=True))
    pairs = list(zip(names, shares, strict=False))
    offered = wire_reply.offered(listed(*pairs), OFFER)
    assert offered is not None
    assert sum(math.exp(value) for value in offered if value is not None) <= sum(share for _, share in pairs) + 1e-9


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        (
            {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}},
            Usage(input=100, output=5, cached=64),
        ),
        (
            {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 30},
            Usage(input=120, output=5, cached=80, cache_written=30),
        ),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 5,
                "prompt_cache_hit_tokens": 64,
                "prompt_cache_miss_tokens": 36,
            },
            Usage(input=100, output=5, cached=64),
        ),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 90},
            },
            Usage(input=100, output=5, cached=0, cache_written=90),
        ),
    ],
)
def test_cached_tokens_are_read_by_each_providers_names(told: dict[str, Any], usage: Usage) -> None:
    assert wire_reply.usage(told) == usage
