"""Claims about a judge that is asked again: whether it has changed, since when, and what it costs to know."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.changing_judge import judge_process
from tests.cli.shell import Shell
from tests.exchange.world import write_lines

MODELS = ("ada", "bel", "cyd", "dot", "eve", "fay")
ITEMS = 40
"""Each has thirty rows: fifteen pairs in both orders."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with judge_process("any") as address:
        yield address


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    for name in ("EVENHAND_BASE_URL", "EVENHAND_JUDGE_BASE_URL", "EVENHAND_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-the-test")
    return Shell(tmp_path, monkeypatch, capsys)


def judged(shell: Shell, address: str, *more: str, items: int, models: tuple[str, ...] = MODELS) -> None:
    labels = [f"place-{number}" for number in range(items)]
    asked = [{"item": one, "instruction": f"Ask {one}.", "caption": "A square."} for one in labels]
    write_lines(shell.folder / "items.jsonl", asked)
    # How long an answer is hangs on item and model alike, so that no model has all the long ones.
    answers = [
        {"item": one, "model": model, "response": f"{model} on {one}:{' word' * (5 + (3 * place + 7 * number) % 11)}"}
        for number, one in enumerate(labels)
        for place, model in enumerate(models)
    ]
    write_lines(shell.folder / "answers.jsonl", answers)
    files = ("--data", "items.jsonl", "--responses", "answers.jsonl")
    shell.run("judge", "visit-bench", *files, *judge(address), *more, "--quiet")


def judge(address: str) -> tuple[str, ...]:
    """By a name that does not hang on the port, so that two servers are one judge."""
    return ("--judge", "openai/j", "--judge-base-url", address, "--endpoint-name", "watched")


@pytest.mark.slow
def test_a_judge_that_comes_to_favour_long_answers_is_found_with_since_when(shell: Shell):
    with judge_process("before") as before, judge_process("after", 0.4, "fp_newer") as after:
        judged(shell, before, items=ITEMS)
        board = shell.document("rank")
        for month in (1, 2, 3):
            told = shell.document("sentinel", *judge(before), "--look", f"2026-0{month}", "--require", "unchanged")
            assert (told["state"], told["since"], told["endpoint"]) == ("no sign of change", None, [])
            assert told["asking"]["called"] == told["looks"][-1]["rows"] == 100
        month = 3
        while told["state"] == "no sign of change":
            month += 1
            told = shell.document("sentinel", *judge(after), "--look", f"2026-{month:02}")
        assert month <= 7
        assert (told["since"], told["alarm_in"]) == ("2026-04", f"2026-{month:02}")
        assert told["endpoint"] == ["Since 2026-04 the endpoint calls its system fp_newer; before it was fp_scripted."]
        assert [one["toward"] for one in told["shifts"] if one["leads"]] == ["longer"]
        (longer,) = [one for one in told["shifts"] if one["toward"] == "longer"]
        assert longer["shift_lower"] < 0.094 < longer["shift_upper"]
        (first,) = [one for one in told["shifts"] if one["toward"] == "first"]
        assert first["shift_lower"] < 0 < first["shift_upper"]

        again = shell.document(
            "sentinel", *judge(after), "--look", f"2026-{month:02}", "--require", "unchanged", expect=4
        )
        assert again["asking"]["called"] == 0
        assert again["shifts"] == told["shifts"]
        printed, _ = shell.run("sentinel", "--judge", "openai/j", "--rows", 0)
        lines = printed.splitlines()
        assert "fp_newer" in lines[0]
        assert "openai/j has changed since 2026-04" in printed
        said = " ".join(printed.split())
        assert "toward the longer answer" in said
        assert "under another --endpoint-name, and `evenhand bridge OLD NEW` with a run of each" in said
        assert shell.document("rank") == board
        (known,) = shell.document("judges")["judges"]
        assert (known["sentinel"], known["sentinel_since"]) == ("changed", "2026-04")


def test_a_look_asks_its_rows_once_and_the_same_command_again_asks_nothing(shell: Shell, server: str):
    judged(shell, server, items=3, models=MODELS[:3])
    of = ("sentinel", *judge(server), "--rows", 10, "--look", "one")
    first = shell.document(*of, "--require", "unchanged")
    assert (first["asking"]["called"], first["rows"], first["rows_left"]) == (10, 10, 8)
    again = shell.document(*of)
    assert (again["asking"]["called"], again["rows"]) == (0, 10)
    more = shell.document("sentinel", *judge(server), "--look", "two")
    assert (more["asking"]["called"], more["rows"], more["rows_left"]) == (8, 18, 0)
    assert [one["look"] for one in more["looks"]] == ["one", "two"]
    shell.refuses("EH-ROWS-USED-UP", "none is asked twice", of=("sentinel", *judge(server), "--look", "three"))
    assert "Asked again, look by look" in shell.run("sentinel", "--judge", "openai/j", "--rows", 0)[0]


def test_a_look_is_called_by_the_month_where_nobody_names_it(shell: Shell, server: str):
    judged(shell, server, items=1, models=MODELS[:2])
    (look,) = shell.document("sentinel", *judge(server))["looks"]
    assert look["look"] == look["day"][:7]


def test_a_dry_run_tells_the_price_and_asks_nobody(shell: Shell, server: str):
    judged(shell, server, items=2, models=MODELS[:2])
    price = ("--price", "input=1000,output=1000")
    told = shell.document("sentinel", *judge(server), "--dry-run", *price)
    assert (told["trials"], told["calls_at_least"]) == (4, 4)
    assert told["cost_usd"] > 0
    assert shell.document("sentinel", "--judge", "openai/j", "--rows", 0)["state"] == "nothing asked again"
    stopped = shell.document("sentinel", *judge(server), *price, "--max-cost", 0.000001, expect=3)
    assert stopped["asking"]["not_reached"] == 4


def test_a_dry_run_tells_what_is_likely_to_be_spent_as_it_then_is(shell: Shell, server: str):
    judged(shell, server, items=3, models=MODELS[:3])
    look = ("sentinel", *judge(server), "--rows", 10, "--price", "input=1000,output=2000")
    told = shell.document(*look, "--dry-run")
    ran = shell.document(*look)["asking"]
    assert told["expected"]["replies_on_record"] == 18
    assert told["cost_usd_low"] <= told["cost_usd_expected"] <= told["cost_usd_high"] < told["cost_usd"]
    assert told["cost_usd_expected"] == pytest.approx(ran["cost_usd"], rel=0.05)
    said, _ = shell.run(*look, "--look", "next", "--dry-run")
    assert "Likely cost" in said


def test_a_service_tier_is_the_judges_and_not_the_extractors(shell: Shell, server: str):
    extractor = ("--extractor", "vllm/finder", "--extractor-base-url", server)
    judged(shell, server, *extractor, items=2, models=MODELS[:2])
    told = shell.document("sentinel", *judge(server), *extractor, "--service-tier", "flex", "--dry-run")
    assert told["calls_at_least"] == 4


def test_where_nothing_was_asked_again_the_rule_is_not_met(shell: Shell, server: str):
    judged(shell, server, items=1, models=MODELS[:2])
    _, said = shell.run("sentinel", "--judge", "openai/j", "--rows", 0, "--require", "unchanged", expect=4)
    assert "--require unchanged is not met: nothing was asked again" in said


def test_another_endpoint_than_the_one_on_record_is_refused_with_the_flags_that_fit(shell: Shell, server: str):
    judged(shell, server, items=1, models=MODELS[:2])
    other = ("sentinel", "--judge", "openai/j", "--judge-base-url", server)
    shell.refuses("EH-MISUSE", "openai/j at watched", "--endpoint-name watched", of=other)
    shell.refuses("EH-CHOOSE-NOTHING", "openai/j", of=("sentinel", "--judge", "openai/k", "--judge-base-url", server))


def test_of_a_judge_at_two_endpoints_one_run_says_which_is_meant(shell: Shell, server: str):
    judged(shell, server, items=1, models=MODELS[:2])
    files = ("--data", "items.jsonl", "--responses", "answers.jsonl")
    newer = ("--judge", "openai/j", "--judge-base-url", server, "--endpoint-name", "newer")
    run = shell.document("judge", "visit-bench", *files, *newer, "--quiet")["run"]
    shell.refuses("EH-CHOOSE-SEVERAL", "--run", of=("sentinel", *newer))
    told = shell.document("sentinel", *newer, "--run", run, "--look", "one")
    assert (told["asking"]["called"], told["rows_left"]) == (2, 0)
    (other,) = {one["run"] for one in shell.document("runs")["runs"] if one["command"] == "judge"} - {run}
    beside = shell.document("sentinel", "--judge", "openai/j", "--rows", 0, "--run", other)
    assert (beside["state"], beside["rows_left"]) == ("nothing asked again", 2)
    shell.refuses("EH-MISUSE", "not by openai/k", of=("sentinel", "--judge", "openai/k", "--rows", 0, "--run", run))


def test_an_audit_before_and_after_does_not_take_these_replies_for_its_own(shell: Shell, server: str):
    """The rows that an audit asks twice are asked a third time by a look, and the audit's own repeats stay its own."""
    judged(shell, server, items=3, models=MODELS[:3])
    shell.document("sentinel", *judge(server), "--look", "one")
    files = ("--benchmark", "visit-bench", "--data", "items.jsonl", "--responses", "answers.jsonl")
    _, said = shell.run("audit", *files, *judge(server), "--part", "pairs", "--quiet")
    # Eighteen showings are known from the board; the six repeats are not, though a look asked all eighteen again.
    assert "24 trials: 18 known before, 6 asked" in said


def test_the_tables_and_the_picture_are_written(shell: Shell, server: str):
    judged(shell, server, items=2, models=MODELS[:3])
    shell.run("sentinel", *judge(server), "--look", "one", "--plot", "looks.svg")
    assert "Does the judge decide as it did?" in (shell.folder / "looks.svg").read_text()
    out, _ = shell.run("sentinel", "--judge", "openai/j", "--rows", 0, "--format", "csv")
    assert out.splitlines()[0] == "look,day,rows,no verdict,other verdict,to the first,to the longer,evidence"
