"""Claims about the calls of a notebook: they do what the commands do, and what they give back can be looked at."""

import asyncio
import inspect
import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from html import escape, unescape
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import evenhand as eh
from evenhand.api.judging import showings
from evenhand.api.terms import NotebookAsker
from evenhand.domain.errors import EvenhandError
from evenhand.format.charts import ChartError
from evenhand.format.words import in_python
from evenhand.ledger.read.projection import studies
from tests.cli.served import served
from tests.cli.shell import Shell
from tests.refusals import refused
from tests.scripted_server import Script, ScriptedServer, server_process

ANY: Any = eh
"""For calls that a type checker would refuse."""
FEW = eh.Matching(pairing="random", battles=12)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with server_process("--judge", "by-quality") as url:
        yield url


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.delenv("EVENHAND_STORE", raising=False)
    return Shell(tmp_path, monkeypatch, capsys)


def sample(name: str = "visit-bench-sample") -> tuple[Any, eh.ResponseSet]:
    bench = eh.load_benchmark(name)
    return bench, eh.read_responses(eh.bundled_answers(bench), bench)


def judged(server: str, **more: Any) -> eh.JudgeRun:
    return eh.judge(*sample(), judge="openai/gpt-4o", base_url=server, matching=FEW, **more)


def test_every_protocol_of_a_benchmark_is_asked_and_the_command_then_asks_nothing(shell: Shell, server: str) -> None:
    few = eh.ItemChoice(limit=3)
    run = eh.judge(*sample("creation-mmbench-sample"), judge="openai/gpt-4o", base_url=server, items=few)
    assert [row["protocol"] for row in run.rows()] == ["creation_preference", "creation_factuality"]
    assert len(run.studies) == 2
    again = shell.document(
        "judge", "creation-mmbench-sample", "--judge", "openai/gpt-4o", "--base-url", server, "--quiet", "--limit", 3
    )
    assert (again["called"], again["planned"]) == (0, run.summary["planned"])
    assert set(again) == set(run.as_json())
    with eh.open_ledger("sqlite:///.evenhand/ledger.db") as ledger:
        assert {one.key for one in studies(ledger)} == set(run.studies)
    board = eh.rank(run)
    assert board.origin.protocol == "creation_preference"
    assert json.loads(board.to_json()) == shell.document("rank", "--protocol", "creation_preference")


def test_a_protocol_that_is_named_is_asked_alone(shell: Shell, server: str) -> None:
    bench, answers = sample("creation-mmbench-sample")
    run = eh.judge(bench, answers, judge="openai/gpt-4o", base_url=server, protocol="creation_factuality")
    assert [row["protocol"] for row in run.rows()] == ["creation_factuality"]


async def test_the_plain_call_works_where_a_loop_is_running(shell: Shell, server: str) -> None:
    asyncio.get_running_loop()
    run = judged(server)
    assert (run.summary["verdicts"], run.complete) == (24, True)
    twin = await eh.judge_async(*sample(), judge="openai/gpt-4o", base_url=server, matching=FEW)
    assert (twin.studies, twin.summary["called"]) == (run.studies, 0)


async def test_whoever_awaits_the_plain_call_is_told(shell: Shell, server: str) -> None:
    with pytest.warns(DeprecationWarning, match="judge_async"):
        run = await judged(server)
    assert run.complete


async def test_an_error_in_the_other_thread_is_the_callers(shell: Shell) -> None:
    with refused(EvenhandError, "openai/gpt-4o", "`prices`", code="EH-PRICE-UNKNOWN"):
        judged("http://127.0.0.1:9/v1", max_cost=1.0)


def test_a_notebook_shows_what_a_benchmark_asks() -> None:
    bench = eh.load_benchmark("visit-bench-sample")
    html = bench._repr_html_()
    assert escape(repr(bench)) in html
    assert html.count("<tr>") == 1 + 10
    assert f"{len(bench.items) - 10} more" in html
    assert bench.items[0].instruction[:40] in unescape(html)
    hostile = replace(bench.items[0], label="<b>1", instruction="<script>alert(1)</script> " * 20)
    small = replace(bench, items=(hostile,))._repr_html_()
    assert "<script" not in small
    assert "<b>" not in small
    assert "more in" not in small


def test_settings_by_name_go_before_terms(shell: Shell, server: str) -> None:
    terms = eh.Terms(base_url="http://127.0.0.1:9/v1")
    assert judged(server, terms=terms).complete


@pytest.mark.parametrize(("judge", "at_once"), [("openai/gpt-4o", 64), ("local/smollm2", 1)])
def test_an_embedded_model_is_asked_one_thing_at_a_time_and_a_server_many(
    tmp_path: Path, judge: str, at_once: int
) -> None:
    bench = eh.load_benchmark("visit-bench-sample")
    with eh.Ledger(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        asker = NotebookAsker(ledger=ledger, terms=eh.Terms(), settings=None)
        (showing,) = showings(bench, None)
        assert asker.asked(judge, showing, bench).asked.judge.pacing.max_connections == at_once


def test_a_run_a_ledger_a_path_and_a_url_are_one_board(shell: Shell, server: str) -> None:
    run = judged(server)
    boards = [eh.rank(source) for source in (run, run.ledger, Path(".evenhand/ledger.db"), run.ledger.url, None)]
    assert len({board.to_json() for board in boards}) == 1
    assert json.loads(boards[0].to_json()) == shell.document("rank")
    assert "audit" in boards[0].as_json()


def test_the_store_of_the_environment_is_the_usual_ledger(
    shell: Shell, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENHAND_STORE", "sqlite:///elsewhere.db")
    run = judged(server)
    assert run.ledger.where == "elsewhere.db"
    assert not Path(".evenhand").exists()
    assert eh.rank().votes == 24


def test_a_link_in_the_folder_does_not_lead_the_usual_ledger_away(shell: Shell, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    Path(".evenhand").symlink_to(outside)
    with refused(EvenhandError, "outside this folder", "`ledger`", code="EH-MISUSE"):
        eh.rank()
    assert not list(outside.iterdir())


@pytest.mark.slow
def test_each_call_gives_the_document_of_its_command(shell: Shell, server: str) -> None:
    judged(server)
    score = eh.score("visit-bench-sample", bootstrap=20)
    assert json.loads(score.to_json()) == shell.document("score", "visit-bench-sample", "--bootstrap", 20)
    assert set(score.to_polars().columns) == {name for row in score.rows() for name in row}
    page = eh.report(out="page.html")
    told = shell.document("report", "--out", "again.html")
    assert {**json.loads(page.to_json()), "out": "", "bytes": 0} == {**told, "out": "", "bytes": 0}
    shell.file("replies.jsonl", '{"item": "a", "reply": "Overall, Response A is better."}')
    read = eh.read_verdicts("replies.jsonl", protocol="visit_pairwise")
    assert json.loads(read.to_json()) == shell.document("read", "visit_pairwise", "replies.jsonl")


def test_an_audit_from_python_is_the_commands(shell: Shell, server: str) -> None:
    card = eh.audit("openai/gpt-4o", base_url=server, budget=30, require="swap_consistency>=0.01")
    flags = ("--judge", "openai/gpt-4o", "--base-url", server, "--budget", 30, "--quiet")
    told = shell.document("audit", *flags, "--require", "swap_consistency>=0.01", expect=0 if card.passed else 4)
    assert json.loads(card.to_json())["measures"] == told["measures"]
    assert set(card.as_json()) == set(told)
    with pytest.raises(eh.Misuse, match="nonsense"):
        eh.audit("openai/gpt-4o", base_url=server, require="nonsense>=1")


def test_grades_from_python_are_the_commands(shell: Shell) -> None:
    rows = [
        {"item": str(n), "prompt": f"Name {n} rivers.", "outputs": [f"Danube {n}.", "Rhine, a long one.", "Elbe."]}
        for n in range(4)
    ]
    shell.file("rivers.jsonl", *map(json.dumps, rows))
    with server_process("--judge", "picks-first") as picker:
        score = eh.grade("rivers.jsonl", judge="openai/gpt-4o", base_url=picker, prompts=2)
        told = shell.document("grade", "rivers.jsonl", "--judge", "openai/gpt-4o", "--base-url", picker, "--prompt", 2)
        some = eh.grade(
            "rivers.jsonl", judge="openai/gpt-4o", base_url=picker, prompts=2, selection=eh.Selection(limit=2)
        )
    assert {**score.as_json(), "runs": 0} == {**told, "runs": 0}
    assert score.to_polars()["trials_read"].to_list() == [12]
    assert some.to_polars()["trials_read"].to_list() == [6]


def test_a_service_tier_is_given_by_name_to_every_call_that_asks(shell: Shell) -> None:
    shell.file("rivers.jsonl", json.dumps({"prompt": "Name a river.", "outputs": ["Rhine.", "The Elbe.", "Oder"]}))
    few = eh.Matching(pairing="random", battles=2)
    tiers = list[set[str | None]]()
    with served(Script()) as judging, served(Script(judge="picks-first")) as picking:
        flex: dict[str, Any] = {"judge": "openai/gpt-4o", "base_url": judging.base_url, "service_tier": "flex"}
        picks: dict[str, Any] = {**flex, "base_url": picking.base_url}
        none_such: dict[str, Any] = {**flex, "service_tier": "none such"}
        calls = [
            lambda: eh.judge(*sample(), matching=few, **flex),
            lambda: eh.sentinel(rows=2, **flex),
            lambda: eh.audit(budget=20, parts=["pairs"], **flex),
            lambda: eh.grade("rivers.jsonl", **picks),
        ]
        for call in calls:
            judging.requests.clear()
            call()
            tiers.append({one.body.get("service_tier") for one in judging.requests or picking.requests})
        with pytest.raises(eh.Misuse, match="service_tier"):
            eh.judge(*sample(), matching=few, **none_such)
    assert tiers == [{"flex"}] * 4


def test_items_are_chosen_as_the_command_chooses_them(shell: Shell, server: str) -> None:
    few = eh.ItemChoice(sample=4, limit=3)
    run = eh.judge(*sample(), judge="openai/gpt-4o", base_url=server, matching=eh.Matching(seed=7), items=few)
    command = ("judge", "visit-bench-sample", "--judge", "openai/gpt-4o", "--base-url", server, "--quiet")
    told = shell.document(*command, "--pairs", "round-robin", "--seed", 7, "--sample", 4, "--limit", 3)
    assert (told["planned"], told["called"]) == (run.summary["planned"], 0)
    (kept, *_) = [one["settings"] for one in shell.document("runs")["runs"] if "Python" in one["command"]]
    assert (kept["sample"], kept["limit"]) == (4, 3)
    labels = [item.label for item in sample()[0].items[:2]]
    named = eh.judge(*sample(), judge="openai/gpt-4o", base_url=server, items=labels)
    again = shell.document(*command, *(word for label in labels for word in ("--items", label)))
    assert (again["planned"], again["called"]) == (named.summary["planned"], 0)
    assert named.summary["planned"] != run.summary["planned"]


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (["nowhere"], "There is no item 'nowhere'"),
        (eh.ItemChoice(category=["nothing"]), "has no category 'nothing'"),
        (eh.ItemChoice(limit=0), "limit is how many items are asked about, 1 or more; not 0"),
    ],
)
def test_items_that_are_not_there_are_told_before_anybody_is_asked(shell: Shell, items: Any, said: str) -> None:
    with pytest.raises(eh.Misuse, match=said) as found:
        eh.judge(*sample(), judge="openai/gpt-4o", base_url="http://127.0.0.1:9/v1", items=items)
    assert found.value.code == "EH-USAGE"


def test_an_audit_of_some_items_is_the_commands(shell: Shell, server: str) -> None:
    flags = ("--judge", "openai/gpt-4o", "--base-url", server, "--budget", 20, "--part", "pairs", "--quiet")
    for item in (sample()[0].items[0], sample()[0].items[-1]):
        card = eh.audit("openai/gpt-4o", base_url=server, budget=20, parts=["pairs"], items=[item.label])
        told = shell.document("audit", *flags, "--items", item.label)
        assert json.loads(card.to_json())["measures"] == told["measures"]
    done = [(one["command"], one["outcome"]["called"]) for one in shell.document("runs")["runs"]]
    assert sum(called for command, called in done if command == "audit") == 0
    assert min(called for command, called in done if command == "audit (Python)") > 0


def test_other_answers_are_used_where_that_is_said_and_the_error_names_the_parameter(shell: Shell, server: str) -> None:
    judged(server)
    bench, answers = sample()
    others = [replace(one, text=f"{one.text} Indeed.") for one in answers.responses]
    with refused(EvenhandError, "`replace`", code="EH-ON-RECORD"):
        eh.judge(bench, others, judge="openai/gpt-4o", base_url=server, matching=FEW)
    assert eh.judge(bench, others, judge="openai/gpt-4o", base_url=server, matching=FEW, replace=True).complete


async def test_errors_name_the_parameter_in_python_and_the_flag_on_the_command_line(shell: Shell) -> None:
    with refused(EvenhandError, "visit-bench", "`path` PATH", code="EH-DATA-NEEDED"):
        eh.load_benchmark("visit-bench")
    assert "--data PATH" in shell.refused("judge", "visit-bench", "--judge", "openai/gpt-4o")
    shell.file("other.db", "no ledger at all, but a text")
    with pytest.raises(eh.LedgerError, match="choose another `ledger`"):
        eh.rank("other.db")
    assert "choose another --store" in shell.run("rank", "--store", "sqlite:///other.db", expect=1)[1]
    with pytest.raises(eh.LedgerError, match="choose another `ledger`"):
        await eh.judge_async(*sample(), judge="openai/gpt-4o", ledger="other.db")
    shell.file("page.html", "somebody's own")
    with pytest.raises(eh.OutputRefused, match="give `force` to"):
        eh.report(out="page.html")


def test_a_command_in_a_sentence_stays_a_command() -> None:
    said = "No table; `evenhand rank --benchmark x` ranks it, or give --judge-base-url and --max-cost 5."
    assert in_python(said) == "No table; `evenhand rank --benchmark x` ranks it, or give `base_url` and `max_cost` 5."


def test_a_result_is_a_line_a_table_and_a_frame_with_every_field(shell: Shell, server: str) -> None:
    run = judged(server)
    board = eh.rank(run)
    assert repr(board).startswith("Board of visit-bench-sample: ")
    assert "\n" not in repr(board)
    document = json.loads(board.to_json())
    assert isinstance(board.to_pandas(), pd.DataFrame)
    for frame in (board.to_polars(), board.to_pandas()):
        assert list(frame.columns) == list(document["models"][0])
        assert list(frame["model"]) == [one["model"] for one in document["models"]]
    assert board._repr_html_().count("<tr>") == 1 + len(document["models"])
    assert "called" in run._repr_html_()
    assert board.chart().to_dict()["vconcat"]
    with pytest.raises(ChartError):
        run.chart()


def test_a_run_that_asks_nothing_says_how_many_verdicts_are_on_record(shell: Shell) -> None:
    with server_process("--judge", "by-quality", "--fault", "refusal=0.3") as refusing:
        first, again = judged(refusing), judged(refusing)
    read = first.summary["verdicts"]
    assert isinstance(read, int)
    assert 0 < read < 24
    assert repr(first) == f"Judged: {read} of 24 trials have a verdict, 24 asked now"
    assert repr(again) == f"Judged: {read} of 24 trials have a verdict, 0 asked now"
    assert (again.summary["verdicts"], again.summary["known"]) == (0, 24), "the document tells of the run alone"
    assert eh.rank(again).votes == again.verdicts == read


def test_a_benchmark_of_ones_own_is_a_path_or_a_text(shell: Shell) -> None:
    path = shell.file("mine.jsonl", '{"item": "a", "instruction": "Name a river."}')
    assert eh.load_benchmark(path) == eh.load_benchmark(str(path)) == eh.load_benchmark("mine.jsonl")
    assert repr(eh.load_benchmark(path)) == "Benchmark mine: 1 item, 0 images, judged under pairwise"


def test_a_benchmark_is_one_line_however_many_items_it_has() -> None:
    said = "Benchmark visit-bench-sample (a sample of ours): 22 items, 28 images, judged under visit_pairwise"
    assert repr(sample()[0]) == said


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda *_: ANY.load_benchmark(None), "`name` of evenhand.load_benchmark takes a text or a path; not None"),
        (lambda _, some: ANY.judge("x.jsonl", some, judge="o/x"), "takes a Benchmark .* not the text 'x.jsonl'"),
        (lambda bench, _: ANY.judge(bench, "x.jsonl", judge="o/x"), "`responses` of evenhand.judge takes"),
        (lambda bench, _: ANY.judge(bench, [{"item": "a"}], judge="o/x"), "not a list that holds a dict"),
        (lambda bench, some: ANY.judge(bench, some, judge=None), "`judge` of evenhand.judge takes a text; not None"),
        (lambda bench, some: ANY.judge(bench, some, judge="o/x", max_cost="five"), "`max_cost` .* not the text 'five'"),
        (lambda bench, some: ANY.judge(bench, some, judge="o/x", ledger=5), "`ledger` takes .* not 5"),
        (lambda bench, some: ANY.judge(bench, some, judge="o/x", settings={}), "takes a Settings or None; not a dict"),
        (lambda *_: ANY.audit("openai/x", terms=ANY.Terms(max_cost="five")), "number of dollars, not five"),
        (lambda *_: ANY.audit(None), "`judge` of evenhand.audit takes a text; not None"),
        (lambda *_: ANY.grade(None, judge="o/x"), "`source` of evenhand.grade takes"),
        (lambda bench, _: ANY.read_responses(bench, ANY.bundled_answers(bench)), "`given` .* not a Benchmark"),
        (lambda bench, _: ANY.read_responses(None, bench), "`given` of evenhand.read_responses takes .* not None"),
    ],
)
def test_what_does_not_fit_a_parameter_is_told(shell: Shell, call: Any, said: str) -> None:
    with pytest.raises(eh.EvenhandError, match=said):
        call(*sample())


async def test_what_does_not_fit_is_told_where_it_is_awaited_too(shell: Shell) -> None:
    with refused(EvenhandError, "`judge` of evenhand.audit_async", "not None", code="EH-USAGE"):
        await ANY.audit_async(None)


@pytest.mark.parametrize("name", ["judge", "audit", "grade"])
def test_a_plain_call_shows_the_parameters_of_its_twin(name: str) -> None:
    plain, twin = getattr(eh, name), getattr(eh, f"{name}_async")
    assert inspect.signature(plain) == inspect.signature(twin)
    assert "base_url" in inspect.signature(plain).parameters
    assert not inspect.iscoroutinefunction(plain)


def test_a_wrong_keyword_is_told_with_the_near_one() -> None:
    with pytest.raises(TypeError, match=r"evenhand\.audit has no parameter 'baseurl'; did you mean 'base_url'"):
        ANY.audit("openai/gpt-4o", baseurl="http://127.0.0.1:9/v1")
    with pytest.raises(TypeError, match=r"evenhand\.judge: missing a required argument: 'judge'"):
        ANY.judge(*sample())


def test_every_result_prints_its_line_and_table(shell: Shell, server: str) -> None:
    run = judged(server)
    answers = sample()[1]
    assert str(run).splitlines()[0] == repr(run)
    assert "visit_pairwise" in str(run)
    assert all(model in str(answers) for model in answers.models)
    assert all(row.model in str(eh.rank(run)) for row in eh.rank(run).models)


def test_an_audit_read_in_python_names_parameters(shell: Shell, server: str) -> None:
    card = eh.audit("openai/gpt-4o", base_url=server, budget=30)
    assert "--budget" in f"{card.headline} {card.sentences}"
    for shown in (repr(card), str(card), card._repr_html_()):
        assert "--budget" not in shown
    assert "budget" in str(card)


def test_a_name_with_two_hyphens_is_no_flag() -> None:
    assert in_python("meta--llama leads (--all has more)") == "meta--llama leads (`all` has more)"


def test_what_a_model_is_called_is_no_markup() -> None:
    name = "<script>alert(1)</script>"
    frame = pl.DataFrame({"model_a": [name] * 4, "model_b": ["b"] * 4, "winner": ["model_a", "model_b"] * 2})
    html = eh.rank(frame)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize("made", [pl.DataFrame, pd.DataFrame, list, lambda rows: pl.DataFrame(rows).lazy()])
def test_answers_come_from_frames_and_records(made: Any) -> None:
    bench = eh.load_benchmark("visit-bench-sample")
    rows = [{"item": item.label, "model": "mine", "response": f"On {item.label}."} for item in bench.items]
    assert len(eh.read_responses(made(rows), bench).responses) == len(bench.items)


def test_a_text_is_a_path_and_several_are_paths(tmp_path: Path) -> None:
    bench, answers = sample()
    (path,) = eh.bundled_answers(bench)
    assert eh.read_responses(str(path), bench).responses == answers.responses
    assert eh.read_responses([str(path)], bench).responses == answers.responses
    with refused(EvenhandError, "nowhere.jsonl", code="EH-FILE-MISSING"):
        eh.read_responses("nowhere.jsonl", bench)


@pytest.mark.parametrize(
    ("given", "said"),
    [([], "no rows"), ([1], "a number was found"), ([{"x": 1}], "No column `item`"), ([{"item": "a"}, "b"], "mixture")],
)
def test_what_holds_no_answers_is_told(given: Any, said: str) -> None:
    with pytest.raises(eh.ResponsesError, match=said):
        eh.read_responses(given, eh.load_benchmark("visit-bench-sample"))


@pytest.mark.parametrize("name", [name for name in eh.__all__ if inspect.isfunction(getattr(eh, name))])
def test_a_public_call_can_be_handed_to_another_process(name: str) -> None:
    assert pickle.loads(pickle.dumps(getattr(eh, name))) is getattr(eh, name)


def test_items_are_drawn_by_the_seed_and_stay_in_their_order() -> None:
    bench = eh.load_benchmark("visit-bench-sample")
    drawn = {seed: [one.label for one in eh.ItemChoice(sample=4).of(bench, seed=seed)] for seed in (1, 2)}
    places = [[one.label for one in bench.items].index(label) for label in drawn[1]]
    assert len(set(places)) == 4
    assert places == sorted(places)
    assert drawn[1] != drawn[2]


async def test_replies_of_which_none_can_be_read_stop_the_call_as_they_stop_the_command(shell: Shell) -> None:
    async with ScriptedServer(Script(judge=lambda _: "I like both.")) as server:
        of: dict[str, Any] = {"judge": "vllm/m", "base_url": server.base_url, "pacing": eh.Pacing(max_connections=1)}
        of["matching"] = eh.Matching(pairing="random", battles=40)
        with refused(eh.Misuse, "`go_on`", "I like both.", code="EH-NOTHING-READ"):
            await eh.judge_async(*sample(), **of)
        asked = len(server.requests)
        assert asked < 80
        run = await eh.judge_async(*sample(), go_on=True, **of)
        assert len(server.requests) > asked
        assert run.verdicts == 0
