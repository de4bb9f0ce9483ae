"""Commands that a sentence, a table or a page suggests: each situation is made, and what was printed is typed."""

import csv
import html
import json
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import click
import pytest

import evenhand
from evenhand.benchmarks.catalog import load_benchmark
from evenhand.cli.main import COMMANDS, Commands
from evenhand.cli.main import evenhand as program
from evenhand.cli.saying import OF_LEDGER, typeable
from evenhand.domain.rater import Rater
from evenhand.ledger.store.opening import NOT_REPEATED
from evenhand.ledger.store.record import Ledger
from evenhand.site.http.settings import site_at
from tests.benchmarks.files import RED
from tests.cli.served import served
from tests.cli.shell import Shell
from tests.exchange.world import answers_file, items_file, write_lines, written
from tests.reports.report_scene import numbered
from tests.reports.test_report_cases import amber_always, first_always
from tests.scripted_server import Script

SOURCES = Path(evenhand.__file__).parent
ADVICE = re.compile(r"`(evenhand [^`]*)`|<code>(evenhand [^<]*)</code>")
STORE = "sqlite:///elsewhere/my ledger.db"


class Desk(Shell):
    """A shell whose ledger is not where ledgers usually are."""

    def ledger(self) -> Ledger:
        (self.folder / "elsewhere").mkdir(exist_ok=True)
        return Ledger(STORE)

    def advised(self, *arguments: object, expect: int = 0) -> list[str]:
        """The commands in what a command printed."""
        out, err = self.run(*arguments, expect=expect)
        return advice_in(out + err)

    def types(self, command: str, *more: object, expect: int = 0) -> str:
        name, *words = shlex.split(command)
        assert name == "evenhand"
        out, err = self.run(*words, *more, expect=expect)
        return out + err


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(tmp_path, monkeypatch, capsys)


def unread_reply(desk: Desk) -> None:
    """`judge` points to one reply whole."""
    desk.ledger()
    items, answers = items_file(desk.folder), answers_file(desk.folder)
    with served(Script(judge="says I cannot tell.")) as server:
        flags = ("--judge", "vllm/m", "--judge-base-url", server.base_url, "--quiet", "--go-on", "--store", STORE)
        (command,) = desk.advised("judge", items, "--responses", answers, *flags, expect=3)
    assert "I cannot tell." in desk.types(command)


def flips(desk: Desk) -> None:
    """`show` of a run points to its contradictions."""
    ledger = desk.ledger()
    numbered(3).judged(ledger, first_always)
    run = desk.document("runs", "--store", STORE)["runs"][0]["run"]
    (command,) = desk.advised("show", run, "--store", STORE)
    assert "3 pairs changed their verdict" in desk.types(command)


def no_such_run(desk: Desk) -> None:
    numbered(2).judged(desk.ledger(), amber_always)
    (command,) = desk.advised("show", "feed", "--store", STORE, expect=1)
    assert len(json.loads(desk.types(command, "--json"))["runs"]) == 1


def no_paper(desk: Desk) -> None:
    numbered(2).judged(desk.ledger(), amber_always)
    (command,) = desk.advised("score", "numbers", "--store", STORE, expect=2)
    assert "amber" in desk.types(command)


def two_raters_of_one_name(desk: Desk) -> None:
    """Boards that only their runs tell apart."""
    ledger = desk.ledger()
    scene = numbered(2)
    scene.judged(ledger, amber_always)
    hotter = replace(scene.rater, settings=replace(scene.rater.settings, temperature=1.0))
    replace(scene, rater=hotter).judged(ledger, amber_always)
    (command,) = desk.advised("rank", "--store", STORE, expect=2)
    listed = desk.types(command, "--json")
    for one in json.loads(listed)["runs"]:
        assert "amber" in desk.types(f"evenhand rank --run {one['run']} --store '{STORE}'")


def nothing_judged(desk: Desk) -> None:
    """Of a paper's benchmark; MODEL is whatever the user asks."""
    desk.ledger()
    (command,) = desk.advised("score", "creation-mmbench-sample", "--store", STORE, expect=2)
    with served(Script(judge="says [[A>B]]")) as server:
        asked = command.replace("MODEL", "vllm/m")
        told = desk.types(asked, "--judge-base-url", server.base_url, "--dry-run")
    assert "trials" in told


def own_file(desk: Desk) -> None:
    items = items_file(desk.folder).rename(desk.folder / "my items.jsonl")
    (command,) = desk.advised("benchmarks", "show", items, expect=2)
    assert "3" in desk.types(command)


def no_descriptions(desk: Desk) -> None:
    desk.ledger()
    with served(Script()) as server:
        asked = ("--model", "vllm/m", "--base-url", server.base_url)
        (command,) = desk.advised(
            "answer", "creation-mmbench-sample", *asked, "--variant", "text-only", "--store", STORE, expect=2
        )
        told = desk.types(command.replace("MODEL", "vllm/m"), "--base-url", server.base_url, "--dry-run")
    assert "image" in told


def divided_annotations(desk: Desk) -> None:
    desk.ledger()
    (desk.folder / "in").mkdir()
    pair = {"generator_1": "ada", "generator_2": "bel", "output_1": "One", "output_2": "Two", "annotator": "gpt"}
    rows = [{"instruction": f"Ask {label}", **pair, "preference": 1.2} for label in ("q1", "q2")]
    file = written(desk.folder / "in" / "annotations.json", json.dumps(rows))
    items = items_file(desk.folder)
    (command,) = desk.advised("import", file, "--judgements", "--benchmark", items, "--store", STORE)
    assert "ada" in desk.types(command)


def a_case_of_two_files(desk: Desk) -> None:
    ledger = desk.ledger()
    numbered(2).judged(ledger, amber_always)
    numbered(3).judged(ledger, amber_always)
    listing, showing = desk.advised("show", "--benchmark", "numbers", "--item", "1", "--store", STORE)
    runs = json.loads(desk.types(listing, "--json"))["runs"]
    assert "amber" in desk.types(showing.replace("RUN", runs[0]["run"]))


def no_verdict_of_a_run(desk: Desk) -> None:
    ledger = desk.ledger()
    scene = numbered(2)
    replace(scene, rater=Rater(kind="human", name="ann")).judged(ledger, amber_always)
    scene.judged(ledger, lambda item, first, second: "unreadable")
    mine = desk.document("runs", "--store", STORE)["runs"][0]["run"]
    (command,) = desk.advised("align", "--run", mine, "--store", STORE, expect=2)
    assert "unreadable" in desk.types(command)


def no_baseline(desk: Desk) -> None:
    desk.ledger()
    name, label = "creation-mmbench-sample", load_benchmark("creation-mmbench-sample").items[0].label
    answers = [{"item": label, "model": model, "response": model} for model in "vwx"]
    file = write_lines(desk.folder / "answers.jsonl", answers)
    desk.run("import", file, "--responses", "--benchmark", name, "--store", STORE)
    pairs = [("v", "w"), ("w", "x"), ("v", "x")]
    rows = [
        {"item": label, "rater": "j 9", "rater_kind": "model", "model_a": a, "model_b": b, "verdict": 1}
        for a, b in pairs
    ]
    file = write_lines(desk.folder / "verdicts.jsonl", rows)
    (run,) = desk.document("import", file, "--judgements", "--benchmark", name, "--store", STORE)["runs"]
    (command,) = desk.advised("score", name, "--run", run, "--store", STORE, expect=2)
    assert "leads" in desk.types(command)


def a_benchmark_that_grows(desk: Desk) -> None:
    """From nothing to a version's files, by what each command says is next."""
    desk.ledger()
    (command,) = desk.advised("growing", "set", "My garden", "--per-skill", 2, "--store", STORE, expect=2)
    skills = written(desk.folder / "skills.txt", "counting\n")
    take, serve = advice_in(desk.types(command, "--skills", skills))
    assert serve.startswith("evenhand serve")
    for person in ("Ada", "Ben"):
        desk.run("people", "add", person, "--store", STORE)
    (desk.folder / "red.png").write_bytes(RED)
    told = {"images": ["red.png"], "skill": "counting", "source": "Dots", "licence": "CC0 1.0"}
    asked = [{**told, "instance": f"{n}", "instruction": "How many?"} for n in range(2)]
    file = write_lines(desk.folder / "rows.jsonl", asked)
    (waiting,) = advice_in(desk.types(take.replace("FILE", str(file))))
    (fill,) = advice_in(desk.types(waiting.replace("FOLDER", "'a sheet'")))
    filled_in(desk.folder / "a sheet" / "caption.csv", by="Ada", captions="One red picture.")
    (worker,) = advice_in(desk.types(fill))
    with served(Script(judge="says One.")) as server:
        desk.types(worker.replace("MODEL", "vllm/m"), "--base-url", server.base_url)
    (waiting,) = desk.advised("growing", "--store", STORE)
    (fill,) = advice_in(desk.types(waiting.replace("FOLDER", "last")))
    filled_in(desk.folder / "last" / "verify.csv", by="Ben", follows="yes")
    (version,) = advice_in(desk.types(fill))
    made = desk.types(version)
    assert "holds 1 item. 1 proposal that asked the very same as another was merged." in made
    (export,) = advice_in(made)
    desk.types(export.replace("FOLDER", "grown"))
    assert len((desk.folder / "grown" / "items.jsonl").read_text(encoding="utf-8").splitlines()) == 1


def images_elsewhere(desk: Desk) -> None:
    """A place for images is named where they lie in another already."""
    ledger = desk.ledger()
    held = ledger.images.put(RED).digest
    (command,) = desk.advised("runs", "--images", "my pictures", "--store", STORE, expect=1)
    assert "my pictures" in desk.types(command)
    with closing(Ledger(f"{STORE}?images=my pictures", create=False)) as moved:
        assert moved.places.images.where == str(desk.folder / "my pictures" / "images")
        assert moved.images.get(held) == RED


def a_backup_for_a_server(desk: Desk) -> None:
    numbered(2).judged(desk.ledger(), amber_always)
    desk.run("ledger", "backup", "safe", "--store", STORE)
    (command,) = desk.advised("ledger", "restore", "safe", "--store", "postgresql://ann@127.0.0.1:9/new", expect=1)
    filled = command.replace("FOLDER/ledger.db", "'safe/my ledger.db'").replace("postgresql://…", "sqlite:///new.db")
    assert "all are equal" in desk.types(filled)


def advice_in(printed: str) -> list[str]:
    return [found[1] or found[2] for found in ADVICE.finditer(printed)]


def filled_in(path: Path, **given: str) -> None:
    with path.open(newline="", encoding="utf-8") as file:
        rows = [{**row, **given} for row in csv.DictReader(file)]
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


SITUATIONS: dict[str, Callable[[Desk], None]] = {
    "evenhand show {}": unread_reply,
    "evenhand show {} --flips": flips,
    "evenhand runs": no_such_run,
    "evenhand rank --benchmark {}": no_paper,
    "evenhand rank --benchmark {} --judge {}": no_baseline,
    "evenhand runs, with --run": two_raters_of_one_name,
    "evenhand judge {} --judge MODEL": nothing_judged,
    "evenhand describe {}": own_file,
    "evenhand describe-images {} --mode {} --model {}": no_descriptions,
    "evenhand rank {}": divided_annotations,
    "evenhand show RUN": a_case_of_two_files,
    "evenhand show {}, of a run": no_verdict_of_a_run,
    "evenhand growing begin {}": a_benchmark_that_grows,
    "evenhand ledger images {}": images_elsewhere,
    "evenhand ledger copy sqlite:///FOLDER/ledger.db postgresql://…": a_backup_for_a_server,
}


@pytest.mark.parametrize("make", SITUATIONS.values(), ids=SITUATIONS.keys())
def test_what_is_advised_works_as_it_was_printed(desk: Desk, make: Callable[[Desk], None]):
    make(desk)


def suggestions() -> Iterator[tuple[str, str]]:
    """Every command in a sentence or a page of ours, with holes for what is filled in, and the file it stands in."""
    for path in sorted([*SOURCES.rglob("*.py"), *SOURCES.rglob("*.html")]):
        for found in ADVICE.finditer(path.read_text(encoding="utf-8")):
            words = html.unescape(found[1] or found[2])
            yield re.sub(r"\{+[^}]*\}+", "{}", words).strip(), path.relative_to(SOURCES).as_posix()


ELSEWHERE = {
    "evenhand {}": "the docstring of a command's own name",
    "evenhand align --benchmark {}": "run below",
    "evenhand rank --method {} --bootstrap 100": "run below",
    "evenhand export --study {} --out study.csv": "tests/cli/test_people_sentences.py",
    "evenhand bridge OLD NEW": "tests/cli/test_bridge.py",
    "evenhand benchmarks show NAME --pages FOLDER": "tests/cli/test_publish.py",
    "evenhand ledger backup FOLDER": "tests/cli/test_ledger.py",
    "evenhand ledger copy FROM TO": "tests/ledger/test_copying.py",
    **dict.fromkeys(
        (
            "evenhand growing take {} FILE",
            "evenhand growing waiting {} FOLDER --step {}",
            "evenhand worker --model MODEL --once",
            "evenhand growing fill {} {}",
            "evenhand growing version {}",
            "evenhand export --grown {} --out FOLDER",
        ),
        "with `growing begin`",
    ),
    **dict.fromkeys(
        (
            "evenhand submissions approve {} --budget DOLLARS",
            "evenhand submissions refuse {} --reason WHY",
            "evenhand submissions close {}",
            "evenhand worker --judge MODEL --once",
        ),
        "tests/cli/test_owner_commands.py",
    ),
    "evenhand people add NAME --role team": "tests/cli/test_owner_commands.py",
    **dict.fromkeys(
        (
            "evenhand score {}",
            "evenhand score {} --run {}",
            "evenhand report --run {}",
            "evenhand export --judgements --protocol NAME",
        ),
        "tests/cli/test_rubric.py",
    ),
    "evenhand submit {} predictions.jsonl --benchmark {} \\\n  --model NAME --version VERSION --team TEAM "
    "--accept-policy --confirm": "tests/cli/test_submit.py",
    "evenhand verify receipt.json --public-key KEY": "tests/cli/test_verify.py",
}
"""Suggestions with something to fill in that no situation above makes, and where they are run."""


def test_no_suggestion_is_left_untyped():
    whole = {words for words, _ in suggestions() if "{" in words or re.search(r"\b[A-Z]{3,}\b", words)}
    assert whole - set(ELSEWHERE) - set(SITUATIONS) == set()


@pytest.mark.parametrize("words", sorted({words for words, _ in suggestions()} - {"evenhand {}"}))
def test_every_command_and_flag_that_is_named_exists(words: str):
    """Of those that name a command without all it needs."""
    command: click.Command = program
    parts = words.split()[1:]
    context = click.Context(program)
    while parts and isinstance(command, click.Group) and not parts[0].startswith("-"):
        found = command.get_command(context, parts.pop(0))
        assert found is not None, words
        command = found
    flags = {flag for one in command.params for flag in (*one.opts, *one.secondary_opts)} | {"--help"}
    assert {part for part in parts if part.startswith("--")} <= flags


def test_commands_that_pages_suggest_run_on_the_ledger_they_show(desk: Desk):
    ledger = desk.ledger()
    numbered(4).judged(ledger, amber_always)
    replace(numbered(4), rater=Rater(kind="human", name="ann")).judged(ledger, amber_always)
    assert "amber" in desk.types(f"evenhand rank --method elo --bootstrap 100 --judge openai/judge --store '{STORE}'")
    assert "people" in desk.types(f"evenhand align --benchmark numbers --store '{STORE}'")
    for site in (site_at("127.0.0.1", 8931), site_at("0.0.0.0", 8300, public_url="https://board.example.org")):
        assert f"{site.url}/join/" in desk.types(f"{site.link_command} --store '{STORE}'")
    desk.types(f"evenhand ledger check --store '{STORE}'")
    desk.types(f"evenhand ledger keys list --store '{STORE}'")


def test_commands_with_a_ledger_are_known_by_their_flag():
    group = Commands()

    def stores(command: click.Command) -> bool:
        if isinstance(command, click.Group) and any(map(stores, command.commands.values())):
            return True
        return any("--store" in one.opts for one in command.params)

    context = click.Context(group)
    found = {name for name in COMMANDS if (one := group.get_command(context, name)) is not None and stores(one)}
    assert found >= OF_LEDGER
    assert "runs" in OF_LEDGER


def test_a_ledger_named_on_the_command_line_is_in_the_advice(monkeypatch: pytest.MonkeyPatch):
    said = "`evenhand runs` lists them; `evenhand judge` makes some; `evenhand rank b.csv` ranks."
    monkeypatch.setattr("sys.argv", ["evenhand", "show", "x", "--store", "sqlite:///a b.db"])
    assert typeable(said) == said.replace("`evenhand runs`", "`evenhand runs --store 'sqlite:///a b.db'`")
    for hidden in ("me:secret@host/db", "me:a/secret@host/db", "me@host/db?sslmode=require&password=secret"):
        monkeypatch.setattr("sys.argv", ["evenhand", "show", "x", f"--store=postgresql://{hidden}"])
        assert typeable(said) == f"{said} {NOT_REPEATED}"
        assert typeable("`evenhand rank b.csv` ranks.") == "`evenhand rank b.csv` ranks."
    assert "EVENHAND_STORE" in NOT_REPEATED
    monkeypatch.setattr("sys.argv", ["evenhand", "show", "x"])
    assert typeable(said) == said
