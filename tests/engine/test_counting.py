"""What several processes have done is counted once, whatever they say of it, in whatever order, twice or never."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.engine.run.counting import counted_up, seen_so_far
from evenhand.engine.run.crew import Message, Standing, told
from evenhand.engine.run.leading import Leader, Member
from evenhand.engine.run.tally import Tally
from tests.examples import examples

HELPERS = (1, 2, 3)


@dataclass(frozen=True, kw_only=True)
class Thing:
    """One that was planned, and what became of it."""

    by: int | str
    """"before", "other", "nobody", "failed", or the number of the process that asked it: 0 leads."""
    why: str
    """There is no decision."""
    at_hand: bool
    """Read from a reply that was on record."""
    failed_first: bool
    """Where who leads had asked it, before a helper did."""
    come_to: bool
    """By who leads."""


THINGS = st.lists(
    st.builds(
        Thing,
        by=st.sampled_from(["before", "other", "nobody", "failed", 0, *HELPERS]),
        why=st.sampled_from(["", "", "unreadable", "truncated"]),
        at_hand=st.booleans(),
        failed_first=st.booleans(),
        come_to=st.booleans(),
    ),
    max_size=30,
)


def own_of(things: Sequence[Thing], process: int) -> Tally:
    """What a process has counted of what it asked."""
    tally = Tally()
    for one in things:
        if one.by == process:
            tally.known += one.at_hand
            tally.reread += one.at_hand
            tally.called += not one.at_hand
            tally.requests += not one.at_hand
            tally.verdicts += not one.why
            tally.no_verdict.update([one.why] if one.why else [])
    return tally


def leading(things: Sequence[Thing], *, whole: bool) -> Tally:
    tally = own_of(things, 0)
    tally.planned = len(things)
    # Else it is not looked which of its failures a helper has had answered since.
    all_asked = whole and not any(one.by == "nobody" for one in things)
    for one in things:
        come_to = whole or one.come_to
        if one.by == "failed" or (one.by in HELPERS and one.failed_first and all_asked):
            tally.called += 1
            tally.failed["timeout"] += 1
        elif come_to and one.by in ("before", "other", *HELPERS):
            tally.known += 1
            tally.meanwhile += one.by == "other"
            tally.by_crew += one.by in HELPERS
    return tally


def heard_of(said: Sequence[Message]) -> list[Tally]:
    async def nobody() -> None: ...

    leader = Leader(begun=lambda: None, dismiss=nobody)
    members: dict[int, Member] = {}
    for message in said:
        member = members.setdefault(message["from"], leader.joined(lambda _: None))
        member.hears(message)
    return [one.reports["job"] for one in members.values() if "job" in one.reports]


def messages(things: Sequence[Thing], process: int) -> list[Message]:
    """All that it says: how it stands again and again, and how it ended."""
    mine = [one for one in things if one.by == process]
    stages = [own_of(mine[:number], process) for number in range(len(mine) + 1)]
    why = {"error": None, "error_code": None, "error_kind": None, "overrun": ""}
    done = [{"kind": "done", "job": "job", "from": process, "tally": told(tally)} for tally in stages]
    return [*done, {**done[-1], "kind": "ended", **why}]


def standing(things: Sequence[Thing], *, whole: bool, died: bool) -> Standing:
    ours = [one for one in things if one.by in (0, *HELPERS)]
    decided = sum(one.by not in ("nobody", "failed") for one in things)
    return Standing(
        results=Counter(one.why for one in ours),
        reread=sum(one.at_hand for one in ours) if died else None,
        decided=None if whole else decided,
    )


@given(things=THINGS, whole=st.booleans(), died=st.booleans(), data=st.data())
@settings(max_examples=examples(400), deadline=None)
def test_at_the_end_the_record_is_told_whatever_helpers_said(
    things: list[Thing], whole: bool, died: bool, data: st.DataObject
) -> None:
    """Messages come doubled and in any order; of a process that died, some never."""
    every = [message for process in HELPERS for message in messages(things, process)]
    said = data.draw(st.permutations(every + data.draw(st.lists(st.sampled_from(every), max_size=9))))
    said = [one for one in said if not died or data.draw(st.booleans())]
    now = counted_up(leading(things, whole=whole), heard_of(said), standing(things, whole=whole, died=died))

    by = Counter(one.by for one in things)
    ours = [one for one in things if one.by in (0, *HELPERS)]
    reread = sum(one.at_hand for one in ours)
    assert now.reread == reread
    assert now.called == len(ours) - reread + by["failed"]
    assert now.known == by["before"] + by["other"] + reread
    assert now.verdicts == sum(not one.why for one in ours)
    assert now.no_verdict == Counter(one.why for one in ours if one.why)
    assert now.failed == Counter({"timeout": by["failed"]} if by["failed"] else {})
    assert (now.planned, now.not_reached) == (len(things), by["nobody"])
    assert 0 <= now.meanwhile <= by["other"]
    assert now.meanwhile == by["other"] or not whole
    if not died:
        assert now.requests == sum(not one.at_hand for one in ours)


def test_of_answers_what_other_runs_asked_meanwhile_is_told_apart_from_what_was_known_and_what_was_asked() -> None:
    """The record does not say who wrote an answer down, so other runs' are among the results."""
    tally = Tally(planned=200, known=110, meanwhile=60, called=90, requests=90, verdicts=150)
    now = counted_up(tally, [], Standing(results=Counter({"": 150}), reread=60, decided=200, of_everyone=True))
    assert (now.known, now.meanwhile, now.reread, now.called, now.not_reached) == (110, 60, 0, 90, 0)


@given(things=THINGS, whole=st.booleans(), data=st.data())
@settings(max_examples=examples(400), deadline=None)
def test_while_it_goes_on_no_more_is_told_than_was_done_and_no_less_than_who_leads_has_come_to(
    things: list[Thing], whole: bool, data: st.DataObject
) -> None:
    every = [message for process in HELPERS for message in messages(things, process)]
    said = data.draw(st.lists(st.sampled_from(every), max_size=40))
    tally = leading(things, whole=whole)
    by = Counter(one.by for one in things)
    now = seen_so_far(tally, heard_of(said), others=data.draw(st.integers(0, by["other"])))
    assert tally.done <= now.done <= now.planned == len(things)
    if not any(one.failed_first for one in things):
        assert now.done <= len(things) - by["nobody"]


def test_what_helpers_say_counts_before_who_leads_comes_to_it() -> None:
    tally = Tally(planned=90, known=5 + 3, by_crew=3, called=20, verdicts=20)
    helper = Tally(called=30, verdicts=29, known=2, reread=2)
    helper.failed["timeout"] += 1
    now = seen_so_far(tally, [helper], others=7)
    assert (now.called, now.known, now.done) == (20 + 31, 5 + 7, 63)


def test_what_a_helper_had_answered_that_failed_for_who_leads_is_never_told_beyond_what_is_planned() -> None:
    tally = Tally(planned=2, known=1, called=1)
    tally.failed["timeout"] += 1
    now = seen_so_far(tally, [Tally(called=1, verdicts=1)], others=1)
    assert (now.done, now.planned) == (2, 2)
