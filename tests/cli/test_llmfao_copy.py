"""A user's copy of LLMFAO: its answers go into the ledger, and then its cases can be read."""

import gzip
import json
from pathlib import Path

import pytest

from evenhand.benchmarks.catalog import find_benchmark
from tests.cli.shell import Shell
from tests.reports.test_report_page import blocks_in

COPY = ("--benchmark", "llmfao", "--data", "copy")
PROMPTS = [
    {"id": 8, "text": "Name a tree.", "type": "knowledge", "slug": "tree", "note": None},
    {"id": 9, "text": "Name a river.", "type": "knowledge", "slug": "river", "note": "short"},
]
MODELS = [{"id": 97, "name": "Amber 7B"}, {"id": 98, "name": "Birch 12k"}]
RESULTS = [
    {"model": 97, "prompt": 8, "result": "An oak stands there."},
    {"model": 98, "prompt": 8, "result": "The elm, of course."},
    {"model": 97, "prompt": 9, "result": "Rhine"},
    {"model": 98, "prompt": 9, "result": ""},
]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    made = Shell(tmp_path, monkeypatch, capsys)
    (tmp_path / "copy").mkdir()
    for name, rows in (("prompts", PROMPTS), ("models", MODELS), ("results", RESULTS)):
        made.file(f"copy/{name}.jsonl", *map(json.dumps, rows))
    return made


def test_answers_and_verdicts_of_a_copy_can_be_read_case_by_case(shell: Shell):
    done = shell.document("import", "copy", "--responses", *COPY)
    assert (done["responses"], done["models"]) == (3, ["Amber 7B", "Birch 12k"])
    assert shell.document("import", "copy", "--responses", *COPY)["responses"] == 0
    head = "id,prompt,model_x,model_y,winner,left,right"
    shell.file("gpt4.csv", head, "0,8,97,98,right,Amber 7B,Birch 12k", "1,9,97,98,left,Amber 7B,Birch 12k")
    how = ("--judgements", *COPY, "--columns", "prompt=item", "--rater", "gpt-4", "--rater-kind", "model")
    assert shell.document("import", "gpt4.csv", *how)["judgements"] == 2
    board = shell.document("rank", "--benchmark", "llmfao")
    assert board["judge"] == "gpt-4"
    assert {one["model"] for one in board["models"]} == {"Amber 7B", "Birch 12k"}
    shell.run("report", "--benchmark", "llmfao", "--out", "cases.html")
    (block,) = blocks_in((shell.folder / "cases.html").read_text(encoding="utf-8"))
    told = json.dumps(block)
    assert all(text in told for text in ("Name a tree.", "An oak stands there.", "The elm, of course."))


def test_cases_of_a_copy_are_published_without_words_on_images_or_a_protocol(shell: Shell):
    shell.run("import", "copy", "--responses", *COPY)
    shell.file("gpt4.csv", "id,prompt,winner,left,right", "0,8,right,Amber 7B,Birch 12k")
    how = ("--judgements", *COPY, "--columns", "prompt=item", "--rater", "gpt-4", "--rater-kind", "model")
    shell.run("import", "gpt4.csv", *how)
    assert shell.document("publish", "site")["kinds"]["battles"] == 1
    pages = {path: path.read_text() for path in (shell.folder / "site").rglob("*.html")}
    (board,) = (text for path, text in pages.items() if path.match("boards/*/index.html"))
    assert "</strong> elsewhere; the verdicts were imported." in board
    (battle,) = (text for path, text in pages.items() if path.match("battles/*.html"))
    assert "The elm, of course." in battle
    assert "knowledge · tree" in "".join(pages.values())
    assert not [path for path, text in pages.items() if "0 images" in text]


def test_of_a_copy_everybody_sees_each_verdict_of_people(shell: Shell):
    shell.run("import", "copy", "--responses", *COPY)
    shell.file("crowd.csv", "id,prompt,winner,left,right,worker", "0,8,right,Amber 7B,Birch 12k,3")
    shell.run("import", "crowd.csv", "--judgements", *COPY, "--columns", "prompt=item,worker=rater")
    assert shell.document("publish", "site")["kinds"]["battles"] == 1
    (board,) = (json.loads(path.read_text()) for path in (shell.folder / "site").glob("boards/*/board.json"))
    assert (board["votes"], board["models"][0]["model"]) == (1, "Birch 12k")
    (battle,) = (shell.folder / "site").rglob("battles/*.html")
    assert "person 1:" in battle.read_text()


def test_what_is_wrong_with_a_copy_is_told(shell: Shell):
    shell.file("copy/models.jsonl", json.dumps(MODELS[0]))
    assert "98" in shell.refused("import", "copy", "--responses", *COPY)
    assert "results.jsonl" in shell.refused("import", "copy/prompts.jsonl", "--responses", *COPY)
    (shell.folder / "copy" / "prompts.jsonl").unlink()
    shell.refuses("EH-FILE-MISSING", "prompts.jsonl", of=("import", "copy", "--responses", *COPY))
    shell.refuses("EH-DATA-NEEDED", "prompts.jsonl", of=("import", "copy", "--responses", "--benchmark", "llmfao"))


def test_the_bundled_verdicts_are_taken_by_prompt_beside_the_answers_of_a_copy(shell: Shell):
    bundled = find_benchmark("llmfao").verdicts
    assert bundled is not None
    lines = gzip.decompress(bundled.read_bytes()).decode().splitlines()
    rows = [line for line in lines[1:] if line.split(",")[1] in ("8", "9")][:40]
    names = sorted({name for row in rows for name in row.split(",")[2:4]})
    shell.file("copy/models.jsonl", *(json.dumps({"id": n, "name": name}) for n, name in enumerate(names)))
    told = [{"model": n, "prompt": prompt, "result": f"{n} {prompt}"} for n in range(len(names)) for prompt in (8, 9)]
    shell.file("copy/results.jsonl", *map(json.dumps, told))
    (shell.folder / "some.csv.gz").write_bytes(gzip.compress("\n".join([lines[0], *rows]).encode()))
    shell.run("import", "copy", "--responses", *COPY)
    done = shell.document("import", "some.csv.gz", "--judgements", *COPY, "--columns", "prompt=item")
    assert done["judgements"] == len(rows)
    judged = shell.document("align", "some.csv.gz", "--dry-run", "--columns", "prompt=item")["files"][0]["rows"]
    assert [row["item"] for row in judged] == ["8", "8", "8"]
