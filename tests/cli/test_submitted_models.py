"""Claims about commands on a ledger with submissions: they play and are shown once published, or where named."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.rows import study_from
from tests.cli.test_placing import PLACES, data_of
from tests.exchange.world import Ran, run, store_in, write_lines
from tests.refusals import says as says_that
from tests.scripted_server import server_process
from tests.submitted_models import all_stages, submitted

HIDDEN = ["judging", "anonymous", "withdrawn", "taken back"]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with server_process("--judge", "always-first") as address:
        yield address


@pytest.fixture
def made(tmp_path: Path) -> dict[str, str]:
    """Beside ada and bel a submission in every stage, by stage."""
    rows = [{"item": p, "model": model, "response": f"{model} on {p}"} for p in PLACES for model in ("ada", "bel")]
    file = write_lines(tmp_path / "founding.jsonl", rows)
    asked = ("--responses", "--benchmark", "visit-bench", "--data", data_of(tmp_path))
    assert run("import", file, *asked, "--store", store_in(tmp_path)).code == 0
    with closing(Ledger(store_in(tmp_path))) as ledger:
        return all_stages(ledger, load_benchmark("visit-bench", path=data_of(tmp_path)).items)


def judged(folder: Path, server: str, *more: object) -> Ran:
    return run(
        "judge", "visit-bench", "--data", data_of(folder), "--judge", "vllm/judge", "--judge-base-url", server,
        "--store", store_in(folder), "--json", *more,
    )  # fmt: skip


def players(folder: Path) -> set[str]:
    """Of all that was judged."""
    with closing(Ledger(store_in(folder))) as ledger, ledger.reading() as connection:
        contents = connection.execute(select(schema.studies.c.content)).scalars().all()
    return {model for content in contents for model in study_from(content).models}


def named(*models: str) -> list[str]:
    return [word for model in models for word in ("--models", model)]


def test_a_plain_judge_plays_founding_models_and_published_submissions(
    tmp_path: Path, server: str, made: dict[str, str]
):
    done = judged(tmp_path, server)
    assert done.code == 0, done.err
    assert players(tmp_path) == {"ada", "bel", "reference", made["published"]}
    assert not any(made[stage] in done.err for stage in HIDDEN)


@pytest.mark.parametrize("file", [True, False])
def test_a_model_that_joins_meets_no_submission_but_the_published(
    tmp_path: Path, server: str, made: dict[str, str], file: bool
):
    rows = [{"item": p, "model": "new", "response": f"new on {p}"} for p in PLACES]
    given = ("--responses", write_lines(tmp_path / "new.jsonl", rows)) if file else ()
    new = "new" if file else "ada"
    done = judged(tmp_path, server, *given, "--pairs", "random", "--new", new, "--battles", 20)
    assert done.code == 0, done.err
    met = "ada, bel" if file else "bel"
    assert f"Opponents of {new}: {met}, {made['published']}, reference." in done.err


def test_the_owner_has_an_anonymous_one_judged_by_naming_it_and_is_told_so(
    tmp_path: Path, server: str, made: dict[str, str]
):
    model = made["anonymous"]
    done = judged(tmp_path, server, *named("ada", model))
    assert done.code == 0, done.err
    assert players(tmp_path) == {"ada", model}
    assert f"Note: {model} is a submission that its team has not published" in done.err
    joins = ("--pairs", "random", "--new", model, "--battles", 8, *named(model, "bel"))
    joined = judged(tmp_path, server, *joins, "--dry-run")
    assert f"Opponents of {model}: bel." in joined.err
    assert joined.err.count("not published") == 1


def test_a_published_one_is_named_without_a_note(tmp_path: Path, server: str, made: dict[str, str]):
    done = judged(tmp_path, server, *named("ada", made["published"]))
    assert done.code == 0, done.err
    assert "not published" not in done.err
    assert players(tmp_path) == {"ada", made["published"]}


@pytest.mark.parametrize(
    ("stage", "says"),
    [
        ("withdrawn", "was withdrawn by its team and is judged no more"),
        ("taken back", "was withdrawn by its team and is judged no more"),
        ("judging", "is no submission that has been judged"),
    ],
)
def test_one_that_stands_on_no_board_is_not_judged_whatever_flag_names_it(
    tmp_path: Path, server: str, made: dict[str, str], stage: str, says: str
):
    model = made[stage]
    for flags in (named("ada", model), ["--against", model], ["--pairs", "random", "--new", model]):
        refused = judged(tmp_path, server, *flags)
        assert refused.code == 2
        assert f"'{model}' {says}" in refused.err
    assert players(tmp_path) == set()


def test_a_label_that_no_submission_bears_is_not_judged(tmp_path: Path, server: str, made: dict[str, str]):
    assert made
    refused = judged(tmp_path, server, *named("ada", "submission-0"))
    assert refused.code == 2
    says_that(refused.refused, "EH-SUBMISSION-CLOSED", "'submission-0'", "`evenhand worker`")


def test_answers_of_hidden_submissions_alone_are_as_none(tmp_path: Path, server: str):
    with closing(Ledger(store_in(tmp_path))) as ledger:
        submitted(ledger, load_benchmark("visit-bench", path=data_of(tmp_path)).items, "anonymous")
    refused = judged(tmp_path, server)
    assert refused.code == 2
    says_that(refused.refused, "EH-CHOOSE-NOTHING", "visit-bench")


def test_a_file_may_not_speak_for_a_submission(tmp_path: Path, server: str, made: dict[str, str]):
    model = made["published"]
    rows = [{"item": p, "model": name, "response": f"other words {p}"} for p in PLACES for name in ("cyd", model)]
    file = write_lines(tmp_path / "false.jsonl", rows)
    refused = judged(tmp_path, server, "--responses", file, "--replace")
    assert refused.code == 2
    says_that(refused.refused, "EH-NAME-RESERVED", f"`{model}`")
    asked = ("--responses", "--benchmark", "visit-bench", "--data", data_of(tmp_path), "--store", store_in(tmp_path))
    imported = run("import", file, *asked)
    assert imported.code == 2
    says_that(imported.refused, "EH-NAME-RESERVED", f"`{model}`")


def test_no_model_is_asked_under_the_name_of_a_submission(tmp_path: Path, server: str):
    refused = run(
        "answer", "visit-bench", "--data", data_of(tmp_path), "--model", "vllm/m", "--base-url", server,
        "--name", "submission-0", "--store", store_in(tmp_path),
    )  # fmt: skip
    assert refused.code == 2
    says_that(refused.refused, "EH-NAME-RESERVED", "'submission-0'", "--name")


def sampled(folder: Path, *more: object) -> Ran:
    asked = ("visit-bench", "--data", data_of(folder), "--per-task", 4)
    return run("sample", *asked, "--store", store_in(folder), "--json", *more)


def test_a_sample_for_people_holds_no_submission_but_the_published(tmp_path: Path, made: dict[str, str]):
    done = sampled(tmp_path)
    assert done.code == 0, done.err
    assert set(done.document["models"]) == {"ada", "bel", "reference", made["published"]}


@pytest.mark.parametrize("stage", HIDDEN)
def test_a_sample_for_people_refuses_what_is_not_published(tmp_path: Path, made: dict[str, str], stage: str):
    for flags in (named("ada", made[stage]), ["--against", made[stage]]):
        refused = sampled(tmp_path, *flags)
        assert refused.code == 2
        says_that(refused.refused, "EH-SUBMISSION-CLOSED", f"'{made[stage]}'")
    assert players(tmp_path) == set()
