"""Claims about `judge --dry-run`: it refuses what the run would, and tells the likely cost and what it buys."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from tests.cli.served import served
from tests.cli.test_placing import judged, placed
from tests.exchange.world import Ran, run, store_in
from tests.refusals import says
from tests.scripted_server import Body, Script, server_process

PRICE = ("--price", "input=1000,output=2000")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with server_process("--judge", "always-first", "--per-character", "0.4") as address:
        yield address


def asked(folder: Path, judge: str, *more: object) -> Ran:
    return run(
        "judge", "visit-bench-sample", "--judge", judge, "--limit", 2, "--store", store_in(folder), "--dry-run", *more
    )


@pytest.mark.parametrize(
    ("judge", "flags", "code", "facts"),
    [
        ("anthropic/claude-3", ("--sampling-seed", 3), "EH-SETTING-REFUSED", ("seed",)),
        ("anthropic/claude-3", ("--temperature", 2), "EH-SETTING-REFUSED", ("temperature", "1")),
        ("anthropic/claude-3", ("--readout", "constrained"), "EH-LOGPROBS-MISSING", ("--readout free",)),
        ("openai/gpt-4o", ("--extra-body", '{"model": "x"}'), "EH-MISUSE", ("extra_body", "model")),
    ],
)
def test_settings_that_the_run_would_refuse_are_refused_without_a_key(
    tmp_path: Path, judge: str, flags: tuple[str, ...], code: str, facts: tuple[str, ...]
) -> None:
    done = asked(tmp_path, judge, *flags)
    assert done.code == 2
    says(done.refused, code, *facts)


def test_what_would_be_sent_otherwise_is_told(tmp_path: Path) -> None:
    plain = asked(tmp_path, "openai/gpt-4o", "--json").document
    assert plain["adapted"] == []
    folder = tmp_path / "hot"
    folder.mkdir()
    protocol = Path(__file__).parents[2] / "src/evenhand/protocols/visit_pairwise"
    for file in protocol.iterdir():
        if file.is_file():
            (folder / file.name).write_bytes(file.read_bytes())
    toml = (folder / "protocol.toml").read_text(encoding="utf-8")
    assert "temperature" in toml
    lines = ["temperature = 1.5" if line.startswith("temperature") else line for line in toml.splitlines()]
    (folder / "protocol.toml").write_text("\n".join(lines), encoding="utf-8")
    told = asked(tmp_path, "anthropic/claude-3", "--protocol", folder, "--json").document
    (sentence,) = told["adapted"]
    assert "1.5" in sentence
    assert sentence in asked(tmp_path, "anthropic/claude-3", "--protocol", folder).err


def test_without_replies_on_record_the_published_length_is_taken_and_said(tmp_path: Path) -> None:
    document = asked(tmp_path, "openai/gpt-4o", *PRICE, "--json").document
    likely = document["expected"]
    assert (likely["replies_on_record"], likely["output_tokens"]) == (0, 250 * document["calls_at_least"])
    assert likely["cost_usd"] == pytest.approx(
        (1000 * document["tokens"]["input"] + 2000 * likely["output_tokens"]) / 1e6
    )
    assert likely["cost_usd_lower"] == document["cost_usd_at_least"]
    assert likely["cost_usd_upper"] == document["cost_usd"]
    assert document["tokens"]["counted_by"].startswith("an estimate")
    assert "250 tokens a reply" in asked(tmp_path, "openai/gpt-4o", *PRICE).out


def test_replies_on_record_say_what_the_next_will_cost(tmp_path: Path, server: str) -> None:
    judged(tmp_path, server, ["ada", "bel"], *PRICE)
    dry = placed(tmp_path, server, "new", *PRICE, "--dry-run").document
    likely = dry["expected"]
    assert likely["replies_on_record"] >= 8
    assert "on record" in likely["basis"]
    ran = placed(tmp_path, server, "new", *PRICE).document
    assert dry["calls_at_least"] == ran["requests"]
    assert likely["cost_usd"] == pytest.approx(ran["cost_usd"], rel=0.001), "the scripted judge's replies are all alike"
    assert dry["cost_usd_at_least"] < likely["cost_usd"] < dry["cost_usd"] / 2
    assert placed(tmp_path, server, "new", "--dry-run").document["expected"] is None, "nothing is left to be asked"


def test_replies_that_were_read_in_another_way_say_nothing_of_these(tmp_path: Path, server: str) -> None:
    judged(tmp_path, server, ["ada", "bel"], *PRICE, "--readout", "constrained")
    likely = judged(tmp_path, server, ["ada", "bel"], *PRICE, "--dry-run").document
    assert likely["expected"]["replies_on_record"] == 0
    assert likely["expected"]["output_tokens"] == 250 * likely["calls_at_least"]


def test_too_few_replies_on_record_are_counted_and_not_denied(tmp_path: Path, server: str) -> None:
    one_battle = ("--limit", 1, "--models", "ada", "--models", "bel")
    judged(tmp_path, server, ["ada", "bel"], *PRICE, *one_battle)
    likely = judged(tmp_path, server, ["ada", "bel"], *PRICE, "--dry-run").document["expected"]
    assert likely["replies_on_record"] == 0
    assert likely["basis"].startswith("only 2 replies of this judge"), "in both orders"
    assert "5 are needed" in likely["basis"]


def test_what_two_protocols_cost_at_least_and_at_most_adds_up(tmp_path: Path) -> None:
    command = ("judge", "creation-mmbench-sample", "--judge", "openai/gpt-4o", *PRICE, "--store", store_in(tmp_path))
    document = run(*command, "--dry-run", "--json").document
    likely = document["expected"]
    assert likely["replies_on_record"] == 0
    assert likely["cost_usd_lower"] == pytest.approx(document["cost_usd_at_least"])
    assert likely["cost_usd_upper"] == pytest.approx(document["cost_usd"])


def test_the_range_holds_what_replies_of_any_length_then_cost(tmp_path: Path) -> None:
    def rambles(body: Body) -> str:
        length = int.from_bytes(hashlib.sha256(json.dumps(body["messages"]).encode()).digest()[:2], "big") % 300
        return " word" * length + "\n\nOverall, Response A is better."

    with served(Script(judge=rambles)) as server:
        judged(tmp_path, server.base_url, ["ada", "bel"], *PRICE)
        likely = placed(tmp_path, server.base_url, "new", *PRICE, "--dry-run").document["expected"]
        ran = placed(tmp_path, server.base_url, "new", *PRICE).document
    assert likely["cost_usd_lower"] < ran["cost_usd"] < likely["cost_usd_upper"]
    assert likely["cost_usd_upper"] - likely["cost_usd_lower"] > 0.1 * likely["cost_usd"], "24 replies say not much"


@pytest.mark.parametrize("orders", ["both", "published"])
def test_what_placing_buys_is_about_the_interval_that_models_on_the_board_have(tmp_path: Path, orders: str) -> None:
    """Each of the four on the board fights the other three on four items: as many battles as the new one is to, but
    against three and not four."""
    asked = ("--orders", orders)
    with server_process() as address:
        alone = placed(tmp_path, address, "new", "--dry-run", "--allow-partial", *asked).document["expected_interval"]
        assert alone["models_on_record"] == 0
        assert "decided, independent battles of equals" in alone["basis"]
        judged(tmp_path, address, ["ada", "bel", "cyd"], *asked)
        buys = placed(tmp_path, address, "new", "--dry-run", *asked).document["expected_interval"]
        board = json.loads(run("rank", "--store", store_in(tmp_path), "--json").out)
    bounded = [one for one in board["models"] if one["rating_lower"] is not None and one["rating_upper"] is not None]
    assert buys["models_on_record"] == len(bounded) > 0
    widths = [(one["rating_upper"] - one["rating_lower"]) / 2 for one in bounded]
    assert buys["points"] == pytest.approx(median(widths), rel=0.10)
