"""`--batch` on every command that asks: sent, left, collected; what is told, and what goes over each wire."""

import base64
import json
import os
import re
import signal
import time
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from sqlalchemy import select

import evenhand as eh
from evenhand.cli.ask.progress import batch_line
from evenhand.domain.errors import Misuse
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.models.batch.record import OpenBatch
from tests.cli.served import taking_batches
from tests.cli.shell import Shell
from tests.scripted_server import Script

JUDGE = ("judge", "visit-bench-sample", "--judge", "openai/gpt-4o", "--pairs", "random", "--battles", "3")
KEY = "sk-batches-0123456789abcdef"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


def test_a_batch_is_sent_and_left_shown_and_collected(shell: Shell) -> None:
    with taking_batches(polls=3) as server:
        asked = (*JUDGE, "--judge-base-url", server.base_url, "--price", "input=10,output=10,batch=0.5", "--batch")
        left = shell.document(*asked, "--batch-wait", "0", expect=3)
        assert (left["in_batches"], left["called"], left["planned"]) == (6, 0, 6)
        _, err = shell.run(*asked, "--batch-wait", "0", expect=3)
        assert "6 trials wait in batches" in err
        assert shell.document(*asked, "--dry-run")["calls_in_batches"] == 6
        out, _ = shell.run(*asked, "--dry-run")
        assert "6 of these calls wait in batches already" in out
        out, _ = shell.run("runs")
        assert "batch 1 of 1: 0 of 6 done, submitted" in out
        assert "0 known, 0 asked, 6 left in batches" in out
        assert "sent in batches" in out
        (batch,) = shell.document("runs")["runs"][-1]["batches"]
        assert (batch["batch"], batch["state"], batch["calls"]) == ("batch_0", "created", 6)
        done = shell.document(*asked)
        assert (done["verdicts"], done["in_batches"]) == (6, 0)
        assert shell.document(*asked, "--dry-run")["calls_in_batches"] == 0
        assert set(server.came.values()) == {1}
        assert not any(one["batches"] for one in shell.document("runs")["runs"])
        assert server.attempts.total() == 0


GRADE = ("grade", "--benchmark", "visit-bench-sample", "--judge", "openai/gpt-4o", "--limit", "2")
AUDIT = ("audit", "--judge", "openai/gpt-4o", "--budget", "60", "--require", "swap_consistency>=0.5")


@pytest.mark.parametrize("asked", [GRADE, AUDIT])
@pytest.mark.slow
def test_nothing_is_reported_of_a_judge_whose_replies_all_wait(shell: Shell, asked: tuple[str, ...]) -> None:
    with taking_batches(polls=10_000) as server:
        where = ("--judge-base-url", server.base_url, "--batch", "--batch-wait", "0")
        out, err = shell.run(*asked, *where, expect=3)
        assert out == ""
        assert "wait in batches" in err
        assert "at the latest by" in err
        shell.document(*asked, *where, expect=3)


def test_what_waits_in_a_batch_is_not_among_what_a_budget_left_out(shell: Shell) -> None:
    with taking_batches(polls=10_000) as server:
        asked = (*JUDGE, "--judge-base-url", server.base_url, "--price", "input=10,output=10,batch=0.5", "--batch")
        plan = shell.document(*asked, "--dry-run")
        most = plan["cost_usd"] / 6
        _, err = shell.run(*asked, "--batch-wait", "0", "--max-cost", f"{3.5 * most:.6f}", expect=3)
        words = " ".join(err.split())
        (waiting,) = re.findall(r"(\d) trials wait in batches", words)
        assert f"{6 - int(waiting)} trials are not asked" in words
        assert "set aside for the calls that wait in batches" in words


@pytest.mark.slow
def test_an_interrupt_tells_that_batches_go_on(shell: Shell) -> None:
    with taking_batches(polls=10_000) as server:
        server.at["polled"] = lambda times: os.kill(os.getpid(), signal.SIGINT) if times == 1 else None
        _, err = shell.run(*JUDGE, "--judge-base-url", server.base_url, "--batch", expect=130)
        assert "6 calls left in batches" in err
        assert "6 trials wait in batches" in err
        assert "Interrupted." in err
        assert "not asked" not in err


@pytest.mark.slow
def test_a_batch_that_expired_is_no_reason_to_doubt_the_key(shell: Shell) -> None:
    with taking_batches(fault=lambda _, before: "expired") as server:
        _, err = shell.run(*JUDGE, "--judge-base-url", server.base_url, "--batch", "--max-retries", "0", expect=3)
        assert "6 timeout" in err
        assert "doctor" not in err
        assert "sends these calls anew" in err


@pytest.mark.slow
def test_what_came_in_a_batch_took_no_time_that_is_told(shell: Shell) -> None:
    with taking_batches() as server:
        shell.run(*JUDGE, "--judge-base-url", server.base_url, "--batch")
        (judge,) = shell.document("judges")["judges"]
        assert judge["latency_seconds"] is None
        out, _ = shell.run("judges")
        assert "median wait" not in out
        ledger = Ledger("sqlite:///.evenhand/ledger.db")
        with ledger.reading() as connection:
            trial = connection.execute(select(schema.judgements.c.trial)).scalars().first()
        ledger.close()
        out, _ = shell.run("show", trial)
        assert "Reply (" in out
        assert "0.0 s" not in out


@pytest.mark.slow
def test_the_board_of_a_run_by_batch_is_that_of_a_plain_one(shell: Shell) -> None:
    boards: list[dict[str, Any]] = []
    with taking_batches(polls=2, backwards=True) as server:
        where = ("--judge-base-url", server.base_url, "--endpoint-name", "scripted")
        for name, how in (("plain", ()), ("batch", ("--batch",))):
            store = ("--store", f"sqlite:///{shell.folder}/{name}.db")
            shell.run(*JUDGE[:-1], "20", *where, *how, *store)
            boards.append(shell.document("rank", *store))
    assert len(boards[0]["models"]) > 1
    assert boards[1]["models"] == boards[0]["models"]


def test_a_plan_tells_the_other_price_and_never_the_same_twice(shell: Shell) -> None:
    where = ("--judge-base-url", "http://127.0.0.1:9/v1", "--dry-run")
    price = ("--price", "input=10,output=10,batch=0.25")
    plain, _ = shell.run(*JUDGE, *where, *price)
    batch, _ = shell.run(*JUDGE, *where, *price, "--batch")
    likely = {name: re.search(r"Likely cost: (\$[\d.]+)", said)[1] for name, said in (("p", plain), ("b", batch))}  # type: ignore[index]
    assert f"With --batch it would be about {likely['b']}." in plain
    assert f"That is the price in batches; call by call it would be about {likely['p']}." in batch
    assert "call by call" not in plain
    assert "With --batch" not in batch
    for more in ((), ("--batch",)):
        none, _ = shell.run(*JUDGE, *where, "--price", "input=10,output=10", *more)  # a server of one's own
        assert ("With --batch" in none, "call by call" in none) == (False, bool(more))


@pytest.mark.parametrize("how", [(), ("--batch",)])
def test_where_what_images_take_is_unknown_no_price_is_told_by_batch_either(shell: Shell, how: tuple[str, ...]) -> None:
    Image.new("RGB", (64, 64)).save(shell.folder / "a.png")
    shell.file("items.jsonl", json.dumps({"item": "a", "instruction": "What is it?", "images": ["a.png"]}))
    ask = ("answer", "items.jsonl", "--model", "mistral/m", "--price", "input=10,output=10", "--dry-run")
    out, _ = shell.run(*ask, *how)
    assert "Likely cost: unknown" in out
    assert "With --batch" not in out
    assert "call by call" not in out
    assert shell.document(*ask, *how)["expected"]["cost_usd_batch"] is None


@pytest.mark.slow
def test_a_plan_counts_on_what_is_put_into_caches(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with taking_batches(wire="anthropic", cache_written=50) as server:
        price = ("--price", "input=10,output=10,written=1000,batch=0.5")
        asked = ["anthropic/c" if word == "openai/gpt-4o" else word for word in JUDGE]
        asked += ["--judge-base-url", server.base_url, "--batch", *price]
        before = shell.document(*asked, "--dry-run")
        tokens = before["tokens"]
        most = (1000 * tokens["input_at_most"] + 10 * tokens["output_at_most"]) / 2e6
        assert before["cost_usd"] == pytest.approx(most)
        paid = shell.document(*asked)["cost_usd"]
        asked[asked.index("3")] = "6"
        plan = shell.document(*asked, "--dry-run")
        new = plan["calls_at_least"]
        assert plan["cost_usd_expected"] == pytest.approx(paid / 6 * new, rel=0.25)
        assert "of them put there" in plan["expected"]["basis"]


def test_progress_tells_how_the_first_batch_stands_that_is_waited_for() -> None:
    now = time.time()
    ended = OpenBatch(id="a", state="created", entries=2000, done=2000, at=now)
    under_way = OpenBatch(id="b", state="created", entries=2000, done=1204, at=now - 14 * 60, calls={"x"})
    fresh = OpenBatch(id="c", state="uploading", entries=7, at=now, calls={"y"})
    assert batch_line([ended, under_way, fresh]) == "batch 2 of 3: 1,204 of 2,000 done, submitted 14 min ago"
    assert batch_line([ended, fresh]) == "batch 2 of 2: 7 calls, being uploaded"
    under_way.missed = True
    assert batch_line([under_way]).endswith("done, submitted 14 min ago, not found at the provider so far")


def test_the_key_goes_to_the_server_and_is_never_told(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with taking_batches(Script(key="another-key-0123456789")) as server:
        out, err = shell.run(*JUDGE, "--judge-base-url", server.base_url, "--batch", expect=2)
        assert "OPENAI_API_KEY" in err
        assert "batch" not in err  # nothing was sent, and nothing waits
        assert KEY not in out + err
        assert shell.document("runs")["runs"][0]["outcome"]["error_code"] == "EH-KEY-REFUSED"
        assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert KEY.encode() not in b"".join(path.read_bytes() for path in shell.folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((*JUDGE, "--batch-wait", "5"), "EH-USAGE"),
        ((*JUDGE, "--batch-resend"), "EH-USAGE"),
        ((*JUDGE, "--batch", "--service-tier", "flex"), "EH-SETTING-REFUSED"),
        (("judge", "visit-bench-sample", "--judge", "ollama/x", "--batch"), "EH-BATCH-REFUSED"),
        (("judge", "visit-bench-sample", "--judge", "local/smollm2", "--batch"), "EH-BATCH-REFUSED"),
        ((*JUDGE, "--price", "input=1,output=1,batch=half"), "EH-MISUSE"),
    ],
)
def test_what_cannot_be_sent_in_batches_is_refused_with_a_sentence(
    shell: Shell, words: tuple[str, ...], code: str
) -> None:
    refused = shell.refused(*words)
    assert refused.code == code
    assert "batch" in str(refused)


@pytest.mark.slow
def test_answers_by_message_batches_show_their_images(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    Image.new("RGB", (6, 4), (1, 2, 3)).save(shell.folder / "a.png")
    rows = [json.dumps({"item": f"{n}", "instruction": f"What is {n}?", "images": ["a.png"]}) for n in range(3)]
    shell.file("pictures.jsonl", *rows)
    with taking_batches(Script(judge=lambda _: "A thing."), wire="anthropic") as server:
        answer = ("answer", "pictures.jsonl", "--model", "anthropic/claude-x", "--base-url", server.base_url)
        done = shell.document(*answer, "--name", "m", "--batch", "--max-tokens", "50", "--stop", "END")
        assert (done["verdicts"], done["called"]) == (3, 3)
        entries = [entry for one in server.batches for entry in one.entries]
    params = entries[0]["params"]
    assert (params["max_tokens"], params["stop_sequences"]) == (50, ["END"])
    (image,) = [block for block in params["messages"][0]["content"] if block["type"] == "image"]
    assert (image["source"]["type"], image["source"]["media_type"]) == ("base64", "image/png")
    assert Image.open(BytesIO(base64.b64decode(image["source"]["data"]))).size == (6, 4)
    assert {header["x-api-key"] for header in server.headers} == {KEY}
    assert {header["anthropic-version"] for header in server.headers} == {"2023-06-01"}
    assert not any("Authorization" in header for header in server.headers)


@pytest.mark.slow
def test_what_message_batches_begin_with_alike_is_marked_for_the_cache(shell: Shell) -> None:
    with taking_batches(wire="anthropic") as server:
        judge = ("judge", "visit-bench-sample", "--judge", "anthropic/c", "--judge-base-url", server.base_url)
        shell.run(*judge, "--pairs", "random", "--battles", "3", "--batch", "--protocol", "visit_pairwise")
        entries = [entry["params"] for one in server.batches for entry in one.entries]
    blocks = [
        [*one.get("system", []), *(block for turn in one["messages"] for block in turn["content"])] for one in entries
    ]
    marked = [[block["text"] for block in some if "cache_control" in block] for some in blocks]
    assert marked[0] == []
    shared = marked[1:]
    assert len(shared) == 5
    assert all(len(some) == 1 for some in shared)
    assert len({some[0] for some in shared}) == 1


@pytest.mark.slow
def test_grade_audit_and_descriptions_go_in_batches_too(shell: Shell) -> None:
    Image.new("RGB", (6, 4), (1, 2, 3)).save(shell.folder / "a.png")
    shell.file("pictures.jsonl", json.dumps({"item": "1", "instruction": "What?", "images": ["a.png"]}))
    shell.file("rivers.jsonl", json.dumps({"prompt": "Name a river.", "outputs": ["Rhine.", "The Elbe.", "Oder"]}))
    with taking_batches(Script(judge="picks-longest")) as server:
        where = ("--judge", "openai/gpt-4o", "--judge-base-url", server.base_url, "--batch")
        shell.run("grade", "rivers.jsonl", *where)
        assert (server.attempts.total(), len(server.came) > 0) == (0, True)
    with taking_batches() as server:
        where = ("--judge", "openai/gpt-4o", "--judge-base-url", server.base_url, "--batch")
        shell.run("audit", *where, "--budget", "40", "--part", "pairs")
        assert (server.attempts.total(), len(server.came) > 0) == (0, True)
    with taking_batches(Script(judge=lambda _: "A picture.")) as server:
        model = ("--model", "openai/gpt-4o", "--base-url", server.base_url, "--batch")
        shell.run("describe-images", "pictures.jsonl", *model)
        assert (server.attempts.total(), len(server.came)) == (0, 1)


@pytest.mark.slow
def test_log_probabilities_come_through_a_batch(shell: Shell) -> None:
    with taking_batches() as server:
        done = shell.document(*JUDGE, "--judge-base-url", server.base_url, "--batch", "--readout", "constrained")
        assert done["verdicts"] == 6
        assert server.batches[0].entries[0]["body"]["logprobs"] is True


@pytest.mark.slow
def test_a_notebook_judges_by_batch(shell: Shell) -> None:
    bench = eh.load_benchmark("visit-bench-sample")
    answers = eh.read_responses(eh.bundled_answers(bench), bench)
    few = eh.Matching(pairing="random", battles=2)
    with taking_batches(polls=2) as server:
        asked: dict[str, Any] = {"judge": "openai/gpt-4o", "base_url": server.base_url, "matching": few}
        left = eh.judge(bench, answers, batch=True, batch_wait=0.0, **asked)
        assert not server.attempts.total()
        assert left.as_json()["in_batches"] == 4
        assert "4 wait in batches" in left.headline
        done = eh.judge(bench, answers, batch=True, **asked)
        assert done.as_json()["verdicts"] == 4
        assert set(server.came.values()) == {1}
        with pytest.raises(Misuse, match="batch_wait"):
            eh.judge(bench, answers, batch_wait=1.0, **asked)
    assert (shell.folder / ".evenhand").is_dir()


@pytest.mark.slow
def test_a_placing_whose_second_batch_is_left_says_so(shell: Shell) -> None:
    names = ("ada", "bel", "cyd", "dan")
    strengths = dict(zip(names, (-0.6, 0.0, 0.6, 0.1), strict=True))
    shell.file("items.jsonl", *(json.dumps({"item": f"q{n}", "instruction": f"Ask {n}."}) for n in range(8)))
    rows = [
        {"item": f"q{n}", "model": name, "response": f"{name} on {n}: strength={strengths[name]}"}
        for n in range(8)
        for name in names
    ]
    for file, some in (("board.jsonl", names[:3]), ("new.jsonl", names[3:])):
        shell.file(file, *(json.dumps(row) for row in rows if row["model"] in some))
    with taking_batches(Script(judge="by-strength")) as server:
        flags = ("--judge", "openai/gpt-4o", "--judge-base-url", server.base_url, "--protocol", "visit_pairwise")
        shell.run("judge", "items.jsonl", "--responses", "board.jsonl", *flags, "--see", "none")
        joins = ("--responses", "new.jsonl", "--new", "dan", "--pairs", "nearest", "--until", "rank=1", "--looks", "2")

        def never(times: int) -> None:
            server.batching = replace(server.batching, polls=10_000 if times > 1 else 1)

        server.at["creating"] = never
        placing = ("judge", "items.jsonl", *joins, "--max-calls", "8", *flags, "--see", "none", "--batch")
        left = shell.document(*placing, "--batch-wait", "6", expect=3)
        assert (left["in_batches"], left["failed"]) == (4, {})
        server.at.clear()
        server.batching = replace(server.batching, polls=1)
        done = shell.document(*placing)
        assert (done["in_batches"], done["placings"][0]["calls_made"]) == (0, 8)
        assert set(server.came.values()) == {1}
