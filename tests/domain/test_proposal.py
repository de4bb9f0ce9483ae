"""Claims about a proposed item: where it stands follows from what was said, and nobody passes their own work."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.event import Event
from evenhand.site.living.events import (
    Answer,
    AnswerFailed,
    Caption,
    CaptionOrAnswer,
    ImageCame,
    ImageFailed,
    Instruction,
    Joined,
    ProposalEvent,
    ProposalState,
    Rules,
    Said,
    Verification,
    Word,
)
from evenhand.site.living.following import (
    FIRST_WAIT,
    TRIES,
    after,
    last_opinions,
    may_caption,
    may_verify,
    may_write_again,
    next_try,
    said_already,
    standing,
)
from tests.refusals import tells

WRITER, CAPTIONER, VERIFIER, OTHER = "writer", "captioner", "verifier", "other"


class Story:
    """Events one after the other; each is numbered as the ledger would."""

    def __init__(self) -> None:
        self.events: list[ProposalEvent] = []

    def say(self, person: str | None, said: Said, *, at: float = 0.0) -> ProposalState:
        self.events.append(Event(seq=len(self.events) + 1, at=at, person=person, said=said))
        return self.now

    @property
    def now(self) -> ProposalState:
        found = standing(self.events)
        assert found
        return found

    @property
    def last(self) -> int:
        return self.events[-1].seq

    def write(self, person: str = WRITER, **fields: Any) -> ProposalState:
        given: dict[str, Any] = {"skill": "counting", "text": "How many?", "licence": "CC0", "image": "ab"} | fields
        return self.say(person, Instruction(**given))

    def caption(self, person: str = CAPTIONER, text: str = "Two dots.") -> ProposalState:
        return self.say(person, Caption(about=self.now.instruction.seq, text=text))

    def answer(self, text: str = "Two.") -> ProposalState:
        caption = self.now.caption
        assert caption
        return self.say(None, Answer(about=caption.seq, attempt=self.now.attempt, text=text, model="m", call="k"))

    def no_answer(self, *, final: bool = False, at: float = 0.0) -> ProposalState:
        caption = self.now.caption
        assert caption
        failed = AnswerFailed(about=caption.seq, attempt=self.now.attempt, detail="No.", final=final)
        return self.say(None, failed, at=at)

    def verify(self, person: str = VERIFIER, *, follows: bool = True, **more: object) -> ProposalState:
        said = Verification(about=self.now.answer_seq, follows=follows)
        return self.say(person, replace(said, **more))


def answered() -> Story:
    story = Story()
    story.write()
    story.caption()
    story.answer()
    return story


def test_from_an_instruction_to_an_item_step_by_step():
    story = Story()
    assert standing([]) is None
    assert story.write().stage == "caption"
    assert story.caption().stage == "answer"
    assert story.answer().stage == "verify"
    assert story.verify().stage == "accepted"
    assert story.say("owner", Joined(version=1, item="i")).stage == "joined"
    assert story.now.ended


def test_an_address_waits_for_its_image():
    story = Story()
    assert (
        story.say(WRITER, Instruction(skill="s", text="t", licence="l", url="https://x.example/a.png")).stage == "image"
    )
    assert story.say(None, ImageFailed(about=1, detail="No.", final=False)).stage == "image"
    assert story.say(None, ImageCame(about=99, digest="cd")).stage == "image"
    assert story.say(None, ImageCame(about=1, digest="cd")).image == "cd"
    assert (story.now.stage, story.now.failures) == ("caption", ())


def test_an_underspecified_caption_goes_back_to_be_written_anew():
    story = answered()
    assert story.verify(follows=False, fault="caption").stage == "caption"
    assert story.now.caption  # for the next to see what was too thin
    assert story.now.answer is None
    assert story.caption(text="Two red dots on white.").stage == "answer"
    assert story.now.attempt == 1


def test_a_wrong_answer_is_made_once_more_and_then_the_proposal_is_rejected():
    story = answered()
    assert story.verify(follows=False, fault="answer").stage == "answer"
    assert story.now.attempt == 2
    story.answer("Three.")
    assert story.now.opinions == ()
    assert story.verify(follows=False, fault="answer").stage == "rejected"
    assert story.now.reason == "The caption is fine, and 2 answers made from it were wrong."


def test_where_one_answer_is_all_that_is_tried_the_reason_speaks_of_one():
    rejected = answered().verify(follows=False, fault="answer", attempts=1)
    tells(rejected.reason, "the answer", "wrong")


def test_where_neither_is_at_fault_it_is_rejected():
    assert answered().verify(follows=False, fault="neither").stage == "rejected"


def test_with_two_verifiers_one_yes_is_not_enough_and_a_tie_asks_a_third():
    story = answered()
    assert story.verify("a", verifiers=2).stage == "verify"
    assert story.verify("b", follows=False, fault="answer", verifiers=2).stage == "verify"
    assert story.verify("c", verifiers=2).stage == "accepted"


def test_where_as_many_blame_the_caption_as_the_answer_the_caption_is_mended_first():
    story = answered()
    story.verify("a", follows=False, fault="answer", verifiers=2)
    assert story.verify("b", follows=False, fault="caption", verifiers=2).stage == "caption"


def test_a_flag_stops_it_until_the_owner_clears_it():
    story = answered()
    assert story.verify(offensive=True).stage == "flagged"
    assert story.say("owner", Joined(version=1, item="i")).stage == "flagged"
    assert story.say("owner", Word(word="cleared")).stage == "accepted"


def test_a_clearing_holds_for_the_marks_that_were_there():
    story = answered()
    story.verify("a", offensive=True, verifiers=2)
    assert story.say("owner", Word(word="cleared")).stage == "verify"
    assert story.verify("a", offensive=True, follows=False, fault="answer", verifiers=2).stage == "verify"  # as before
    assert story.verify("b", offensive=True, verifiers=2).stage == "flagged"
    assert story.say("owner", Word(word="cleared")).stage == "verify"  # one yes, one no
    assert story.verify("c", verifiers=2).stage == "accepted"
    assert story.verify("d", offensive=True, verifiers=2).stage == "flagged"  # even after it was accepted
    assert story.say("owner", Joined(version=1, item="i")).stage == "flagged"
    assert story.verify("d", verifiers=2).stage == "accepted"  # taken back
    assert story.verify("b", verifiers=2).stage == "accepted"
    assert story.verify("b", offensive=True, verifiers=2).stage == "flagged"  # marked anew


def test_another_answer_is_judged_afresh_whatever_was_cleared_before():
    story = answered()
    story.verify("a", offensive=True, follows=False, fault="answer")
    assert story.say("owner", Word(word="cleared")).stage == "answer"
    story.answer("Three.")
    assert story.verify("a", offensive=True).stage == "flagged"


def test_one_person_counts_once_with_what_they_said_last():
    story = answered()
    story.verify("a", verifiers=2)
    assert story.verify("a", verifiers=2).stage == "verify"
    assert story.verify("a", verifiers=2, follows=False, fault="neither").stage == "verify"
    assert len(story.now.opinions) == 1


def test_a_change_of_the_rules_leaves_what_was_decided():
    story = answered()
    story.verify(follows=False, fault="caption", verifiers=1)
    story.caption(OTHER)
    story.answer()
    assert story.verify("a", verifiers=3).stage == "verify"  # today's rule for today's opinion
    caption = story.now.caption
    assert caption
    assert caption.by == OTHER  # and the first caption stays overruled by one voice


def test_an_opinion_that_comes_after_acceptance_still_counts():
    story = answered()
    assert story.verify("a").stage == "accepted"
    assert story.verify("b", follows=False, fault="answer").stage == "verify"
    assert story.verify("c", follows=False, fault="answer").stage == "answer"


def test_words_about_what_was_superseded_count_for_nothing():
    story = Story()
    story.write()
    story.write(text="How many dots?")
    before = story.now
    assert story.say(CAPTIONER, Caption(about=1, text="Old.")) == before
    story.caption()
    first = story.last
    story.caption(text="Two dots!")
    before = story.now
    assert story.say(None, Answer(about=first, attempt=1, text="t", model="m", call="k")) == before
    assert story.say(None, AnswerFailed(about=first, attempt=1, detail="d", final=True)) == before


def test_what_others_built_on_is_not_changed_any_more():
    story = Story()
    story.write()
    assert may_write_again(story.now, WRITER)
    assert not may_write_again(story.now, OTHER)
    story.caption()
    before = story.now
    assert not may_write_again(before, WRITER)
    assert story.write(text="Other?") == before
    assert story.say(WRITER, Word(word="withdrawn")) == before


def test_a_writer_withdraws_and_nobody_else_does():
    story = Story()
    story.write()
    assert story.say(OTHER, Word(word="withdrawn")).stage == "caption"
    assert story.say(WRITER, Word(word="withdrawn")).stage == "withdrawn"
    assert story.say("owner", Word(word="rejected", reason="r")).stage == "withdrawn"


def test_the_owner_opens_a_rejected_one_again_where_it_stood():
    story = Story()
    story.write()
    story.say("owner", Word(word="rejected", reason="A duplicate."))
    assert story.now.reason == "A duplicate."
    assert story.say("owner", Word(word="again")).stage == "caption"
    assert story.now.reason == ""
    story.caption()
    story.answer()
    story.verify(follows=False, fault="neither")
    assert story.say("owner", Word(word="again")).stage == "answer"
    assert story.now.attempt == 2  # another request: the same one would be answered from the record


def test_nobody_captions_or_verifies_their_own_work_unless_the_owner_allows_it():
    story = Story()
    story.write()
    strict, alone = Rules(), Rules(alone=True)
    assert not may_caption(story.now, WRITER, strict)
    assert may_caption(story.now, WRITER, alone)
    assert may_caption(story.now, OTHER, strict)
    story.caption()
    assert not may_caption(story.now, OTHER, alone)
    assert may_caption(story.now, CAPTIONER, strict)  # may still change it
    assert not may_verify(story.now, OTHER, alone)
    story.answer()
    for person in (WRITER, CAPTIONER):
        assert not may_verify(story.now, person, strict)
        assert may_verify(story.now, person, alone)
    assert may_verify(story.now, VERIFIER, strict)
    story.verify()
    assert not may_caption(story.now, CAPTIONER, strict)


def test_the_same_form_sent_twice_says_nothing_new():
    story = Story()
    story.write()
    asked = story.now.asked
    assert said_already(story.now, story.events, WRITER, asked)
    assert not said_already(story.now, story.events, OTHER, asked)
    assert not said_already(story.now, story.events, WRITER, replace(asked, text="Else?"))
    story.caption()
    again = Caption(about=1, text="Two dots.")
    assert said_already(story.now, story.events, CAPTIONER, again)
    assert not said_already(story.now, story.events, OTHER, again)
    story.answer()
    story.verify()
    said = Verification(about=story.now.answer_seq, follows=True)
    assert said_already(story.now, story.events, VERIFIER, said)
    assert not said_already(story.now, story.events, VERIFIER, replace(said, offensive=True))
    story.verify("b", follows=False, fault="caption")
    story.verify("c", follows=False, fault="caption")
    assert story.now.stage == "caption"
    assert not said_already(
        story.now, story.events, CAPTIONER, again
    )  # it was found too thin: the same again is said anew
    assert not said_already(story.now, story.events, "owner", Word(word="again"))


def test_a_failure_is_tried_again_later_each_time_and_then_waits_for_the_owner():
    story = Story()
    story.write()
    story.caption()
    assert next_try(story.now) == 0.0
    waits: list[float | None] = []
    for number in range(TRIES):
        story.no_answer(at=1000.0 * number)
        waits.append(next_try(story.now))
    assert waits == [FIRST_WAIT, 1000 + 5 * FIRST_WAIT, 2000 + 25 * FIRST_WAIT, None]
    assert next_try(story.say("owner", Word(word="again"))) == 0.0
    assert story.now.attempt == 1


def test_a_refusal_is_not_tried_again_by_itself_and_the_next_try_is_another_request():
    story = Story()
    story.write()
    story.caption()
    assert next_try(story.no_answer(final=True)) is None
    assert story.say("owner", Word(word="again")).attempt == 2


PEOPLE = ("a", "b", "c", "d")
rules_drawn = st.builds(Rules, alone=st.booleans(), verifiers=st.integers(1, 3), attempts=st.integers(1, 3))


@st.composite
def histories(draw: st.DrawFn) -> tuple[Rules, list[ProposalEvent]]:
    """Events that people were allowed to bring about, in any order that the pages let happen."""
    rules = draw(rules_drawn)
    events: list[ProposalEvent] = []
    for seq in range(1, draw(st.integers(1, 25)) + 1):
        now = standing(events)
        person = draw(st.sampled_from(PEOPLE))
        said = _offered(draw, now, person, rules)
        if said is not None:
            by = None if isinstance(said, Answer | AnswerFailed | ImageCame | ImageFailed) else person
            events.append(Event(seq=seq, at=float(seq), person=by, said=said))
    return rules, events


def _offered(draw: st.DrawFn, now: ProposalState | None, person: str, rules: Rules) -> Said | None:
    if now is None or (may_write_again(now, person) and draw(st.booleans())):
        image = draw(st.sampled_from([None, "ab"]))
        url = "https://x.example" if image is None else None
        return Instruction(skill="s", text=draw(st.sampled_from("xyz")), licence="l", image=image, url=url)
    offers: list[Said] = [Word(word="rejected", reason="r"), Word(word="again"), Word(word="cleared")]
    offers.append(Word(word="removed", reason="asked for"))
    offers.append(Joined(version=1, item="i"))
    offers += [ImageCame(about=now.instruction.seq, digest="cd")] * 6
    offers.append(ImageFailed(about=now.instruction.seq, detail="d", final=draw(st.booleans())))
    if may_caption(now, person, rules):
        offers += [Caption(about=now.instruction.seq, text=draw(st.sampled_from("pqr")))] * 6
    if now.caption is not None:
        about, attempt = now.caption.seq, now.attempt
        offers += [Answer(about=about, attempt=attempt, text="t", model="m", call="k")] * 6
        offers.append(AnswerFailed(about=about, attempt=attempt, detail="d", final=draw(st.booleans())))
    if may_verify(now, person, rules):
        follows = draw(st.booleans())
        faults: tuple[CaptionOrAnswer, ...] = ("answer", "caption", "neither")
        fault = None if follows else draw(st.sampled_from(faults))
        offers += [
            Verification(
                about=now.answer_seq,
                follows=follows,
                fault=fault,
                offensive=draw(st.integers(0, 9)) == 0,
                verifiers=rules.verifiers,
                attempts=rules.attempts,
            )
        ] * 9
    return draw(st.sampled_from(offers))


@given(histories())
def test_what_is_accepted_was_verified_by_enough_people_and_none_of_its_makers(
    drawn: tuple[Rules, Sequence[ProposalEvent]],
):
    rules, events = drawn
    now = standing(events)
    if now is None or now.stage not in ("accepted", "joined"):
        return
    yes = [one.by for one in now.opinions if one.verification.follows]
    no = [one.by for one in now.opinions if not one.verification.follows]
    assert len(yes) > len(no)
    assert len(yes) + len(no) >= rules.verifiers
    assert len({*yes, *no}) == len(yes) + len(no)
    assert {one.by for one in now.opinions if one.verification.offensive} == now.cleared
    assert now.caption is not None
    if not rules.alone:
        assert now.caption.by != now.instruction.by
        assert not {now.caption.by, now.instruction.by} & {*yes, *no}


@given(histories())
def test_each_stage_has_what_it_is_built_on(drawn: tuple[Rules, Sequence[ProposalEvent]]):
    now = standing(drawn[1])
    if now is None:
        return
    if now.stage not in ("image", "rejected", "withdrawn"):
        assert now.image
    if now.stage in ("answer", "verify", "flagged", "accepted", "joined"):
        assert now.caption
    if now.stage in ("verify", "flagged", "accepted", "joined"):
        assert now.answer
        assert now.caption
        assert (now.answer.about, now.answer.attempt) == (now.caption.seq, now.attempt)
    assert now.stage in ("rejected", "removed") or not now.reason


@given(histories(), histories())
def test_what_has_joined_stays_until_the_owner_takes_it_out_and_then_stays_out(
    first: tuple[Rules, Sequence[ProposalEvent]], second: tuple[Rules, Sequence[ProposalEvent]]
):
    now = standing(first[1])
    if now is None or now.stage != "joined":
        return
    out = replace(now, stage="removed", reason="asked for")
    for event in second[1]:
        taken = isinstance(event.said, Word) and event.said.word == "removed"
        assert after(now, event) == (out if taken else now)
        assert after(out, event) == out


@given(histories(), st.randoms())
def test_events_in_any_order_are_read_without_an_error(drawn: tuple[Rules, list[ProposalEvent]], lots: object):
    events = list(drawn[1])
    getattr(lots, "shuffle")(events)  # noqa: B009
    found = standing(events)
    assert found is None or found.stage


@given(histories())
def test_the_last_opinion_of_each_person_is_kept_for_every_answer(drawn: tuple[Rules, Sequence[ProposalEvent]]):
    found = last_opinions(drawn[1])
    said = [(event.said.about, event.person) for event in drawn[1] if isinstance(event.said, Verification)]
    assert {(about, person) for about, by in found.items() for person in by} == set(said)
    now = standing(drawn[1])
    if now is not None and now.opinions:
        assert {one.by: one.verification for one in now.opinions} == found[now.answer_seq]


@pytest.mark.parametrize("word", ["cleared", "again", "removed"])
def test_an_owners_word_where_it_means_nothing_changes_nothing(word: str):
    story = answered()
    before = story.now
    assert story.say("owner", Word(word=word)) == before  # pyright: ignore[reportArgumentType]


def test_several_images_come_one_by_one_each_into_its_place():
    story = Story()
    story.write(image=None, pictures=("https://x.example/a", "ab", "https://x.example/b"))
    about = story.now.instruction.seq
    assert story.now.stage == "image"
    assert story.say(None, ImageCame(about=about, digest="second", place=1)) == story.now  # it was uploaded
    story.say(None, ImageFailed(about=about, detail="gone", final=True, place=0))
    assert next_try(story.now) is None
    story.say(None, ImageCame(about=about, digest="cd", place=2))
    assert (story.now.stage, story.now.fetched) == ("image", (None, "ab", "cd"))
    assert len(story.now.failures) == 1  # of the first, which is still missing
    story.say(None, ImageCame(about=about, digest="ef", place=0))
    assert (story.now.stage, story.now.images, story.now.failures) == ("caption", ("ef", "ab", "cd"), ())


ROW = Instruction(skill="s", text="", licence="CC0", image="ab", round=0, source="Dots", instance="1")


def test_a_row_that_was_taken_in_waits_for_what_it_lacks():
    asked = replace(ROW, text="How many?")
    captioned = replace(asked, captions=("Two dots.",))
    rows = (ROW, asked, captioned, replace(captioned, image=None, url="https://x.example/a"))
    stages = [Story().say(None, row).stage for row in rows]
    assert stages == ["instruct", "caption", "answer", "image"]


def test_without_a_source_nobody_but_a_person_writes():
    said = Instruction(skill="s", text="How many?", licence="CC0", image="ab")
    assert standing([Event(seq=1, at=0.0, person=None, said=said)]) is None


def test_a_captioned_row_that_is_opened_again_before_its_image_came_waits_for_the_image():
    story = Story()
    address = "https://x.example/a"
    story.say(None, replace(ROW, text="How many?", image=None, url=address, captions=("Two dots.",)))
    story.say("owner", Word(word="rejected", reason="Why?"))
    assert story.say("owner", Word(word="again")).stage == "image"
