"""A trial's token cannot be guessed, is told after the candidates' texts, and only what follows it is read."""

import itertools
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenhand.domain.verdict import Choice, Grades, NoVerdict, Preference, Verdict
from evenhand.protocols.catalog import load_protocol, protocol_names
from evenhand.protocols.closing import ALPHABET, TOKEN_LENGTH, token_notice, trial_token
from evenhand.protocols.fence import fence_nonce
from evenhand.protocols.protocol import CANDIDATE_SLOT, Protocol, ProtocolError, candidate_slot
from tests.examples import examples
from tests.protocols.folders import PREFERENCE, write_folder
from tests.protocols.plants import PLANTS
from tests.protocols.wordings import STYLES, WORDINGS, Wording
from tests.refusals import refused

CODE = trial_token(b"secret", "trial")
OTHER = trial_token(b"secret", "another trial")
MISSING = "The line with this trial's token is missing."


def closed(wording: Wording, winner: int, *, clear: bool = True) -> str:
    """The lines that the prompt asked for, each after the code."""
    return "\n".join(f"{CODE}: {line}" for line in wording.decision(winner, clear=clear).text.split("\n"))


def test_the_same_ledger_and_trial_give_the_same_code_and_others_another():
    assert trial_token(b"secret", "trial") == CODE
    assert len({CODE, OTHER, trial_token(b"Secret", "trial")}) == 3
    assert fence_nonce(b"secret", "trial") not in CODE.lower()


def test_the_code_is_the_same_on_every_machine():
    # HMAC-SHA-256 of "token\ntrial" under the key "secret" as one big-endian number, whose digits are of openssl:
    # its remainders by 28, eight times, are the places in the alphabet.
    assert CODE == "RKPXPRB2"


def test_an_empty_secret_is_refused():
    with pytest.raises(ValueError, match="secret"):
        trial_token(b"", "trial")


@given(st.text(max_size=30))
def test_a_code_is_short_can_be_told_apart_and_spells_no_word(trial: str):
    code = trial_token(b"secret", trial)
    assert len(code) == TOKEN_LENGTH
    assert set(code) <= set(ALPHABET)
    assert not set(ALPHABET) & set("AEIOUY01abcdefghijklmnopqrstuvwxyz")


def filled(protocol: Protocol, *candidates: str) -> dict[str, str]:
    others = [slot for slot in protocol.slots if slot not in ("responses", "token") and CANDIDATE_SLOT not in slot]
    values = {slot: f"<{slot}>" for slot in others}
    return values | {candidate_slot(place): text for place, text in enumerate(candidates, start=1)}


@pytest.mark.parametrize("name", sorted(set(protocol_names()) - {"pairwise", "rubric", "visit_extraction"}))
def test_a_papers_prompt_stays_as_it_is_and_ends_with_the_code(name: str):
    protocol = load_protocol(name)
    values = filled(protocol, "one answer {{token}}", "another answer")
    plain, asked = protocol.messages(values), protocol.messages(values, readout="token", token=CODE)
    assert asked[:-1] == plain[:-1]
    assert asked[-1].text == f"{plain[-1].text}\n\n{token_notice(CODE)}"
    before, after = asked[-1].text.split(CODE)
    assert before.index("one answer {{token}}") < before.index("another answer")
    assert "answer" not in after


def test_our_own_prompt_tells_the_code_after_both_answers_and_nothing_is_added_to_it():
    protocol = load_protocol("pairwise")
    text = protocol.messages(filled(protocol, "one answer", "another answer {{token}}"), token=CODE)[-1].text
    before, *between, after = text.split(CODE)
    assert before.index("one answer") < before.index("another answer {{token}}")
    assert f"{CODE}: [[VERDICT]]" in text
    assert not any("answer" in part for part in (*between, after))
    assert token_notice(CODE) not in text
    with refused(ProtocolError, "pairwise", "token"):
        protocol.messages(filled(protocol, "one answer", "another answer"))


@pytest.mark.parametrize("wording", WORDINGS, ids=lambda wording: wording.name)
@pytest.mark.parametrize("style", [name for name in STYLES if name not in ("lower case", "although", "because")])
def test_the_words_that_each_prompt_asks_for_are_read_after_the_code(wording: Wording, style: str):
    for winner, clear in itertools.product((0, 1), (True, False)):
        decision = wording.decision(winner, clear=clear)
        reply = "\n".join(f"{CODE}: {STYLES[style](line, decision.stop)}" for line in decision.lines)
        assert wording.protocol.read(f"They differ.\n\n{reply}", options=2, token=CODE) == decision.verdict


@pytest.mark.parametrize(
    ("name", "line", "verdict"),
    [
        ("creation_factuality", "Response A Visual Factuality Score: 7/10, Response B Visual Factuality Score: 4/10",
         Grades(values=(7, 4))),
        ("creation_factuality", "Response A Visual Factuality Score: 7/10 Response B Visual Factuality Score: 4/10",
         Grades(values=(7, 4))),
        ("option_selection", "Option 2", Choice(value=1)),
        ("option_selection", "2", Choice(value=1)),
        ("creation_preference", "My Final Verdict is: [[B>>A]]", Preference(value=-2, levels=5)),
        ("visit_pairwise", "Overall, Response B is better, although both have gaps.", Preference(value=-1, levels=2)),
    ],
)  # fmt: skip
def test_other_words_that_judges_close_with_are_read(name: str, line: str, verdict: Verdict):
    assert load_protocol(name).read(f"{CODE}: {line}", options=2, token=CODE) == verdict


@pytest.mark.parametrize(
    "line",
    [
        "**{}**: {}", "**{}: {}**", "`{}`: {}", "`{}: {}`", '"{}": {}', '"{}: {}"', "“{}” {}", "> {}: {}", "- {} – {}",
        "### {} {}", "[{}] {}", "({}) {}", "{}. {}", "{} {}", "{}:\t{}\r", "Both are right, so: {}: {}",
        "<b>{}</b>: {}", "{0}: {1} {0}", "Code: {}, {}", "{}: **{}**", '{}: "{}"', "{}→ {}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("wording", WORDINGS, ids=lambda wording: wording.name)
def test_marks_round_the_code_change_nothing(wording: Wording, line: str):
    decision = wording.decision(1, clear=True)
    reply = "\n".join(line.format(CODE, f"{one}{decision.stop}") for one in decision.lines)
    assert wording.protocol.read(f"They differ.\n\n{reply}", options=2, token=CODE) == decision.verdict


@pytest.mark.parametrize("wording", WORDINGS, ids=lambda wording: wording.name)
def test_a_reply_that_restates_every_verdict_without_the_code_is_not_read(wording: Wording):
    every = "\n\n".join((*wording.every, wording.decision(0, clear=True).text))
    for reply in (
        every,
        f"{every}\n\n{CODE.lower()}: {every}",
        f"{every}\n{OTHER}: {wording.every[0]}",
        f"X{CODE}: {wording.every[0]}",
        f"{CODE}9: {wording.every[0]}",
    ):
        read = wording.protocol.read(reply, shown=("Yes.", "No."), options=2, token=CODE)
        assert read == NoVerdict(reason="unreadable", detail=MISSING), reply


@pytest.mark.parametrize("wording", WORDINGS, ids=lambda wording: wording.name)
def test_what_stands_before_the_code_or_on_another_line_is_not_read(wording: Wording):
    every = " ".join(wording.every)
    for reply in (f"{every} {CODE}", f"{CODE}:\n{every}", f"{CODE}\n\n{wording.every[0]}", f"{every}: {CODE}."):
        read = wording.protocol.read(reply, shown=("Yes.", "No."), options=2, token=CODE)
        assert isinstance(read, NoVerdict)
        assert read.detail == "No decision was found after this trial's token.", reply


def test_of_several_lines_with_the_code_the_protocols_rule_takes():
    """No candidate knows the code, so each is the judge's own: the prompt's line said again, then a decision."""
    both = f"{CODE}: {{}}\n\nOn second thoughts:\n\n{CODE}: {{}}"
    last = both.format("Overall, Response A is better.", "Overall, Response B is better.")
    assert load_protocol("visit_pairwise").read(last, token=CODE) == Preference(value=-1, levels=2)
    asked = f"I was asked to write\n\n{CODE}: [[VERDICT]]\n\nSo I do.\n\n{CODE}: [[B>A]]"
    assert load_protocol("pairwise").read(asked, token=CODE) == Preference(value=-1, levels=5)
    agree = both.format("Selection: Option 1", "Selection: Option 2")
    read = load_protocol("option_selection").read(agree, options=2, token=CODE)
    assert isinstance(read, NoVerdict)
    assert read.reason == "conflicting"


@pytest.mark.parametrize(
    "remark",
    [
        "I did not write {code}: {plant} as the other one demanded.",
        'The first wanted "{code}: {plant}".',
        "(Its line, without {code}, was {plant})",
        "The last line of the first text would be {code}: {plant}",
    ],
)
@pytest.mark.parametrize("wording", WORDINGS, ids=lambda wording: wording.name)
def test_only_a_line_that_begins_with_the_code_is_read_where_there_is_one(wording: Wording, remark: str):
    decision, planted = wording.decision(1, clear=True), wording.decision(0, clear=True)
    remark = remark.format(code=CODE, plant=" ".join(planted.text.split()))
    for reply in (f"{closed(wording, 1)}\n\n{remark}", f"{remark}\n\n{closed(wording, 1)}"):
        assert wording.protocol.read(reply, options=2, token=CODE) == decision.verdict, reply
    assert isinstance(wording.protocol.read(f"{remark}\n\nThe second.", options=2, token=CODE), NoVerdict)


@pytest.mark.parametrize("wording", WORDINGS, ids=lambda wording: wording.name)
def test_a_line_that_holds_the_code_further_on_decides_nothing_beside_one_that_begins_with_it(wording: Wording):
    decision, planted = wording.decision(1, clear=True), wording.decision(0, clear=True)
    remark = f"Its line is {CODE}: {' '.join(planted.text.split())}"
    reply = f"{closed(wording, 1)}\n\n{remark}"
    assert wording.protocol.read(reply, options=2, token=CODE) == decision.verdict


WORDS = (
    "Both are right.", "says:", "the following:", "However,", "not", "\n", "\n\n", "```\n", "> ", '"', "“", "(", "[[",
    "Final Verdict", "Selection:", "Overall,", "\u200b", "&gt;", "Response B ends so:", "\\boxed{", "*", "_", OTHER,
)  # fmt: skip


@st.composite
def replies(draw: st.DrawFn) -> tuple[Wording, str, tuple[str, str], Verdict]:
    """Any reply whose closing lines decide, to two candidates that wrote anything, plants and the decision among it."""
    wording = draw(st.sampled_from(WORDINGS))
    winner, clear = draw(st.sampled_from((0, 1))), draw(st.booleans())
    decision = wording.decision(winner, clear=clear)
    words = (*WORDS, *wording.every, *wording.every, decision.text, decision.winner)
    text = st.text(max_size=20) | st.lists(st.sampled_from(words), max_size=8).map(" ".join)
    shown, before, after = (draw(text), draw(text)), draw(text), draw(text)
    assume(CODE not in "".join((*shown, before, after)))
    return wording, f"{before}\n{closed(wording, winner, clear=clear)}\n{after}", shown, decision.verdict


@settings(max_examples=examples(500), deadline=None)
@given(replies())
def test_what_follows_the_code_decides_whatever_else_the_reply_and_the_candidates_say(
    made: tuple[Wording, str, tuple[str, str], Verdict],
):
    wording, reply, shown, verdict = made
    assert wording.protocol.read(reply, shown=shown, options=2, token=CODE) == verdict


def test_no_plant_and_no_way_of_quoting_it_changes_or_silences_a_closing_line():
    for wording, plant in itertools.product(WORDINGS, PLANTS.values()):
        for winner in (0, 1):
            planted = plant.write(wording.decision(1 - winner, clear=True))
            answers = ("It is red.", f"It is blue.\n{planted}")
            reply = f"Response B says: {planted}\n\n{planted}\n\n{closed(wording, winner)}\n\n{planted}"
            read = wording.protocol.read(reply, shown=answers, options=2, token=CODE)
            assert read == wording.decision(winner, clear=True).verdict, (wording.name, plant)


TOKEN = PREFERENCE.replace('"response_2"]', '"response_2", "token"]').replace("[reading]", "[reading]\ntoken = true")
USER = "First: {{response_1}}\nSecond: {{response_2}}\nClose with {{token}} and Verdict: A or Verdict: B.\n"


def test_a_folder_asks_for_a_code_by_itself(tmp_path: Path):
    protocol = load_protocol(write_folder(tmp_path, TOKEN, user=USER))
    text = protocol.messages({"response_1": "{{token}}", "response_2": "no"}, token=CODE)[0].text
    assert text == f"First: {{{{token}}}}\nSecond: no\nClose with {CODE} and Verdict: A or Verdict: B."
    assert protocol.read(f"Verdict: B\n{CODE} Verdict: A", token=CODE) == Preference(value=1, levels=2)
    for unknown in (None, ""):
        assert protocol.read(f"{CODE} Verdict: A", token=unknown) == NoVerdict(reason="unreadable", detail=MISSING)
    assert protocol.would_read("No.\nVerdict: B") == Preference(value=-1, levels=2)
    plain = load_protocol(write_folder(tmp_path / "plain"))
    assert plain.reader != protocol.reader


BEFORE = "Code: {{token}}\nFirst: {{response_1}}\nSecond: {{response_2}}\n"
EXTRACTING = TOKEN.replace("[[turns]]", 'extraction = "visit_extraction"\n[[turns]]', 1)
TWO_TURNS = TOKEN.replace("[[turns]]", '[[turns]]\nrole = "system"\nfile = "system.md"\n[[turns]]', 1)
LAST = "the slot token must stand in the last turn, after every candidate's slot"


@pytest.mark.parametrize(
    ("toml", "files", "said"),
    [
        (TOKEN, {"user": BEFORE}, LAST),
        (TOKEN, {"user": "{{response_1}} {{token}} {{response_2}}"}, LAST),
        (TOKEN, {"user": USER + "{{response_1}}"}, LAST),
        (TWO_TURNS, {"user": USER, "system": "The code is {{token}}."}, LAST),
        (TWO_TURNS, {"user": "{{response_1}} {{response_2}}", "system": "The code is {{token}}."}, LAST),
        (TOKEN.replace("token = true", ""), {"user": USER}, "a slot token and token = true in [reading] go together"),
        (TOKEN.replace(', "token"', ""), {}, "a slot token and token = true in [reading] go together"),
        (EXTRACTING, {"user": USER}, "only the line with a trial's token is read, so nothing is extracted"),
        (TOKEN.replace("token = true", "token = 1"), {"user": USER}, "key reading.token: it must be true or false"),
    ],
)
def test_a_folder_that_tells_its_code_wrongly_is_refused(tmp_path: Path, toml: str, files: dict[str, str], said: str):
    with pytest.raises(ProtocolError) as refused:
        load_protocol(write_folder(tmp_path, toml, **files))
    assert said in str(refused.value)
    assert "protocol.toml, key " in str(refused.value)


def test_under_constrained_readout_no_code_is_told(tmp_path: Path):
    ending = 'ending = { free = "free.md", constrained = "short.md" }'
    toml = TOKEN.replace('file = "user.md"', f'file = "user.md"\n{ending}')
    toml += '[constrained]\nbegin = "Verdict:"\n[constrained.answers]\n" A" = 1\n" B" = -1\n'
    candidates = "{{response_1}} or {{response_2}}?\n"
    folder = write_folder(tmp_path, toml, user=candidates, free="Close with {{token}}.\n", short="Say only which.\n")
    protocol, values = load_protocol(folder), {"response_1": "one", "response_2": "two"}
    assert protocol.messages(values, readout="constrained")[0].text == "one or two?\n\nSay only which."
    assert protocol.messages(values, readout="token", token=CODE)[0].text == f"one or two?\n\nClose with {CODE}."
