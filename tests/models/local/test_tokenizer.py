"""Claims about counting tokens before anything is asked: as the embedded model itself counts, or else by a factor."""

from pathlib import Path

import pytest

from evenhand.domain.call import Message
from evenhand.domain.rater import Settings
from evenhand.engine.run.quote import Quote
from evenhand.models.local.client import LocalModel, LocalWeights
from evenhand.models.local.tokenizer import COUNTED, LocalTokenizer
from evenhand.models.named import NamedModel
from evenhand.models.prices import COUNTED_BY, PriceList, estimate_tokens
from tests.models.local.conftest import Ask


def messages(*texts: str) -> tuple[Message, ...]:
    return tuple(Message(role="user", parts=(text,)) for text in texts)


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.slow
async def test_it_counts_what_the_model_says_it_read(model: LocalModel, weights: LocalWeights, ask: Ask):
    counter = LocalTokenizer(weights)
    for text in ("Say a word.", "Ein größerer Satz, 数字模型 und 🙂🙂.", "<|im_end|> is plain text in an answer"):
        request = ask(text, settings=Settings(max_tokens=1))
        used = (await model.complete(request)).usage.input
        assert used is not None
        # A control token's name is sent with a zero-width space in it, which takes tokens of its own.
        assert abs(counter.count(request.messages) - used) <= (4 if "<|" in text else 0)
    assert counter.counted_by == f"the tokenizer of {weights.name}"


def test_of_many_texts_the_first_tell_how_to_estimate_the_others(weights: LocalWeights):
    counter = LocalTokenizer(weights)
    words = "a word and another word, " * (COUNTED // 250)
    sure = [counter.count(messages(f"Item {number}: {words}")) for number in range(10)]
    guessed = counter.count(messages(f"Item 1000: {words}"))
    assert min(sure) * 0.99 <= guessed <= max(sure) * 1.01
    assert "in 10 texts, and in 1 more" in counter.counted_by


def test_weights_that_do_not_load_leave_the_estimate_and_say_so(tmp_path: Path):
    damaged = tmp_path / "broken.gguf"
    damaged.write_bytes(b"GGUF" + b"\0" * 64)
    counter = LocalTokenizer(LocalWeights(name="local/broken.gguf", path=damaged, sha256="0"))
    assert counter.count(messages("three words here")) == estimate_tokens("three words here") + 4
    assert counter.counted_by == COUNTED_BY


def test_a_quote_counts_by_the_tokenizer_that_is_at_hand(weights: LocalWeights, ask: Ask):
    here = NamedModel(name=weights.name, model=weights.name, identity=weights.sha256, endpoint=None, weights=weights)
    request = ask("An unusual word: antidisestablishmentarianism.")
    own, guess = (
        Quote(None, PriceList(), lambda _: b"", tokenizer=here.tokenizer()),
        Quote(None, PriceList(), lambda _: b""),
    )
    assert own.input_tokens(request) == LocalTokenizer(weights).count(request.messages) != guess.input_tokens(request)
    assert (own.counted_by, guess.counted_by) == (f"the tokenizer of {weights.name}", COUNTED_BY)
    assert own.tokens(request) == guess.tokens(request), "a pace needs no more than an estimate"
