"""A reply without a readable decision goes to an extractor, over a real ledger and a real server."""

import asyncio
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

import evenhand.protocols
from evenhand.api.judging import Terms, judge_async
from evenhand.benchmarks.answers.responses_file import read_responses
from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
from evenhand.domain.errors import Misuse
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext, Pacing
from evenhand.engine.run.plan import Retrying
from evenhand.engine.run.quote import DryRun, dry_run
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.session import Ended, run_study
from evenhand.engine.tasks.extraction import Extractor
from evenhand.engine.tasks.judging import Matching, PreparedStudy
from evenhand.ledger.store import rows, schema
from evenhand.models.endpoint import resolve
from evenhand.models.prices import Price
from evenhand.models.wire.openai import OpenAIWire
from evenhand.protocols.folder import protocol_from_folder
from tests.database import ledger_in
from tests.engine.studies import SECONDS, SWIFT, Bench, bench
from tests.protocols import fig18
from tests.refusals import refused
from tests.scripted_server import Canned, Script, ScriptedServer

SECOND = Preference(value=-1, levels=2)
UNDECIDED = "Both have merits."
ONE_AT_A_TIME = Pacing(max_connections=1, retry=SWIFT)


def extracts(body: dict[str, Any]) -> bool:
    return "FinalAnswerExtractionGPT" in str(body["messages"][0]["content"])


def judgements(it: Bench) -> list[Judgement]:
    table = schema.judgements
    with it.ledger.reading() as connection:
        return [rows.judgement_from(row) for row in connection.execute(select(table).order_by(table.c.seq))]


def asked(server: ScriptedServer) -> list[str]:
    return ["extraction" if extracts(seen.body) else "judgement" for seen in server.requests]


def says(text: str, *, finish: str = "stop") -> Canned:
    message = {"role": "assistant", "content": text}
    return Canned(
        body={
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1},
        }
    )


def first_as_in_figure_18(body: dict[str, Any]) -> str:
    """Undecided about picture 0; the paper's own words."""
    last = body["messages"][-1]["content"]
    if extracts(body):
        return fig18.STOP_SIGN_EXTRACTED if "stop sign" in last else fig18.COLONIES_EXTRACTED
    if "Picture 0:" in last:
        return fig18.STOP_SIGN
    return fig18.COLONIES if "Picture 1:" in last else "Overall, Response A is better."


async def test_a_judgement_refers_to_both_calls_where_there_were_two(tmp_path: Path) -> None:
    async with bench(tmp_path, Script(judge=first_as_in_figure_18)) as it:
        ended = await it.run(it.study(items=3, matching=Matching(orders="published")), pacing=ONE_AT_A_TIME)
        stop_sign, colonies, plain = judgements(it)
        assert stop_sign.verdict == SECOND
        assert isinstance(colonies.verdict, NoVerdict)
        assert colonies.verdict.reason == "unreadable"
        assert "Nor was one extracted: The decision 'unknown' was not among those offered." in colonies.verdict.detail
        assert plain.verdict == Preference(value=1, levels=2)
        assert [len(one.calls) for one in (stop_sign, colonies, plain)] == [2, 2, 1]
        found = it.ledger.find_calls(stop_sign.calls)
        texts = [found[key].reply.text for key in stop_sign.calls]
        assert texts == [fig18.STOP_SIGN, fig18.STOP_SIGN_EXTRACTED]
        assert (ended.tally.called, ended.tally.requests, ended.tally.verdicts) == (3, 5, 2)
        assert ended.tally.no_verdict == {"unreadable": 1}


async def test_a_second_run_asks_nothing_not_even_what_stayed_without_a_decision(tmp_path: Path) -> None:
    async with bench(tmp_path, Script(judge=first_as_in_figure_18)) as it:
        study = it.study(items=3)
        await it.run(study)
        before = len(it.server.requests)
        ended = await it.run(study)
        assert (ended.tally.known, ended.tally.called) == (6, 0)
        assert len(it.server.requests) == before


async def test_what_was_cut_or_refused_is_not_extracted(tmp_path: Path) -> None:
    cut = says("Response B is better", finish="length")
    refused = says("I cannot judge this.", finish="content_filter")
    async with bench(tmp_path, None, cut, refused) as it:
        ended = await it.run(it.study(items=1), pacing=ONE_AT_A_TIME)
        assert ended.tally.no_verdict == {"truncated": 1, "refused": 1}
        assert asked(it.server) == ["judgement", "judgement"]


@pytest.mark.parametrize(("extracted", "expected"), [("Final Answer: B", SECOND), ("Unknown", "refused")])
async def test_what_only_reads_like_a_refusal_is_extracted(tmp_path: Path, extracted: str, expected: object) -> None:
    async with bench(tmp_path, None, says("I'm sorry, I can't judge these."), says(extracted)) as it:
        await it.run(it.study(items=1, matching=Matching(orders="published")))
        (judgement,) = judgements(it)
        assert getattr(judgement.verdict, "reason", judgement.verdict) == expected
        assert asked(it.server) == ["judgement", "extraction"]


@pytest.mark.parametrize("finish", ["length", "content_filter"])
async def test_an_extraction_that_was_cut_or_refused_decides_nothing(tmp_path: Path, finish: str) -> None:
    async with bench(tmp_path, None, says(UNDECIDED), says("Final Answer: A", finish=finish)) as it:
        await it.run(it.study(items=1, matching=Matching(orders="published")))
        (judgement,) = judgements(it)
        assert isinstance(judgement.verdict, NoVerdict)
        assert judgement.verdict.reason == "unreadable"
        assert len(judgement.calls) == 2


async def test_an_extractor_that_does_not_say_how_it_ended_is_read(tmp_path: Path) -> None:
    async with bench(tmp_path, None, says(UNDECIDED), says("Final Answer: B", finish="unheard-of")) as it:
        await it.run(it.study(items=1, matching=Matching(orders="published")))
        assert [one.verdict for one in judgements(it)] == [SECOND]


async def test_a_failed_extraction_is_asked_again_and_the_judge_is_not_paid_again(tmp_path: Path) -> None:
    broken = Canned(status=400, body={"error": {"message": "No."}})
    async with bench(tmp_path, None, says(UNDECIDED), broken) as it:
        study = it.study(items=1, matching=Matching(orders="published"))
        ended = await it.run(study)
        assert ended.tally.failed == {"api-error": 1}
        assert judgements(it)[0].calls == ()
        quoted = dry(it, study)
        assert (quoted.known, quoted.calls, quoted.calls_at_most) == (0, 1, 1)
        it.server.then(says("Final Answer: B"))
        ended = await it.run(study, retrying=Retrying(only_failed=True))
        assert (ended.tally.called, ended.tally.verdicts, ended.tally.requests) == (1, 1, 1)
        assert asked(it.server) == ["judgement", "extraction", "extraction"]
        assert judgements(it)[-1].verdict == SECOND
        assert len(judgements(it)[-1].calls) == 2


async def test_after_an_interrupt_the_judges_reply_is_kept_and_no_second_call_is_sent(tmp_path: Path) -> None:
    stop = StopSign()
    async with bench(tmp_path, Script(judge=lambda _: UNDECIDED, held=True)) as it:
        study = it.study(items=1, matching=Matching(orders="published"))
        running = asyncio.create_task(it.run(study, stop=stop))
        await it.seen(1)
        stop.interrupt()
        it.server.go()
        assert (await running).tally.failed == {"interrupted": 1}
        assert asked(it.server) == ["judgement"]
        it.server.then(says("Final Answer: B"))
        assert (await it.run(study)).tally.verdicts == 1
        assert asked(it.server) == ["judgement", "extraction"]


async def test_the_judges_reply_is_on_record_before_the_extractor_is_asked(tmp_path: Path) -> None:
    stop = StopSign()
    rater = Rater(kind="model", name="x/small", endpoint="other")
    async with bench(tmp_path, Script(judge=lambda _: UNDECIDED)) as it, ScriptedServer(Script(latency=600)) as other:
        extractor = Extractor(rater=rater, model="small")
        study = it.study(items=1, matching=Matching(orders="published"), extractor=extractor)
        running = asyncio.create_task(run_with(it, study, second=other, stop=stop))
        async with asyncio.timeout(SECONDS):
            while not other.attempts:  # noqa: ASYNC110  the server is not to know of the test
                await asyncio.sleep(0.005)
        (trial,) = study.trials()
        assert it.ledger.find_calls([study.asking.request(trial).key])
        stop.interrupt()
        stop.interrupt()
        assert (await running).tally.failed == {"interrupted": 1}
        assert judgements(it)[0].cost_usd is None


@pytest.mark.parametrize("places", [1, 8])
async def test_the_same_words_are_extracted_once_for_all(tmp_path: Path, places: int) -> None:
    def undecided(body: dict[str, Any]) -> str:
        return "Final Answer: B" if extracts(body) else UNDECIDED

    async with bench(tmp_path, Script(judge=undecided)) as it:
        ended = await it.run(it.study(items=4), pacing=Pacing(max_connections=places, retry=SWIFT))
        assert Counter(asked(it.server)) == {"judgement": 8, "extraction": 1}
        assert (ended.tally.called, ended.tally.verdicts) == (8, 8)
        assert {one.verdict for one in judgements(it)} == {SECOND}
        assert len({one.calls[1] for one in judgements(it)}) == 1
        await it.run(it.study(items=5))
        assert Counter(asked(it.server)) == {"judgement": 10, "extraction": 1}, "also what an earlier run was told"


async def test_replicates_and_later_attempts_are_extracted_each_for_itself(tmp_path: Path) -> None:
    def undecided(body: dict[str, Any]) -> str:
        return "Unknown" if extracts(body) else UNDECIDED

    async with bench(tmp_path, Script(judge=undecided)) as it:
        study = it.study(items=1, matching=Matching(orders="published", replicates=2))
        await it.run(study)
        assert Counter(asked(it.server)) == {"judgement": 2, "extraction": 2}
        await it.run(study, retrying=Retrying(reasons=frozenset({"unreadable"})))
        assert Counter(asked(it.server)) == {"judgement": 4, "extraction": 4}


@pytest.mark.parametrize("which", ["protocol.toml", "visit_extraction/protocol.toml"])
async def test_a_newer_reader_of_either_step_reads_both_replies_again_without_a_call(
    tmp_path: Path, which: str
) -> None:
    built_in = Path(evenhand.protocols.__file__).parent
    folder = tmp_path / "mine"
    shutil.copytree(built_in / "visit_pairwise", folder)
    shutil.copytree(built_in / "visit_extraction", folder / "visit_extraction")
    file = folder / which
    async with bench(tmp_path, Script(judge=first_as_in_figure_18)) as it:
        first = it.study(items=2, protocol=protocol_from_folder(folder))
        await it.run(first)
        before = len(it.server.requests)
        file.write_text(file.read_text().replace('"A" = 1\n"B" = -1\n', '"A" = -1\n"B" = 1\n', 1))
        second = it.study(items=2, protocol=protocol_from_folder(folder))
        assert [trial.key for trial in second.trials()] == [trial.key for trial in first.trials()]
        assert (dry(it, second).calls_at_most, dry(it, second).known) == (0, 4)
        ended = await it.run(second)
        assert (ended.tally.reread, ended.tally.called) == (4, 0)
        assert len(it.server.requests) == before
        extracted = Preference(value=1, levels=2) if "extraction" in which else SECOND
        verdicts = [one.verdict for one in judgements(it)[4:] if not isinstance(one.verdict, NoVerdict)]
        assert verdicts == [extracted, extracted]
        assert {len(one.calls) for one in judgements(it)[4:]} == {2}


async def test_another_prompt_or_extractor_is_another_condition_and_reuses_the_first_calls(tmp_path: Path) -> None:
    async with (
        bench(tmp_path, Script(judge=first_as_in_figure_18)) as it,
        ScriptedServer(Script(judge=lambda body: "Final Answer: A")) as other,
    ):
        study = it.study(items=1)
        await it.run(study)
        rater = Rater(kind="model", name="x/small", endpoint="other", settings=study.asking.rater.settings)
        elsewhere = it.study(items=1, extractor=Extractor(rater=rater, model="small"))
        assert elsewhere.asking.condition.key != study.asking.condition.key
        assert elsewhere.asking.condition.extractor == rater.key
        ended = await run_with(it, elsewhere, second=other)
        assert asked(other) == ["extraction"], "two trials, one text"
        assert len(it.server.requests) == 3
        assert other.requests[0].body["model"] == "small"
        assert (ended.tally.called, ended.tally.known) == (1, 1)
        assert {one.verdict for one in judgements(it)[2:]} == {Preference(value=1, levels=2)}


async def test_an_extractor_that_never_answers_ends_the_run_with_a_sentence(tmp_path: Path) -> None:
    refusing = Canned(status=400, body={"error": {"message": "Go away."}})

    def undecided(body: dict[str, Any]) -> str:
        return f"{UNDECIDED} {body['messages'][-1]['content']}"

    async with bench(tmp_path, Script(judge=undecided)) as it, ScriptedServer() as other:
        other.then(*[refusing] * 40)
        rater = Rater(kind="model", name="x/small", endpoint="other")
        study = it.study(items=20, extractor=Extractor(rater=rater, model="small"))
        ended = await run_with(it, study, second=other, pacing=ONE_AT_A_TIME)
        assert isinstance(ended.error, Misuse)
        assert ended.error.code == "EH-NO-REPLIES"
        assert "Go away" in str(ended.error)
        assert len(other.requests) == 5


async def test_the_budget_counts_second_calls_and_the_next_run_makes_only_those(tmp_path: Path) -> None:
    a_dollar_a_token = Price(input=0.0, output=1e6)
    wordy = "Both have merits. " * 222  # 3996 characters, which the server counts as 1000 tokens

    def undecided(body: dict[str, Any]) -> str:
        return "Final Answer: B" if extracts(body) else wordy

    async with bench(tmp_path, Script(judge=undecided)) as it:
        study = it.study(items=2, matching=Matching(orders="published"))
        budget = Budget(1100.0)  # the first reply's 1024 tokens fit; after it the second's 512 do not
        ended = await it.run(study, budget=budget, price=a_dollar_a_token, pacing=ONE_AT_A_TIME)
        assert ended.over_budget
        assert ended.tally.failed == {"over-budget": 1}
        assert (ended.tally.called, ended.tally.not_reached) == (1, 1)
        assert budget.spent == 1000
        assert asked(it.server) == ["judgement"]
        ended = await it.run(study, budget=Budget(500.0), price=a_dollar_a_token, pacing=ONE_AT_A_TIME)
        assert (ended.tally.failed, ended.tally.known) == ({"over-budget": 1}, 0)
        assert asked(it.server) == ["judgement"]
        budget = Budget(600.0)
        ended = await it.run(study, budget=budget, price=a_dollar_a_token, pacing=ONE_AT_A_TIME)
        assert (ended.tally.verdicts, ended.tally.not_reached) == (1, 1)
        assert asked(it.server) == ["judgement", "extraction"]
        assert budget.spent == 4
        (last,) = [one for one in judgements(it) if one.verdict == SECOND]
        assert last.cost_usd == 4
        assert (await it.run(study, price=a_dollar_a_token)).tally.cost_usd == 1000
        assert judgements(it)[-1].cost_usd == 1000, "the same words as before: their extraction was paid for"


def dry(it: Bench, study: PreparedStudy, price: Price | None = None) -> DryRun:
    quote = it.quote(price)
    return dry_run(study.plan(it.ledger), quote, it.ledger, second=study.second_calls(it.ledger, quote))


async def run_with(
    it: Bench,
    study: PreparedStudy,
    *,
    second: ScriptedServer,
    pacing: Pacing | None = None,
    stop: StopSign | None = None,
) -> Ended:
    contexts = [
        CallContext(
            client=OpenAIWire(resolve("openai/small", base_url=url, environment={}), environment={}),
            pricing=it.quote(None),
            budget=Budget(None),
            pacing=pacing or Pacing(retry=SWIFT),
        )
        for url in (it.server.base_url, second.base_url)
    ]
    return await run_study(
        study, ledger=it.ledger, context=replace(contexts[0], second=contexts[1]), stop=stop or StopSign()
    )


async def test_a_dry_run_says_at_least_and_at_most(tmp_path: Path) -> None:
    price = Price(input=0.0, output=1e6)  # a dollar a token
    async with bench(tmp_path) as it:
        study = it.study(items=2)
        quoted = dry(it, study, price)
        assert (quoted.trials, quoted.known, quoted.calls, quoted.calls_at_most) == (4, 0, 4, 8)
        assert quoted.cost_usd == pytest.approx(4 * (1024 + 512))
        assert quoted.as_json()["calls_at_least"] == 4
        assert quoted.as_json()["calls_at_most"] == 8
        costly_words = dry(it, study, Price(input=1e6, output=0.0))
        assert costly_words.cost_usd is not None
        # Each second call is counted with the 1024 tokens that a first reply may have.
        assert costly_words.cost_usd > costly_words.input_tokens + 4 * 1024
        assert costly_words.cost_usd == pytest.approx(costly_words.input_tokens_at_most)
        await it.run(study)
        assert (dry(it, study).calls, dry(it, study).calls_at_most, dry(it, study).known) == (0, 0, 4)


async def test_the_verdicts_are_the_same_whatever_the_concurrency(tmp_path: Path) -> None:
    found: list[dict[str, Any]] = []
    for places in (1, 3, 16):
        folder = tmp_path / str(places)
        folder.mkdir()
        async with bench(folder, Script(judge="hesitant")) as it:
            await it.run(it.study(items=12), pacing=Pacing(max_connections=places, retry=SWIFT))
            found.append({one.trial: (one.verdict, one.calls) for one in judgements(it)})
    assert len(found[0]) == 24
    assert {len(calls) for _, calls in found[0].values()} == {1, 2}
    assert found[0] == found[1] == found[2]


async def test_from_python_an_extractor_is_named_beside_the_judge(tmp_path: Path) -> None:
    ledger = ledger_in(tmp_path)
    benchmark = load_benchmark("visit-bench-sample")
    answers = read_responses(bundled_answers(benchmark), benchmark).responses
    matching = Matching(pairing="random", battles=3)
    async with (
        ScriptedServer(Script(judge=lambda _: UNDECIDED)) as server,
        ScriptedServer(Script(judge=lambda _: "Final Answer: B")) as other,
    ):
        terms = Terms(base_url=server.base_url, extractor="openai/small", extractor_base_url=other.base_url)
        run = await judge_async(benchmark, answers, judge="openai/m", ledger=ledger, matching=matching, terms=terms)
    assert (run.summary["verdicts"], run.summary["requests"]) == (6, 7)
    assert asked(server) == ["judgement"] * 6
    assert asked(other) == ["extraction"]
    terms = replace(terms, max_cost=1.0, prices=[Price(input=1.0, output=1.0, model="openai/m")])
    with refused(Misuse, "openai/small", code="EH-PRICE-UNKNOWN"):
        await judge_async(benchmark, answers, judge="openai/m", ledger=ledger, matching=matching, terms=terms)
