"""Reading a chat-completions reply: the answer apart from the reasoning, how it ended, tokens, offered answers."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from typing import Any

from evenhand.domain.call import Finish, Offer, Usage
from evenhand.models.wire.document import count, mapping, sequence, text

FINISH: dict[str, Finish] = {
    "stop": "stop", "eos": "stop", "end_turn": "stop", "stop_sequence": "stop",
    "length": "length", "max_tokens": "length", "model_length": "length",
    "content_filter": "refused", "refusal": "refused", "safety": "refused",
}  # fmt: skip
"""By the names that services have for it."""

_OPEN, _CLOSE = "<think>", "</think>"
_AROUND = " \n\"'*“‘"  # marks a model may put around a sentence it was asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class WireAnswer:
    text: str
    reasoning: str
    finish: Finish


def first_choice(choices: object) -> dict[str, Any]:
    """The one of the lowest index: servers may list them in the order in which they were done. Empty without any."""
    listed = sequence(choices)
    if len(listed) == 1:
        return mapping(listed[0])
    given = [(count(mapping(choice).get("index")), mapping(choice)) for choice in listed]
    numbered = [(place if index is None else index, choice) for place, (index, choice) in enumerate(given)]
    return min(numbered, key=lambda one: one[0])[1] if numbered else {}


def answer(choice: dict[str, Any], message: dict[str, Any]) -> WireAnswer:
    finish = FINISH.get(text(choice.get("finish_reason")).lower(), "other")
    content = message.get("content")
    said, thought = (content, "") if isinstance(content, str) else _sorted_parts(sequence(content))
    reasoning = text(message.get("reasoning_content")) or text(message.get("reasoning")) or thought
    thought, said = _split_thought(said)
    if thought and thought != reasoning.strip():
        reasoning = f"{reasoning}\n\n{thought}" if reasoning else thought
    refusal = text(message.get("refusal"))
    if refusal:
        return WireAnswer(text=said if said.strip() else refusal, reasoning=reasoning, finish="refused")
    return WireAnswer(text=said, reasoning=reasoning, finish=finish)


def _sorted_parts(parts: list[Any]) -> tuple[str, str]:
    """The text and the thinking of an answer in parts, as Mistral's reasoning models give it."""
    said: list[str] = []
    thought: list[str] = []
    for part in map(mapping, parts):
        thinking = part.get("thinking")
        if thinking is None:
            said.append(text(part.get("text")))
        else:
            thought.append(text(thinking) or "".join(text(mapping(inner).get("text")) for inner in sequence(thinking)))
    return "".join(said), "".join(thought)


def _split_thought(said: str) -> tuple[str, str]:
    """The leading thought, if there is one, and what follows it.

    It needs no opening mark: chat templates write that, and vLLM and SGLang without a reasoning parser give what
    comes after. It ends at the last closing mark: a candidate quoted while thinking may hold one, and a thought is
    never an answer. The price: an answer that itself names the mark is cut there.
    """
    thought, closed, rest = said.rpartition(_CLOSE)
    if closed:
        return thought.strip().removeprefix(_OPEN).strip(), rest.lstrip()
    cut_off = said.lstrip().startswith(_OPEN)
    return (said.lstrip().removeprefix(_OPEN).strip(), "") if cut_off else ("", said)


def usage(raw: object, *, tier: str | None = None) -> Usage:
    """`tier`: under which it was served."""
    given = mapping(raw)
    prompt, completion = count(given.get("prompt_tokens")), count(given.get("completion_tokens"))
    total = count(given.get("total_tokens"))
    details = mapping(given.get("prompt_tokens_details"))
    # DeepSeek's, Anthropic's and Moonshot's names follow OpenAI's.
    read_names = ("prompt_cache_hit_tokens", "cache_read_input_tokens", "cached_tokens")
    cached = _count_of(details, "cached_tokens")
    cached = _count_of(given, *read_names) if cached is None else cached
    written = _count_of(details, "cache_write_tokens")
    written = _count_of(given, "cache_creation_input_tokens") if written is None else written
    if prompt is None and (fresh := count(given.get("input_tokens"))) is not None:
        # Anthropic's own wire counts what it reads from its cache, or puts there, apart from the rest.
        prompt, completion = fresh + (cached or 0) + (written or 0), count(given.get("output_tokens"))
    reasoning = count(mapping(given.get("completion_tokens_details")).get("reasoning_tokens"))
    if prompt is not None and completion is not None and total is not None and total > prompt + completion:
        # xAI and Gemini leave the reasoning out of the completion, count it in the total, and bill it as output.
        reasoning = reasoning or total - prompt - completion
        completion = total - prompt
    if prompt == 0:
        return Usage(tier=tier)  # no prompt is empty: servers that do not count give zeros
    return Usage(input=prompt, output=completion, cached=cached, reasoning=reasoning, cache_written=written, tier=tier)


def _count_of(given: dict[str, Any], *names: str) -> int | None:
    """Under the first of these names that has one."""
    for name in names:
        if name in given and (found := count(given[name])) is not None:
            return found
    return None


def credible(told: Usage, answer: WireAnswer) -> Usage:
    """What was told, without an output of no tokens where something was written."""
    return replace(told, output=None) if told.output == 0 and (answer.text or answer.reasoning) else told


def offered(logprobs: object, offer: Offer) -> tuple[float | None, ...] | None:
    """Log-probability of each offered answer by its first token; None instead of a tuple where nothing was listed.

    That token is the reply's first, or the one after the offer's beginning where the model wrote that itself.

    A listed token counts for an answer where, stripped, it begins that answer and no other: "A", " A" and "▁A" are one
    choice in three tokens, and their probabilities add up.
    """
    positions = [dict(listed) for listed in _positions(mapping(logprobs))]
    listed = _after(offer.begin, positions)
    if not listed:
        return None
    sums = [0.0] * len(offer.answers)
    answers = [answer.strip() for answer in offer.answers]
    for token, logprob in listed.items():
        start = _plain(token).strip()
        begun = [index for index, answer in enumerate(answers) if start and answer.startswith(start)]
        if len(begun) == 1:
            sums[begun[0]] += math.exp(logprob)
    return tuple(math.log(total) if total > 0 else None for total in sums)


def _after(begin: str, positions: list[dict[str, float]]) -> dict[str, float]:
    """The tokens listed where the answer stands. Each position lists the token drawn first."""
    written = ""
    for listed, following in pairwise(positions):
        written += _plain(next(iter(listed), ""))
        if begin.strip() and written.strip(_AROUND) == begin.strip():
            return following
    return positions[0] if positions else {}


def _plain(token: str) -> str:
    """A token as text, where a server shows the tokenizer's own marks for a space."""
    return token.replace("▁", " ").replace("Ġ", " ")


def _positions(logprobs: dict[str, Any]) -> Iterator[Iterator[tuple[str, float]]]:
    """At each position the token drawn and its alternatives, in the chat's shape or the older completions' one."""
    content = sequence(logprobs.get("content"))
    for entry in map(mapping, content):
        yield _pairs((entry, *map(mapping, sequence(entry.get("top_logprobs")))))
    if content:
        return
    names = ("tokens", "token_logprobs", "top_logprobs")
    for token, logprob, alternatives in zip_longest(*(sequence(logprobs.get(name)) for name in names)):
        drawn = {"token": token, "logprob": logprob}
        others = ({"token": name, "logprob": value} for name, value in mapping(alternatives).items())
        yield _pairs((drawn, *others))


def _pairs(entries: Iterable[dict[str, Any]]) -> Iterator[tuple[str, float]]:
    for entry in entries:
        token, logprob = entry.get("token"), entry.get("logprob")
        if isinstance(token, str) and isinstance(logprob, int | float) and not math.isnan(logprob):
            yield token, min(float(logprob), 0.0)
