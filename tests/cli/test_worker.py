"""Claims about `evenhand worker` and `evenhand export --grown` on the command line."""

import json
import shlex
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.domain.item import Benchmark
from evenhand.ledger.read.projection import benchmarks, items_of
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.worker_notes import worker_notes
from evenhand.site.living.events import Answer, Caption, Instruction, Verification
from evenhand.site.living.settings import Example, LivingTerms, NewBenchmark, Skill, begin_growing, find_growing
from evenhand.site.living.store import find_proposal, propose, say
from evenhand.site.living.versions import publish
from tests.cli.served import served
from tests.cli.shell import Shell
from tests.scripted_server import Script
from tests.site.house import PNG
from tests.site.house import served as web


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


def opened(shell: Shell) -> Ledger:
    return Ledger(f"sqlite:///{shell.folder}/.evenhand/ledger.db")


def grown(shell: Shell, name: str = "garden", *, published: bool = True, base: Benchmark | None = None) -> str:
    with closing(opened(shell)) as ledger:
        skill = Skill(name="counting", example=Example(instruction="i", output="o"))
        if base is not None:
            ledger.register_benchmark(base)
        terms = LivingTerms(skills=(skill,))
        asked = NewBenchmark(name=name, licence="CC0", base=base.digest if base else None, terms=terms)
        growing = begin_growing(ledger, asked, by="owner")
        image = ledger.images.put(PNG).digest
        said = Instruction(skill="counting", text="How many?", licence="CC0", image=image)
        proposal = propose(ledger, growing, said, person="a")
        caption = say(ledger, growing, proposal, Caption(about=1, text="One dot."), person="b").caption
        assert caption
        answer = Answer(about=caption.seq, attempt=1, text="One.", model="m", call="k")
        seq = say(ledger, growing, proposal, answer, person=None).answer_seq
        say(ledger, growing, proposal, Verification(about=seq, follows=True), person="c")
        found = find_growing(ledger, growing)
        assert found
        if published:
            assert publish(ledger, found, by="owner")
            assert publish(ledger, found, by="owner") is None
    return growing


def test_a_worker_without_a_model_says_so_to_its_user_and_to_the_owner(shell: Shell):
    _, err = shell.run("worker", "--once")
    assert "--model" in err
    assert err.endswith("Nothing is left to do.\n")
    with closing(opened(shell)) as ledger:
        assert "no model" in worker_notes(ledger)["answers"].sentence


def test_a_model_that_cannot_be_meant_is_refused_and_told_to_the_owner(shell: Shell):
    err = shell.refused("worker", "--once", "--model", "nobody/nothing")
    assert "nobody" in err
    with closing(opened(shell)) as ledger:
        assert "nobody" in worker_notes(ledger)["answers"].sentence


def test_a_grown_benchmark_is_written_as_a_folder_that_other_commands_read(shell: Shell):
    grown(shell)
    _, err = shell.run("export", "--grown", "garden", "--out", "out")
    assert "visit-bench --data out/items.jsonl" in err
    asking = ("--model", "openai/gpt-4o", "--base-url", "http://127.0.0.1:9/v1", "--dry-run")
    assert shell.document("answer", "visit-bench", "--data", "out/items.jsonl", *asking)["trials"] == 1
    shell.refuses("EH-FILE", "out", "empty folder", of=("export", "--grown", "garden", "--out", "out"))
    shell.refuses("EH-USAGE", "'gardn'", "'garden'", of=("export", "--grown", "gardn", "--out", "new"))
    mixed = ("export", "--grown", "garden", "--battles", "--out", "new")
    shell.refuses("EH-USAGE", "--grown", "--battles", of=mixed)
    assert not (shell.folder / "new").exists()


def documented(start: str) -> list[str]:
    """The arguments of a command as docs/growing.md has it."""
    lines = (Path(__file__).parents[2] / "docs" / "growing.md").read_text("utf-8").splitlines()
    line = next(one for one in lines if one.startswith(f"    evenhand {start}"))
    return shlex.split(line)[1:]


def test_what_is_judged_of_a_grown_benchmark_stands_under_its_own_name(shell: Shell):
    export, judge, rank = documented("export --grown"), documented("judge"), documented("rank")
    grown(shell, "Garden and kitchen")
    shell.run(*export)
    item = json.loads((shell.folder / "grown" / "items.jsonl").read_text().splitlines()[0])["item"]
    answers = [{"item": item, "model": name, "response": f"{name} says one."} for name in ("amber", "blue")]
    shell.file("answers.jsonl", *map(json.dumps, answers))
    with served(Script(judge="prefers-longer")) as server:
        shell.run(*judge, "--judge-base-url", server.base_url)
    board = shell.document(*rank)
    assert {one["model"] for one in board["models"]} >= {"amber", "blue"}
    with closing(opened(shell)) as ledger, web(ledger) as house:
        page = house.visitor().get("/").text
        assert "Garden and kitchen" in page
        assert "visit-bench" not in page


def test_without_an_item_of_its_base_a_benchmark_is_put_on_record_as_a_new_base(shell: Shell):
    base = load_benchmark("visit-bench-sample")
    grown(shell, "Garden and kitchen", base=base)
    shell.run(*documented("export --grown"))
    sample = documented("sample")
    lines = (shell.folder / "grown" / "items.jsonl").read_text("utf-8").splitlines(keepends=True)
    assert json.loads(lines[0])["item"] == base.items[0].label
    (shell.folder / sample[-1]).write_text("".join(lines[1:]), "utf-8")
    _, err = shell.run(*sample)
    assert "has 1 item, fewer" in err
    with closing(opened(shell)) as ledger:
        (new,) = [one for one in benchmarks(ledger) if one.name == "garden-base"]
        labels = [item.label for item in items_of(ledger, new.data)]
        assert labels[:-1] == [item.label for item in base.items[1:]]
        assert labels[-1].startswith("counting-")  # what was written here


def test_a_benchmark_without_a_version_is_told_so(shell: Shell):
    grown(shell, published=False)
    assert "no version yet" in shell.refused("export", "--grown", "garden", "--out", "out")


def test_a_worker_that_ends_tells_what_it_could_not_do(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    growing = grown(shell, published=False)
    with closing(opened(shell)) as ledger:
        said = Instruction(skill="counting", text="Which?", licence="CC0", image=ledger.images.put(PNG).digest)
        proposal = propose(ledger, growing, said, person="b")
        about = find_proposal(ledger, growing, proposal)
        assert about is not None
        say(ledger, growing, proposal, Caption(about=about.standing.instruction.seq, text="Two dots, red."), person="c")
    down = ("worker", "--once", "--model", "openai/gpt-4o", "--base-url", "http://127.0.0.1:9/v1")
    _, told = shell.run(*down, expect=3)
    assert "1 proposal of 'garden' cannot go on; tried again in" in " ".join(told.split())
    assert "127.0.0.1:9" in told
    # Until then it is not tried, which is told too.
    assert "1 proposal of 'garden'" in " ".join(shell.run(*down, expect=3)[1].split())
    assert shell.run("growing")[0].count("cannot go on") == 1
