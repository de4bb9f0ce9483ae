"""VisIT-Bench's reference-backed protocol and its extraction step are the paper's, word by word."""

import pytest

from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import ProtocolError
from tests.protocols import fig16, fig17, fig18
from tests.refusals import refused

FIRST, SECOND = Preference(value=1, levels=2), Preference(value=-1, levels=2)


def normalised(text: str) -> str:
    return " ".join(text.split())


def test_the_pizza_example_is_rendered_as_figure_17_prints_it():
    messages = load_protocol("visit_pairwise_reference").messages(fig17.PIZZA)
    assert [(message.role, normalised(message.text)) for message in messages] == [
        ("system", normalised(fig17.SYSTEM)),
        ("user", normalised(fig17.TASK)),
        ("assistant", normalised(fig17.ACKNOWLEDGEMENT)),
        ("user", normalised(fig17.COMPARISON)),
    ]
    assert "Response A and Response B.\n\nImage context: There" in messages[-1].text


def test_figure_17s_printed_reply_reads_as_b():
    shown = (fig17.PIZZA["response_1"], fig17.PIZZA["response_2"])
    assert load_protocol("visit_pairwise_reference").read(fig17.REPLY, shown=shown) == SECOND


def test_the_reference_backed_prompt_wants_a_reference():
    values = {name: text for name, text in fig17.PIZZA.items() if name != "reference"}
    with refused(ProtocolError, "caption, instruction, reference, response_1, response_2", code="EH-PROTOCOL-SLOTS"):
        load_protocol("visit_pairwise_reference").messages(values)


@pytest.mark.parametrize("protocol", ["visit_pairwise", "visit_pairwise_reference"])
@pytest.mark.parametrize("raw", [fig18.STOP_SIGN, fig18.COLONIES], ids=["stop sign", "colonies"])
def test_figure_18s_raw_judgements_hold_no_verdict_for_the_pairwise_reader(protocol: str, raw: str):
    read = load_protocol(protocol).read(raw)
    assert isinstance(read, NoVerdict)
    assert read.reason == "unreadable"


@pytest.mark.parametrize(
    ("raw", "extracted", "verdict"),
    [(fig18.STOP_SIGN, fig18.STOP_SIGN_EXTRACTED, SECOND), (fig18.COLONIES, fig18.COLONIES_EXTRACTED, None)],
    ids=["stop sign", "colonies"],
)
def test_figure_18s_extractor_outputs_read_as_b_and_as_no_decision(
    raw: str, extracted: str, verdict: Preference | None
):
    extraction = load_protocol("visit_pairwise").extraction
    assert extraction is not None
    messages = extraction.messages({"judgement": raw})
    assert normalised(messages[0].text) == normalised(fig18.SYSTEM)
    assert messages[-1].text == f"{raw}\n\n{fig18.CLOSING}"
    read = extraction.read(extracted)
    assert read == verdict if verdict else isinstance(read, NoVerdict)


def test_two_examples_of_our_own_come_between_and_show_both_outcomes():
    messages = load_protocol("visit_extraction").messages({"judgement": "x"})
    assert [message.role for message in messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert [messages[place].text for place in (2, 4)] == ["Final Answer: A", "Final Answer: Unknown"]
    assert all(messages[place].text.endswith(f"\n\n{fig18.CLOSING}") for place in (1, 3, 5))
    for place in (1, 3):
        raw = messages[place].text.removesuffix(fig18.CLOSING)
        assert isinstance(load_protocol("visit_pairwise").read(raw), NoVerdict)
    assert load_protocol("visit_extraction").read(messages[2].text) == FIRST


def test_a_judgement_cannot_open_a_slot():
    assert (
        load_protocol("visit_extraction")
        .messages({"judgement": "{{judgement}}"})[-1]
        .text.startswith("{{judgement}}\n")
    )


def test_what_reads_the_extraction_is_a_part_of_what_reads_the_reply():
    pairwise, reference = load_protocol("visit_pairwise"), load_protocol("visit_pairwise_reference")
    assert pairwise.extraction is not None
    assert pairwise.extraction.reader != pairwise.reader
    assert pairwise.reader == reference.reader
    assert pairwise.prompt_hash != reference.prompt_hash
    assert fig16.SKIER.keys() == pairwise.slots
