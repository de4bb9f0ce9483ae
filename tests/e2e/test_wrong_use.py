"""Wrong use and wrong surroundings: a clear sentence, the right exit code, no traceback, an empty standard output."""

import json
import shutil
import socket
from pathlib import Path

import pytest

from tests.e2e.workplace import Ran, Workplace, drawn, stats
from tests.scripted_server import server_process

SAMPLE = ("judge", "visit-bench-sample", "--pairs", "random", "--battles", "5")
SERVER = "http://127.0.0.1:9/v1"


def expect_sentence(ran: Ran, *words: str, code: int = 2) -> None:
    assert ran.code == code, ran.err
    assert ran.out == "" or json.loads(ran.out)["exit_code"] == code
    assert "Traceback" not in ran.err
    assert "Unexpected error" not in ran.err
    for some in words:
        assert some in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--judge", "openai/gpt-4o"), ("No key for openai/gpt-4o: set OPENAI_API_KEY",)),
        (("--judge", "openai/gpt-4o", "--judge-api-key-env", "MINE"), ("No key for openai/gpt-4o: set MINE",)),
        (("--judge", "opnai/gpt-4o"), ("There is no provider 'opnai'", "openai")),
        (("--judge", "gpt-4o"), ("names no provider", "openai/gpt-4o")),
        (("--judge", "x", "--judge-base-url", "localhost:8000"), ("must begin with http:// or https://",)),
        (("--judge", "openai/gpt-4o", "--protocol", "visit_pairwse"), ("visit_pairwse", "visit_pairwise")),
        (("--judge", "openai/gpt-4o", "--items", "nowhere"), ("no item 'nowhere'",)),
        (("--judge", "openai/gpt-4o", "--models", "sample-carefull"), ("sample-carefull", "sample-careful")),
        (("--judge", "openai/gpt-4o", "--against", "nobody", "--pairs", "random"), ("give one of them",)),
        (("--judge", "openai/gpt-4o", "--extra-body", "top_k"), ("--extra-body is not JSON",)),
        (("--judge", "openai/gpt-4o", "--store", "ledger.db"), ("is not a database URL", "sqlite:///")),
        (("--judge", "openai/gpt-4o", "--responses", "nowhere.jsonl"), ("nowhere.jsonl",)),
    ],
)  # fmt: skip
def test_a_wrong_flag_is_told_in_a_sentence(
    here: Workplace, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    code = 1 if "--store" in arguments else 2
    expect_sentence(here.run(*SAMPLE, *arguments), *words, code=code)


def test_an_unknown_benchmark_or_command_is_told_with_the_nearest_name(here: Workplace) -> None:
    expect_sentence(
        here.run("judge", "visit-bench-sampel", "--judge", "openai/gpt-4o"), "visit-bench-sampel", "visit-bench-sample"
    )
    expect_sentence(here.run("jugde"), "There is no command 'jugde'", "judge")


def test_an_unknown_model_stops_the_run_and_is_named(here: Workplace) -> None:
    with server_process() as url:
        ran = here.run(*SAMPLE, "--judge", "openai/gpt-4o", "--judge-base-url", url + "/nothing/here")
    expect_sentence(ran, "There is no model 'gpt-4o', or no chat completions", "(404)")


def test_a_refused_key_stops_the_run_at_once_and_names_its_variable(here: Workplace) -> None:
    with server_process("--key", "sk-right", "--latency", "0.05") as url:
        ran = here.judge(url, OPENAI_API_KEY="sk-wrong-key-0000")
        assert stats(url)["requests"] <= 16
    assert ran.code == 2
    assert "(401)" in ran.err
    assert "OPENAI_API_KEY" in ran.err
    assert ran.document["called"] == 0


def test_a_server_that_wants_a_key_and_gets_none_says_which_variable_to_set(here: Workplace) -> None:
    with server_process("--key", "sk-right") as url:
        ran = here.run(*SAMPLE, "--judge", "openai/gpt-4o", "--judge-base-url", url)
    expect_sentence(ran, "wants a key (401): set OPENAI_API_KEY")


def test_a_web_page_in_place_of_an_endpoint_is_recognised(here: Workplace) -> None:
    with server_process("--fault", "html=1") as url:
        ran = here.run(*SAMPLE, "--judge", "openai/gpt-4o", "--judge-base-url", url)
    expect_sentence(ran, "answered with a page of HTML: is the base URL right?")


def test_a_server_that_is_not_there_is_told(here: Workplace) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        ran = here.run(*SAMPLE, "--judge", "openai/gpt-4o", "--judge-base-url", url)
    expect_sentence(
        ran, "No connection to openai/gpt-4o", "(connection refused): is the server running, and the base URL right?"
    )


def test_connections_that_hang_end_with_the_timeout(here: Workplace) -> None:
    with server_process("--fault", "hang=1") as url:
        ran = here.run(*SAMPLE, "--judge", "openai/gpt-4o", "--judge-base-url", url, "--timeout", "0.2")
    expect_sentence(ran, "did not finish its reply within 0.2 s")


def test_refusals_and_cut_replies_are_results_and_error_objects_with_200_are_failures(here: Workplace) -> None:
    faults = ("--fault", "refusal=0.3", "--fault", "length=0.3", "--fault", "error-200=0.3")
    with server_process(*faults) as url:
        ran = here.judge(url, *drawn(15), "--max-retries", "0")
    assert ran.code == 3
    assert ran.document["no_verdict"].keys() == {"refused", "truncated"}
    assert ran.document["failed"].keys() == {"bad-reply"}
    assert "Replies without a decision, kept and counted:" in ran.err
    assert "Upstream is busy." in ran.err


def test_a_ledger_of_a_newer_version_is_left_alone(here: Workplace) -> None:
    with server_process() as url:
        here.judge(url, *drawn(1))
        with here.by_hand() as hand:
            hand.execute("UPDATE alembic_version SET version_num = '9999'")
        expect_sentence(here.judge(url, *drawn(1)), "was written by a newer Evenhand", "upgrade Evenhand", code=1)
        expect_sentence(here.run("rank"), "was written by a newer Evenhand", code=1)


@pytest.mark.sqlite("of a file")
def test_a_file_that_is_no_ledger_is_said_to_be_none(here: Workplace) -> None:
    here.ledger.parent.mkdir(parents=True)
    here.ledger.write_text("Dear diary, " * 100)
    expect_sentence(here.run(*SAMPLE, "--judge", "openai/gpt-4o"), "is not a usable ledger", code=1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"item": "s01", "model": "mine"}', ("answers.jsonl", "response")),
        ('{"item": "s01", "model": "mine", "response": "A house."', ("answers.jsonl", "1")),
        ('{"item": "nowhere", "model": "mine", "response": "A house."}', ("answers.jsonl", "nowhere")),
    ],
)
def test_a_responses_file_that_does_not_fit_is_told_with_its_row(
    here: Workplace, text: str, words: tuple[str, ...]
) -> None:
    here.folder.mkdir()
    (here.folder / "answers.jsonl").write_text(text + "\n")
    expect_sentence(
        here.run(*SAMPLE, "--judge", "x", "--judge-base-url", SERVER, "--responses", "answers.jsonl"), *words
    )
    assert here.rows("SELECT * FROM responses") == [], "nothing is half-imported"


def test_evenhand_toml_with_a_flag_that_nobody_has_is_wrong_use(here: Workplace) -> None:
    here.folder.mkdir()
    (here.folder / "evenhand.toml").write_text('judgee = "openai/gpt-4o"\n')
    expect_sentence(here.run(*SAMPLE), "evenhand.toml sets 'judgee', which is no flag of any command", "'judge'")
    (here.folder / "evenhand.toml").write_text("judge = \n")
    expect_sentence(here.run(*SAMPLE), "evenhand.toml cannot be read")


def test_a_flag_goes_before_the_environment_and_that_before_evenhand_toml(here: Workplace) -> None:
    here.folder.mkdir()
    (here.folder / "evenhand.toml").write_text('judge = "nope/of-toml"\nbattles = 3\nmax-connections = 2\n')
    arguments = ("judge", "visit-bench-sample", "--pairs", "random", "--dry-run", "--json")
    expect_sentence(here.run(*arguments), "no provider 'nope'")
    real = {"EVENHAND_JUDGE": "openai/gpt-4o", "EVENHAND_BATTLES": "4"}
    assert here.run(*arguments, EVENHAND_JUDGE="openai/gpt-4o").document["trials"] == 6, "of evenhand.toml"
    assert here.run(*arguments, "--battles", "5", **real).document["trials"] == 10, "of the flag"


def test_env_files_are_read_and_the_real_environment_goes_before_them(here: Workplace) -> None:
    here.folder.mkdir()
    (here.folder / "evenhand.toml").write_text("battles = 3\n")
    (here.folder / ".env").write_text("EVENHAND_JUDGE=openai/gpt-4o\nEVENHAND_BATTLES=7\n")
    arguments = ("judge", "visit-bench-sample", "--pairs", "random", "--dry-run", "--json")
    assert here.run(*arguments).document["trials"] == 14, "of .env, which goes before evenhand.toml"
    assert here.run(*arguments, EVENHAND_BATTLES="4").document["trials"] == 8, "of the real environment"


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("evenhand.toml", 'judge-base-url = "{url}"'),
        ("evenhand.toml", 'base_url = "{url}"'),
        (".env", "EVENHAND_JUDGE_BASE_URL={url}"),
        (".env", "OPENAI_BASE_URL={url}"),
    ],
)
def test_a_key_of_ones_own_does_not_go_to_an_address_that_the_folder_chose(
    here: Workplace, file: str, line: str
) -> None:
    here.folder.mkdir()
    key = "sk-my-own-0123456789"
    with server_process("--key", key) as url:
        (here.folder / file).write_text(line.format(url=url) + "\n")
        arguments = (*SAMPLE, "--judge", "openai/gpt-4o")
        ran = here.run(*arguments, OPENAI_API_KEY=key)
        expect_sentence(ran, f"{file} in this folder sets", "which a folder may not choose for you", "--trust-folder")
        assert stats(url)["requests"] == 0
        assert here.run(*arguments, "--trust-folder", OPENAI_API_KEY=key).code == 0


def test_a_key_and_an_address_of_a_trusted_folder_go_together(here: Workplace) -> None:
    here.folder.mkdir()
    with server_process("--key", "sk-of-the-folder-01") as url:
        (here.folder / ".env").write_text(f"OPENAI_BASE_URL={url}\nOPENAI_API_KEY=sk-of-the-folder-01\n")
        expect_sentence(here.run(*SAMPLE, "--judge", "openai/gpt-4o"), ".env in this folder sets OPENAI_BASE_URL")
        ran = here.run(*SAMPLE, "--judge", "openai/gpt-4o", "--trust-folder")
    assert ran.code == 0, ran.err


def test_a_protocol_given_as_a_folder_is_used(here: Workplace) -> None:
    import evenhand.protocols

    here.folder.mkdir()
    shutil.copytree(Path(evenhand.protocols.__file__).parent / "visit_pairwise", here.folder / "mine")
    with server_process() as url:
        ran = here.judge(url, *drawn(2), "--protocol", "./mine")
    assert ran.code == 0, ran.err
