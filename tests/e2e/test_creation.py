"""Creation-MMBench from the data file to the paper's table, over real HTTP."""

import asyncio
import base64
import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenhand import protocols
from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
from evenhand.benchmarks.creation_mmbench.tasks import category_of
from tests.benchmarks.creation_cases import GeneratedCase, generated_cases, write_tsv
from tests.e2e.creation_judge import Case, CreationJudge, added_up, kind_of, prompt_of
from tests.e2e.workplace import Ran, Workplace
from tests.scripted_server import Script, ScriptedServer

MODEL = "painter"


async def judged(here: Workplace, server: ScriptedServer, benchmark: str, *more: str) -> Ran:
    judge = ("--judge", "scripted/judge", "--judge-base-url", server.base_url, "--endpoint-name", "scripted")
    ran = await asyncio.to_thread(here.run, "judge", benchmark, *judge, "--json", "--quiet", *more)
    assert ran.code == 0, ran.err
    return ran


def scored(here: Workplace, benchmark: str, *more: str) -> dict[str, Any]:
    ran = here.run("score", benchmark, "--json", *more)
    assert ran.code == 0, ran.err
    return ran.document


def check(document: dict[str, Any], cases: list[Case], models: list[str], *, overall_read: bool = False) -> None:
    """Every figure of the document against the sums of what the judge is known to have said."""
    assert [one["model"] for one in document["models"]] == sorted(
        models, key=lambda model: -next(one["reward"] for one in document["models"] if one["model"] == model)
    )
    for one in document["models"]:
        added_up(cases, one["model"], overall_read=overall_read).checked(one)
        added_up(cases, one["model"], orders=(True,), overall_read=overall_read).checked(one["forward"])
        parts = [(part["category"], None, part) for part in one["categories"]]
        parts += [(part["category"], part["task"], part) for part in one["tasks"]]
        for category, task, part in parts:
            inside = [case for case in cases if case.category == category and task in (None, case.task)]
            assert part["items"] == part["answered"] == len(inside) > 0
            added_up(inside, one["model"], overall_read=overall_read).checked(part)
        assert sum(part["items"] for part in one["categories"]) == len(cases)
        assert sum(part["items"] for part in one["tasks"]) == len(cases)


@pytest.mark.slow
async def test_the_sample_is_scored_as_the_judge_spoke(tmp_path: Path) -> None:
    here = Workplace(tmp_path / "here")
    name = "creation-mmbench-sample"
    benchmark = load_benchmark(name)
    items, (bundled,) = benchmark.items, bundled_answers(benchmark)
    answers = [json.loads(line) for line in bundled.read_text(encoding="utf-8").splitlines()]
    texts = {one["response"]: (one["item"], one["model"]) for one in answers}
    texts |= {item.reference or "": (item.label, "reference") for item in items}
    cases = [
        Case(
            item=item.label,
            task=item.task or "",
            category=item.category or "",
            factual=item.factuality_criteria is not None,
        )
        for item in items
    ]
    async with ScriptedServer(Script(judge=CreationJudge(answers=texts))) as server:
        await judged(here, server, name)
    document = scored(here, name)
    check(document, cases, sorted({one["model"] for one in answers}))
    assert (document["judge"], document["baseline"]["model"]) == ("scripted/judge", "reference")
    assert sum(not case.factual for case in cases) > 0, "the sample has items that are not graded"
    table = here.run("score", name)
    assert "Can this judge be trusted?" in table.out
    best = document["models"][0]
    assert f"{best['reward']:.2f}" in table.out
    assert f"{100 * best['win_rate']:.2f} %" in table.out


@pytest.mark.slow
async def test_765_cases_are_judged_once_scored_exactly_and_read_again_without_a_call(tmp_path: Path) -> None:
    here = Workplace(tmp_path / "here")
    marker = tmp_path / "executed"
    generated = generated_cases(marker=marker)
    assert max(len(case.images) for case in generated) == 9
    data, answers, texts = written(tmp_path, generated)
    cases = [case_of(one) for one in generated]
    files = ("--data", str(data), "--responses", str(answers))
    async with ScriptedServer(Script(judge=CreationJudge(answers=texts))) as server:
        first = await judged(here, server, "creation-mmbench", *files)
        calls = len(server.requests)
        assert first.document["called"] == calls == 2 * len(cases) + 2 * sum(case.factual for case in cases)
        check_images(server, {str(case.index): case for case in generated})
        document = scored(here, "creation-mmbench")
        check(document, cases, [MODEL])
        assert len(document["models"][0]["tasks"]) == 51

        again = await judged(here, server, "creation-mmbench", *files)
        assert again.document["called"] == 0
        newer = newer_reader(tmp_path / "newer")
        await judged(here, server, "creation-mmbench", *files, "--protocol", str(newer))
        assert len(server.requests) == calls, "neither asked anything"
    reread = scored(here, "creation-mmbench")
    check(reread, cases, [MODEL], overall_read=True)
    assert reread["models"][0]["counts"]["fail"] < document["models"][0]["counts"]["fail"]
    assert not marker.exists(), "criteria are data"


def written(folder: Path, cases: list[GeneratedCase]) -> tuple[Path, Path, dict[str, tuple[str, str]]]:
    """The data, one model's answers, and whose each text is."""
    texts: dict[str, tuple[str, str]] = {}
    lines: list[str] = []
    for case in cases:
        text = f"What the model wrote for {case.index}."
        texts |= {text: (str(case.index), MODEL), case.reference: (str(case.index), "reference")}
        lines.append(json.dumps({"item": str(case.index), "model": MODEL, "response": text}))
    answers = folder / "answers.jsonl"
    answers.write_text("\n".join(lines), encoding="utf-8")
    return write_tsv(folder / "cases.tsv", cases), answers, texts


def case_of(one: GeneratedCase) -> Case:
    return Case(item=str(one.index), task=one.task, category=category_of(one.task), factual=one.factuality is not None)


def check_images(server: ScriptedServer, cases: dict[str, GeneratedCase]) -> None:
    """Preference calls carried the case's images in order, before the text; factuality calls none."""
    for seen in server.requests:
        content, prompt = seen.body["messages"][0]["content"], prompt_of(seen.body)
        if kind_of(prompt) == "factuality":
            assert isinstance(content, str) or [part["type"] for part in content] == ["text"]
            continue
        index = prompt.split("\nCase ", 1)[1].split(".", 1)[0]
        *pictures, text = content
        assert text["type"] == "text"
        sent = [base64.b64decode(part["image_url"]["url"].partition(",")[2]) for part in pictures]
        assert sent == list(cases[index].images)


def newer_reader(folder: Path) -> Path:
    """The published protocol with a reader that knows one more marker."""
    shutil.copytree(Path(protocols.__file__).parent / "creation_preference", folder)
    rule = folder / "protocol.toml"
    text = rule.read_text(encoding="utf-8")
    assert r"\bFinal\s+Verdict" in text
    rule.write_text(text.replace(r"\bFinal\s+Verdict", r"\b(?:Final|Overall)\s+Verdict"), encoding="utf-8")
    return folder


def two_cases(tmp_path: Path, judge: Callable[[str, bool], str]) -> tuple[tuple[str, ...], Script]:
    """Two cases of two tasks; the judge is told the case and whether the reference stands first."""
    data, answers, texts = written(tmp_path, generated_cases(2))

    def said(body: dict[str, Any]) -> str:
        prompt = prompt_of(body)
        if kind_of(prompt) == "factuality":
            return "Response A Visual Factuality Score: 9/10\nResponse B Visual Factuality Score: 6/10"
        first = prompt.split("[ASSISTANT A]\n", 1)[1].split("\n[END", 1)[0]
        item, model = texts[first]
        return judge(item, model == "reference")

    return ("--data", str(data), "--responses", str(answers)), Script(judge=said)


async def test_the_worked_example_of_votes_in_both_orders(tmp_path: Path) -> None:
    """Forward [B>A, A=B], reversed [A>B, unreadable]: votes +1, 0, +1."""
    here = Workplace(tmp_path / "here")
    first = str(generated_cases(2)[0].index)

    def judge(item: str, forward: bool) -> str:
        if forward:
            return "Final Verdict is: [[B>A]]" if item == first else "Final Verdict is: [[A=B]]"
        return "Final Verdict is: [[A>B]]" if item == first else "Hard to say."

    files, script = two_cases(tmp_path, judge)
    async with ScriptedServer(script) as server:
        await judged(here, server, "creation-mmbench", *files)
    (one,) = scored(here, "creation-mmbench")["models"]
    assert one["reward_n"] == one["win_rate_n"] == 3
    assert one["counts"] == {"much_better": 0, "better": 2, "tie": 1, "worse": 0, "much_worse": 0, "fail": 1}
    assert one["reward"] == pytest.approx(100 / 3)
    assert one["win_rate"] == pytest.approx(2 / 3)
    assert one["coverage"]["preference"] == {"wanted": 4, "with_verdict": 3, "reasons": {"unreadable": 1}}
    assert (one["forward"]["reward"], one["forward"]["win_rate"]) == (25, 0.5)
    assert (one["vfs"], one["baseline_vfs"]) == (7.5, 7.5), "9 and 6 in turns"
    assert (one["forward"]["vfs"], one["forward"]["baseline_vfs"]) == (6, 9)
    row = next(line.split() for line in here.run("score", "creation-mmbench").out.splitlines() if MODEL in line)
    assert row == [MODEL, "7.50", "33.33", "66.67", "%", "0", "2", "1", "0", "0", "1"]


async def test_a_task_whose_judgements_all_failed_gets_a_dash(tmp_path: Path) -> None:
    here = Workplace(tmp_path / "here")
    cases = generated_cases(2)

    def judge(item: str, forward: bool) -> str:
        return "Final Verdict is: [[A=B]]" if item == str(cases[0].index) else "Who knows."

    files, script = two_cases(tmp_path, judge)
    async with ScriptedServer(script) as server:
        await judged(here, server, "creation-mmbench", *files, "--protocol", "creation_preference")
    table = here.run("score", "creation-mmbench", "--by", "task", "--format", "csv")
    assert table.code == 0, table.err
    rows = {row["task"]: row for row in csv.DictReader(io.StringIO(table.out))}
    columns = ("vfs", "reward", "win_rate", "counts_tie", "counts_fail")
    assert {task: [row[name] for name in columns] for task, row in rows.items()} == {
        cases[0].task: ["", "0.0", "0.0", "2", "0"],
        cases[1].task: ["", "", "", "0", "2"],
    }
    printed = here.run("score", "creation-mmbench", "--by", "task")
    assert "–" in next(line for line in printed.out.splitlines() if line.startswith(cases[1].task))
