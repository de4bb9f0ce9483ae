"""A short reply that begins with a refusal in plain words is one; whatever argues, prefers or quotes is not."""

import pytest

from evenhand.domain.verdict import NoVerdict
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.refusal import LONGEST, refuses

REFUSALS = (
    "I'm sorry, I can't judge these",
    "I’m sorry, but I can’t assist with that request.",
    "Sorry, but I cannot compare these two responses.",
    "I cannot evaluate these responses.",
    "I'm unable to provide a comparison of these answers.",
    "As an AI language model, I cannot judge which of these is better.",
    "Unfortunately, I can't view the image, so I am unable to evaluate the answers.",
    "I apologize, but I cannot fulfill this request.",
    "I won't rate content like this.",
    "I must decline to evaluate this.",
    "I'm not comfortable comparing these.",
    "I'm really sorry, but I'm not able to help with identifying people in images.",
    "抱歉，我无法评价这些内容。",
)

NONE = (
    "",
    "I can't help but notice how much clearer the first one is.",
    "I can't help noticing a mistake in the second.",
    "I cannot decide.",
    "I'm sorry, I can't say which is better.",
    "I can't fault either of them.",
    "I cannot judge the image, but Response A is better.",
    "I cannot rate them apart: a tie.",
    "I can't compare them more closely than this: the first is the stronger one.",
    "I'm sorry to say that both are wrong.",
    "Both are fine. I'm sorry, I can't judge these.",
    "Response A says: I'm sorry, I can't help with that.",
    "\"I'm sorry, I can't help with that.\" is all that the first one says.",
    "> I'm sorry, I can't help with that.",
)


@pytest.mark.parametrize("reply", REFUSALS)
def test_a_refusal_in_plain_words_is_one(reply: str):
    assert refuses(reply)
    read = load_protocol("visit_pairwise").read(reply)
    assert isinstance(read, NoVerdict)
    assert (read.reason, read.detail) == ("refused", reply)


@pytest.mark.parametrize("reply", NONE)
def test_what_argues_prefers_or_quotes_is_no_refusal(reply: str):
    assert not refuses(reply)
    read = load_protocol("pairwise").read(reply, token="K7RX2M9P")
    assert isinstance(read, NoVerdict)
    assert read.reason == "unreadable"


def test_a_long_reply_has_argued_whatever_it_began_with():
    begun = "I'm sorry, I can't judge these."
    assert refuses(begun.ljust(LONGEST, "."))
    assert not refuses(begun.ljust(LONGEST + 1, "."))


@pytest.mark.parametrize("begun", REFUSALS)
def test_a_reply_with_a_decision_is_read_as_before_whatever_it_begins_with(begun: str):
    visit, pairwise = load_protocol("visit_pairwise"), load_protocol("pairwise")
    decided = "Overall, Response B is better."
    assert visit.read(f"{begun}\n\n{decided}") == visit.read(decided)
    assert pairwise.read(f"{begun}\nK7RX2M9P: [[A>>B]]", token="K7RX2M9P") == pairwise.would_read("[[A>>B]]")
    undecided = "Final Verdict: either [[A>B]] or [[A=B]]"
    creation = load_protocol("creation_preference")
    assert creation.read(f"{begun}\n{undecided}") == creation.read(undecided)
