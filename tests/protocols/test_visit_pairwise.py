"""VisIT-Bench's reference-free protocol is the paper's, word by word."""

import dataclasses

import pytest

from evenhand.domain.call import Message, Offer
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import Protocol, ProtocolError
from tests.protocols import fig16
from tests.refusals import refused


@pytest.fixture(scope="module")
def visit() -> Protocol:
    return load_protocol("visit_pairwise")


def normalised(text: str) -> str:
    return " ".join(text.split())


def test_the_skier_example_is_rendered_as_figure_16_prints_it(visit: Protocol):
    messages = visit.messages(fig16.SKIER, readout="free")
    assert [(message.role, normalised(message.text)) for message in messages] == [
        ("system", normalised(fig16.SYSTEM)),
        ("user", normalised(fig16.TASK)),
        ("assistant", normalised(fig16.ACKNOWLEDGEMENT)),
        ("user", normalised(fig16.COMPARISON)),
    ]


def test_the_image_context_follows_on_the_same_line(visit: Protocol):
    assert "Response A and Response B. Image context: A skier" in visit.messages(fig16.SKIER)[-1].text


def test_figure_16s_printed_reply_reads_as_b(visit: Protocol):
    shown = [fig16.SKIER["response_1"], fig16.SKIER["response_2"]]
    assert visit.read(fig16.REPLY, shown=shown) == Preference(value=-1, levels=2)
    assert visit.read(fig16.REPLY) == Preference(value=-1, levels=2)


def test_reading_again_gives_the_same(visit: Protocol):
    assert visit.read(fig16.REPLY) == visit.read(fig16.REPLY)
    assert load_protocol("visit-pairwise").reader == visit.reader


def test_a_candidate_cannot_open_a_slot(visit: Protocol):
    values = fig16.SKIER | {"response_1": "{{response_2}} {{caption}}"}
    assert "Response A: {{response_2}} {{caption}}\n" in visit.messages(values)[-1].text


def test_constrained_readout_ends_otherwise_and_offers_the_two_letters(visit: Protocol):
    free, constrained = visit.messages(fig16.SKIER), visit.messages(fig16.SKIER, readout="constrained")
    assert free[:-1] == constrained[:-1]
    closing = free[-1].text.rindex("Think step-by-step")
    assert constrained[-1].text[:closing] == free[-1].text[:closing]
    assert "step-by-step" not in constrained[-1].text
    assert visit.offer("constrained") == Offer(begin="Overall, Response", answers=(" A", " B"))
    assert visit.offer("free") is None


def test_the_settings_are_those_of_the_folder(visit: Protocol):
    assert visit.settings.as_json() == {"temperature": 0.0, "max_tokens": 1024}
    assert (visit.kind, visit.levels, visit.responses) == ("preference", 2, 2)
    assert "Fig. 16" in visit.source


@pytest.mark.parametrize("missing", sorted(fig16.SKIER))
def test_a_missing_value_is_an_error_that_names_both_sets(visit: Protocol, missing: str):
    values = {name: text for name, text in fig16.SKIER.items() if name != missing}
    with refused(
        ProtocolError, "visit_pairwise", "caption, instruction, response_1, response_2", code="EH-PROTOCOL-SLOTS"
    ):
        visit.messages(values)


def test_what_stands_for_the_caption_depends_on_what_the_judge_may_see(visit: Protocol):
    assert visit.caption("caption", "A skier.") == "A skier."
    assert visit.caption("both", "A skier.") == "A skier."
    assert visit.caption("caption", None) is None
    for see in ("images", "none"):
        words = visit.caption(see, "A skier.")
        assert words is not None
        assert "skier" not in words


def test_a_way_of_seeing_that_is_not_allowed_is_refused(visit: Protocol):
    captions_only = dataclasses.replace(visit, seeing=dataclasses.replace(visit.seeing, allowed=("caption",)))
    with refused(ProtocolError, "caption", "images", code="EH-PROTOCOL-SEE"):
        captions_only.caption("images", "A skier.")


def test_a_protocol_without_constrained_readout_says_so(visit: Protocol):
    free_only = dataclasses.replace(visit, constrained=None)
    with refused(ProtocolError, "constrained", "free", code="EH-PROTOCOL-READOUT"):
        free_only.messages(fig16.SKIER, readout="constrained")
    with refused(ProtocolError, "constrained", "free", code="EH-PROTOCOL-READOUT"):
        free_only.offer("constrained")
    with refused(ProtocolError, "constrained", "free", code="EH-PROTOCOL-READOUT"):
        free_only.read_offered([0.0, 0.0], forced=True)


def test_messages_are_text_only(visit: Protocol):
    for message in visit.messages(fig16.SKIER):
        assert isinstance(message, Message)
        assert all(isinstance(part, str) for part in message.parts)


@pytest.mark.parametrize(
    "reply",
    [
        "Overall, Response A is better than nothing but Response B wins",
        "Overall, Response A is better if length is what counts.",
        "Overall, Response A is better, but Response B is better in the end.",
        "Overall, Response A is better, but I would still choose Response B.",
        "Overall, Response A is better at naming colours.",
        "Overall, Response A is better? No.",
        "Overall, neither is better.",
        "I would say that Response B is slightly better.",
    ],
)
def test_what_is_not_the_sentence_asked_for_decides_nothing(visit: Protocol, reply: str):
    assert isinstance(visit.read(reply), NoVerdict)


@pytest.mark.parametrize(
    "clause",
    [
        ", although both have gaps.", " because it is longer", " !", ", but only just.", " — it names both colours.",
        " than Response B because it is better organised.", ", since Response B is wrong about the shoes.",
        ", and both are fluent.", "; both are fluent.", " by a small margin.", " in my view.",
    ],
)  # fmt: skip
def test_a_clause_that_does_not_take_the_sentence_back_leaves_it_standing(visit: Protocol, clause: str):
    assert visit.read(f"Overall, Response A is better{clause}") == Preference(value=1, levels=2)


STANDS = (
    ", although it is not perfect.", ", though it is not flawless either.", ", even if it is not perfect.",
    " because it says what the picture shows.", " as it says what is seen.",
    " since it claims nothing that is not there.",
    ", although Response {o} is good too.", ", although Response {o} is longer.", ", though Response {o} is not bad.",
    ", although Response {o} is well written.", ", while Response {o} misses the shoes.",
    ", whereas {o} names no colour.", ", since {o} is wrong about the shoes.", " because {o} is not better in any way.",
    ", because the other one is wrong about the shoes.", ", since the other response is too short.",
    " than the other one.", " than the other response because it is exact.", " than Response {o}.",
    ", albeit by a small margin.", ", but it is not perfect.", ", but not by much.", ", but only narrowly.",
    ", but Response {o} is close.", ", but both are fluent.", ", yet both have gaps.", ", but there are gaps in both.",
    " in spite of its length.", " despite its errors.", " on balance.", " on the whole.", " of the two.",
    " hands down.",
    ", I think.", ", in my opinion.", " in the end.", " here.", " overall.", ", however small the difference.",
    " for being exact.", " for its accuracy.", " by virtue of its detail.", ", not least because it is exact.",
    ", which is why I chose it.", ", so it wins.", ", and it is easier to read.", " and more exact.",
    ", although readers who want a short text have a point.", " for these reasons.",
    ", because a was mistaken for an o in the sign.", ", although a shorter answer would be preferable.",
    " (both are fluent).", "; both name the colours.", " - because it is exact.",
)  # fmt: skip
TAKEN_BACK = (
    ", though the winner is Response {o}.", ", although {o} would be preferable.", ", but the winner is {o}.",
    ", but the better one is Response {o}.", ", although the better answer is really {o}.",
    ", though my vote goes to Response {o}.", ", but my choice is {o}.",
    ", though my preference would be Response {o}.",
    ", but the edge goes to {o}.", ", although Response {o} wins.", ", but {o} clearly wins.", ", though {o} beats it.",
    ", although Response {o} outperforms it.", ", but Response {o} has the edge.", ", but {o} should win.",
    ", although Response {o} would have been better.", ", though {o} might be the better one.",
    ", but Response {o} remains superior.", ", although {o} is to be preferred.",
    ", yet Response {o} is the one I choose.",
    ", but I would still go with Response {o}.", ", although I prefer {o}.", ", but I choose {o}.",
    ", though I would pick the other one.", ", but I recommend Response {o}.", ", although I favour {o}.",
    ", but the other one is better.", ", though the other response is actually better.", ", but the other wins.",
    ", and so is Response {o}.", ", but that is not so.", ", although that is not true.", ", but it is not.",
    ", although it isn't.", ", but that's wrong.", ", which is false.", ", but this is not my verdict.",
    ", or so it claims.", ", it says.", ", as it claims.", ", as the response itself claims.", " because it says so.",
    ", but it is a tie.", ", although they are tied.", ", but it could go either way.", ", but that depends on taste.",
    ", but I am not sure.", ", although I cannot really say.", ", or is it.", ", but on second thought I doubt it.",
    ", if length is what counts.", ", but only if style is ignored.", " unless accuracy matters.",
    ", provided that one ignores the shoes.", " as long as nobody checks.", " were it not for the shoes.",
)  # fmt: skip


@pytest.mark.parametrize("clause", STANDS)
def test_the_sentence_stands_with_the_clause_after_it_whichever_response_it_names(visit: Protocol, clause: str):
    for own, other, value in (("A", "B", 1), ("B", "A", -1)):
        reply = f"Both were read.\n\nOverall, Response {own} is better{clause.format(o=other)}"
        assert visit.read(reply) == Preference(value=value, levels=2), reply


@pytest.mark.parametrize("clause", TAKEN_BACK)
def test_a_clause_that_takes_the_sentence_back_leaves_no_verdict(visit: Protocol, clause: str):
    for own, other in (("A", "B"), ("B", "A")):
        reply = f"Both were read.\n\nOverall, Response {own} is better{clause.format(o=other)}"
        assert isinstance(visit.read(reply), NoVerdict), reply


def test_both_protocols_of_the_paper_read_replies_alike(visit: Protocol):
    assert load_protocol("visit_pairwise_reference").rule.source == visit.rule.source
