"""Claims about what a growing benchmark asks of one person: told one by one or counted, it is the same."""

from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.event import Event
from evenhand.site.living.cache import KnownProposals
from evenhand.site.living.events import Answer, Caption, Instruction, Rules, Said, Verification, Word
from evenhand.site.living.following import may_caption, may_verify
from evenhand.site.living.growth import Assignments, Step, step_skip
from evenhand.site.living.settings import Example, GrowingBenchmark, LivingTerms, Skill

PEOPLE = ("a", "b", "c")
IDS = ("p1", "p2", "p3", "p4")
STEPS: tuple[Step, ...] = ("caption", "verify")

moves = st.lists(
    st.tuples(
        st.sampled_from(IDS), st.sampled_from(PEOPLE), st.sampled_from(("on", "on", "on", "no", "again", "rejected"))
    ),
    max_size=40,
)


def growing(*, alone: bool, verifiers: int = 1) -> GrowingBenchmark:
    skill = Skill(name="counting", example=Example(instruction="i", output="o"))
    terms = LivingTerms(skills=(skill,), rules=Rules(alone=alone, verifiers=verifiers))
    return GrowingBenchmark(id="g", name="garden", licence="CC0", base=None, at=0.0, terms=terms)


def played(wanted: list[tuple[str, str, str]], verifiers: int) -> KnownProposals:
    """Each move takes a proposal one step on, or back."""
    known = KnownProposals()
    for seq, (one, person, move) in enumerate(wanted, start=1):
        said = next_said(known, one, move, verifiers)
        by = None if isinstance(said, Answer) else person
        known = known.after([(one, Event(seq=seq, at=0.0, person=by, said=said))])
    return known


def next_said(known: KnownProposals, one: str, move: str, verifiers: int) -> Said:
    found = known.found.get(one)
    if found is None:
        return Instruction(skill="counting", text="How many?", licence="CC0", image="d")
    stands = found.standing
    if move in ("again", "rejected"):
        return Word(word="again" if move == "again" else "rejected")
    if stands.stage == "caption":
        return Caption(about=stands.instruction.seq, text="Two dots.")
    if stands.stage == "answer":
        assert stands.caption is not None
        return Answer(about=stands.caption.seq, attempt=stands.attempt, text="2", model="m", call="k")
    follows = move == "on"
    fault = None if follows else "caption"
    return Verification(about=stands.answer_seq, follows=follows, fault=fault, verifiers=verifiers)


def offered(asked: Assignments, step: Step) -> list[str]:
    """All proposals looked through, one after the other."""
    rules, person = asked.growing.terms.rules, asked.person
    return [
        one.id
        for one in asked.known.proposals
        if one.standing.stage == step
        and step_skip("g", step, one.id) not in asked.passed
        and (
            may_caption(one.standing, person, rules)
            if step == "caption"
            else may_verify(one.standing, person, rules) and one.standing.opinion_of(person) is None
        )
    ]


@given(
    moves,
    st.sampled_from(PEOPLE),
    st.booleans(),
    st.integers(1, 3),
    st.sets(st.tuples(st.sampled_from(STEPS), st.sampled_from((*IDS, "gone")))),
)
def test_what_waits_is_counted_as_it_is_told(
    wanted: list[tuple[str, str, str]], person: str, alone: bool, verifiers: int, skips: set[tuple[Step, str]]
):
    passed = frozenset(step_skip("g", *skip) for skip in skips) | {"caption elsewhere p1"}
    asked = Assignments(
        growing=growing(alone=alone, verifiers=verifiers),
        person=person,
        known=played(wanted, verifiers),
        passed=passed,
        writing=(),
    )
    for step in STEPS:
        told = [one.id for one in asked.waiting(step)]
        assert told == offered(asked, step)
        assert len(asked.waiting(step)) == len(told)
        assert all(one in asked.waiting(step) for one in asked.waiting(step))


def test_nothing_of_ones_own_waits_and_what_was_skipped_is_not_counted():
    known = played([("p1", "a", "on"), ("p2", "b", "on"), ("p3", "c", "on")], 1)
    asked = Assignments(
        growing=growing(alone=False),
        person="a",
        known=known,
        passed=frozenset({step_skip("g", "caption", "p3")}),
        writing=(),
    )
    assert [one.id for one in asked.caption] == ["p2"]
    assert len(asked.caption) == 1
    assert not asked.verify
    assert asked.passed_over == {"caption"}
    assert known.found["p1"] not in asked.caption
