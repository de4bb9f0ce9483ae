"""A judge who picks among options: every rotation is asked, over real HTTP, and the record gives the score."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import factorial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.benchmarks.options.option_set import OptionSet
from evenhand.domain.errors import Misuse
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.trial import Readout
from evenhand.engine.run.plan import Retrying
from evenhand.engine.tasks.grading import (
    Grading,
    PreparedGrade,
    drawn_option,
    most_options,
    prepare_grade,
    third_showings,
)
from evenhand.engine.tasks.judging import Showing
from evenhand.ledger.read.choices import choices, keep_options
from evenhand.ledger.read.projection import studies
from evenhand.protocols.catalog import load_protocol
from evenhand.stats.reliability.grade_score.orders import orders_of
from evenhand.stats.reliability.grade_score.score import GradeScore, grade_score
from tests.engine.studies import Bench, bench
from tests.refusals import refused
from tests.scripted_server import Body, Script


def made(number: int, options: int) -> OptionSet:
    item = Item(label=str(number), instruction=f"How many legs have {number} ants?")
    texts = [f"They have {'very ' * (1 + (one + number) % options)}many legs ({one})." for one in range(options)]
    return OptionSet(
        item=item,
        options=tuple(Response(item=item.digest, model=f"output {one}", text=text) for one, text in enumerate(texts)),
    )


ROWS = [made(number, 2 + number % 4) for number in range(8)]


def prepared(
    rows: Sequence[OptionSet],
    grading: Grading | None = None,
    *,
    prompt: int = 1,
    readout: Readout = "free",
    pool: Sequence[OptionSet] | None = None,
) -> PreparedGrade:
    protocol = load_protocol(f"option_selection_{prompt}")
    items = tuple(one.item for one in rows)
    return prepare_grade(
        Benchmark(name="ants", items=items, licence="CC0-1.0", citation="", protocols=()),
        rows,
        pool=pool or rows,
        judge=Rater(kind="model", name="openai/gpt-4o", endpoint="scripted", settings=protocol.settings),
        model="gpt-4o",
        showing=Showing(protocol=protocol, readout=readout),
        grading=grading or Grading(),
    )


async def graded(here: Bench, study: PreparedGrade) -> GradeScore:
    keep_options(here.ledger, list(study.asking.responses.values()))
    await here.run(study)
    return grade_score(study.option_rows(study.choices(here.ledger)))


@given(options=st.integers(2, 12), unrelated=st.booleans(), replicates=st.integers(1, 3))
def test_every_option_is_shown_in_every_place_exactly_once(options: int, unrelated: bool, replicates: int):
    study = prepared([made(1, options), made(2, 3)], Grading(unrelated=unrelated, replicates=replicates))
    trials = [trial for trial in study.trials() if trial.item == study.rows[0].item.digest]
    shown = options + unrelated
    assert len(trials) == shown * replicates
    assert len({trial.key for trial in trials}) == len(trials)
    for place in range(shown):
        at_place = [trial.responses[place] for trial in trials if trial.replicate == 0]
        assert sorted(at_place) == sorted(option.digest for option in study.rows[0].options)
    assert study.wanted == len(list(study.trials()))


def test_the_unrelated_option_has_the_last_number_and_stands_first_in_the_base_order():
    study = prepared(ROWS, Grading(unrelated=True, seed=3))
    for row, own in zip(study.rows, ROWS, strict=True):
        *others, unrelated = row.options
        assert tuple(others) == own.options
        source = next(one for one in ROWS for option in one.options if option.digest == unrelated.made_from)
        assert source.item.instruction != row.item.instruction
        assert unrelated.text not in {option.text for option in own.options}
        base = [trial for trial in study.trials() if trial.item == row.item.digest][-1]
        assert base.responses == (unrelated.digest, *(option.digest for option in own.options))


def test_the_draw_hangs_on_seed_and_row_and_not_on_how_many_rows_are_asked():
    pool = sorted(ROWS, key=lambda one: one.item.digest)
    every = [drawn_option(row, pool, seed=0)[0] for row in ROWS]
    assert [drawn_option(row, pool, seed=0)[0] for row in ROWS[:3]] == every[:3]
    assert [drawn_option(row, pool, seed=1)[0] for row in ROWS] != every
    few = prepared(ROWS[:3], Grading(unrelated=True), pool=pool)
    whole = prepared(ROWS, Grading(unrelated=True), pool=pool)
    assert {trial.key for trial in few.trials()} < {trial.key for trial in whole.trials()}


def test_a_row_that_repeats_the_prompt_gives_no_unrelated_option():
    row = ROWS[0]
    twin = OptionSet(
        item=row.item, options=(Response(item=row.item.digest, model="output 0", text="None of them walks."),)
    )
    for seed in range(20):
        (found,) = drawn_option(row, [row, twin, ROWS[1]], seed=seed)
        assert found.made_from in {option.digest for option in ROWS[1].options}


def test_seeds_draw_rows_and_options_alike():
    found = {drawn_option(ROWS[0], ROWS, seed=seed)[0].made_from for seed in range(60)}
    rows = [row for row in ROWS if {option.digest for option in row.options} & found]
    assert len(rows) > 3  # those whose words are not the row's own
    assert len(found) > len(rows)


def test_without_another_prompt_there_is_no_unrelated_option():
    with refused(Misuse, code="EH-UNRELATED-MISSING"):
        prepared(ROWS[:1], Grading(unrelated=True))


def test_nothing_to_grade_is_refused():
    with pytest.raises(Misuse, match="nothing to grade"):
        prepared([], pool=ROWS)


def test_a_protocol_for_pairs_is_refused():
    protocol = load_protocol("visit_pairwise")
    with refused(Misuse, "visit_pairwise", "choice", "responses", code="EH-PROTOCOL-UNFIT"):
        prepare_grade(
            Benchmark(name="ants", items=(), licence="", citation="", protocols=()),
            ROWS,
            pool=ROWS,
            judge=Rater(kind="model", name="x"),
            model="x",
            showing=Showing(protocol=protocol),
            grading=Grading(),
        )


def test_constrained_readout_can_show_nine_options_and_free_readout_any_number():
    protocol = load_protocol("option_selection")
    assert most_options(protocol, "constrained") == 9
    assert most_options(protocol, "free") is None


@pytest.mark.parametrize("readout", ["free", "constrained"])
async def test_a_judge_who_follows_position_scores_zero(tmp_path: Path, readout: Readout):
    async with bench(tmp_path, Script(judge="picks-first")) as here:
        score = await graded(here, prepared(ROWS, readout=readout))
    assert score.trials_read == score.trials == sum(len(row.options) for row in ROWS)
    assert score.grade_score.value == 0
    assert score.places.shares[0] == 1


@pytest.mark.parametrize("readout", ["free", "constrained"])
async def test_a_judge_who_follows_content_scores_one(tmp_path: Path, readout: Readout):
    async with bench(tmp_path, Script(judge="picks-longest")) as here:
        score = await graded(here, prepared(ROWS, readout=readout))
        study = prepared(ROWS, Grading(unrelated=True), readout=readout)
        with_unrelated = await graded(here, study)
    assert score.grade_score.value == with_unrelated.grade_score.value == 1
    longest = {row.item.label: max(row.options, key=lambda option: len(option.text)).model for row in ROWS}
    for row in score.rows.rows:
        assert {f"output {option}" for option in row.selected_options} == {longest[row.item]}


async def test_the_judge_is_shown_the_options_in_order_under_the_papers_words(tmp_path: Path):
    async with bench(tmp_path, Script(judge="picks-first")) as here:
        await graded(here, prepared(ROWS[:1], prompt=4))
        bodies = [seen.body for seen in here.server.requests]
    assert {body["temperature"] for body in bodies} == {0.3}
    assert all("Assign each Option a grade from [0, 5]" in body["messages"][0]["content"] for body in bodies)
    first, second = (option.text for option in ROWS[0].options)
    asked = {body["messages"][1]["content"].partition("[\\User Instruction]\n\n")[2] for body in bodies}
    assert asked == {f"Option 1\n{first}\n\nOption 2\n{second}", f"Option 1\n{second}\n\nOption 2\n{first}"}


async def test_what_is_known_is_never_asked_again_and_more_rows_ask_only_the_new_ones(tmp_path: Path):
    async with bench(tmp_path, Script(judge="picks-longest")) as here:
        await graded(here, prepared(ROWS[:4], pool=ROWS))
        before = here.server.attempts.total()
        await graded(here, prepared(ROWS[:4], pool=ROWS))
        assert here.server.attempts.total() == before
        score = await graded(here, prepared(ROWS))
        assert here.server.stats()["repeats"] == 0
    assert score.trials_read == sum(len(row.options) for row in ROWS)


async def test_a_grade_never_enters_a_board(tmp_path: Path):
    async with bench(tmp_path, Script(judge="picks-longest")) as here:
        study = prepared(ROWS[:2])
        await graded(here, study)
        assert studies(here.ledger) == []
        (found,) = studies(here.ledger, purposes=("grade",))
        assert (found.key, found.wanted, found.reached) == (study.study.key, study.wanted, study.wanted)
        assert here.ledger.responses_to([ROWS[0].item.digest]) == []


async def test_replies_without_a_choice_leave_their_row_without_a_score_and_are_counted_by_reason(tmp_path: Path):
    async with bench(tmp_path, Script(judge="picks-longest", faults={"refusal": 0.3}, seed=5)) as here:
        study = prepared(ROWS)
        score = await graded(here, study)
        coverage = study.coverage(choices(here.ledger, study.study.key))
    refused = coverage.reasons["refused"]
    assert 0 < refused < study.wanted
    assert coverage.with_verdict == score.trials_read == study.wanted - refused
    assert score.incomplete > 0
    assert score.grade_score.value == 1  # of the rows that were read whole
    assert score.lowest is not None
    assert score.lowest < 1 == score.highest


async def test_replicates_are_asked_apart_and_are_rows_apart(tmp_path: Path):
    async with bench(tmp_path, Script(judge="picks-at-random", keep=False)) as here:
        study = prepared(ROWS[:2], Grading(replicates=3))
        await graded(here, study)
        rows = study.option_rows(choices(here.ledger, study.study.key))
    assert [(row.item, row.replicate) for row in rows] == [(label, run) for run in range(3) for label in ("0", "1")]
    assert all(None not in row.selected_positions for row in rows)


async def test_a_reply_asked_for_again_counts_where_the_first_held_no_choice(tmp_path: Path):
    undecided = [True]

    def judge(_: object) -> str:
        return "I cannot choose." if undecided[0] else "Selection: Option 1"

    async with bench(tmp_path, Script(judge=judge)) as here:
        study = prepared(ROWS[:1])
        await graded(here, study)
        found = choices(here.ledger, study.study.key)
        assert study.coverage(found).reasons == {"unreadable": 2}
        undecided[0] = False
        await here.run(study, retrying=Retrying(reasons=frozenset({"unreadable"})))
        found = choices(here.ledger, study.study.key)
    assert study.coverage(found).with_verdict == 2
    assert study.option_rows(found)[0].selected_positions == (0, 0)


def tied_pair(tells: dict[str, str]) -> "Callable[[Body], str]":
    """Picks the first place whatever stands there, and of a row asked about a third time what `tells` names."""
    met = Counter[str]()

    def judge(body: Body) -> str:
        words = str(body["messages"][-1]["content"])
        met[words] += 1
        return tells.get("third", "Selection: Option 1") if met[words] > 1 else "Selection: Option 1"

    return judge


async def test_all_orders_are_asked_and_the_rotations_known_before_are_not_asked_again(tmp_path: Path):
    rows = [row for row in ROWS if len(row.options) == 3]
    async with bench(tmp_path, Script(judge="picks-longest")) as here:
        await graded(here, prepared(rows))
        study = prepared(rows, Grading(showings="all"))
        score = await graded(here, study)
        assert here.server.attempts.total() == study.wanted == 6 * len(rows)
    assert score.trials_read == study.wanted
    assert score.grade_score.value == score.above_chance.value == 1
    assert {row.orders for row in score.rows.rows} == {orders_of(3, showings="all")}


async def test_a_judge_who_follows_position_scores_zero_in_drawn_orders_with_an_unrelated_option(tmp_path: Path):
    async with bench(tmp_path, Script(judge="picks-first")) as here:
        study = prepared(ROWS, Grading(showings=7, unrelated=True, seed=3))
        score = await graded(here, study)
    assert score.trials == score.trials_read == sum(min(7, factorial(len(row.options) + 1)) for row in ROWS)
    assert score.grade_score.value == 0
    assert score.places.shares[0] == 1


def test_other_orders_make_another_study_and_the_rotations_the_same_as_ever():
    assert prepared(ROWS[:2]).study.key == "4d294efcd07f93c153722c01cfa76bb9cac4d73d5ca4981955485967827d12b5"
    keys = {prepared(ROWS[:2], Grading(showings=one)).study.key for one in ("rotations", "all", 4, 5)}
    assert len(keys) == 4


async def test_a_tied_row_is_shown_once_more_and_what_it_chooses_decides(tmp_path: Path):
    rows = [row for row in ROWS if len(row.options) == 2]
    async with bench(tmp_path, Script(judge=tied_pair({"third": "Selection: Option 2"}))) as here:
        study = prepared(rows, Grading(seed=1))
        await graded(here, study)
        third = third_showings(study, study.option_rows(study.choices(here.ledger)))
        assert third is not None
        assert third.chosen(third.choices(here.ledger)) == [None] * len(rows)
        await here.run(third)
        chosen = third.chosen(third.choices(here.ledger))
        await here.run(third)
        assert here.server.attempts.total() == 3 * len(rows)
        again = third_showings(study, study.option_rows(study.choices(here.ledger)))
    assert chosen == [one.order[1] for one in third.tied]
    assert [one.options for one in third.tied] == [(0, 1)] * len(rows)
    assert len({one.order for one in third.tied}) == 2 or len(rows) < 3
    assert again is not None
    assert again.study.key == third.study.key != study.study.key


async def test_rows_that_are_decided_or_not_read_whole_get_no_third_showing(tmp_path: Path):
    async with bench(tmp_path, Script(judge="picks-longest", faults={"refusal": 0.3}, seed=5)) as here:
        study = prepared(ROWS)
        await graded(here, study)
        assert third_showings(study, study.option_rows(study.choices(here.ledger))) is None


async def test_the_fourth_prompts_grades_are_on_record_with_the_choice(tmp_path: Path):
    def judge(body: Body) -> str:
        options = str(body["messages"][-1]["content"]).count("\nOption ")
        grades = "\n".join(f"Option {number}: {min(number, 5)}/5" for number in range(1, options + 1))
        return f"Grading:\n{grades}\n\nSelection: Option {min(options, 3)}\n\nExplanation: It is good."

    async with bench(tmp_path, Script(judge=judge)) as here:
        study = prepared(ROWS, prompt=4)
        await graded(here, study)
        found = study.choices(here.ledger)
        kept = [one for row in study.grades(found) for one in row]
        first = prepared(ROWS, prompt=1)
        await graded(here, first)
        without = first.choices(here.ledger)
    assert kept == [tuple(map(float, range(1, len(row.options) + 1))) for row in ROWS for _ in row.options]
    assert not any(any(row) for row in first.grades(without))
