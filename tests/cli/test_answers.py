"""`evenhand answer` on Creation-MMBench: what is sent, what counts as an answer, and what is told about it."""

import base64
import json
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.ledger.store.record import Ledger
from tests.benchmarks.creation_cases import generated_cases, write_tsv
from tests.cli.served import pictures, served, words
from tests.exchange.world import Ran, run, store_in
from tests.refusals import says
from tests.scripted_server import Body, Canned, Fault, Script, ScriptedServer

SAMPLE = load_benchmark("creation-mmbench-sample")


def answer(folder: Path, server: ScriptedServer, *more: object, benchmark: str = "creation-mmbench-sample") -> Ran:
    asked = ("--model", "openai/m", "--base-url", server.base_url, "--name", "m")
    return run("answer", benchmark, *asked, "--store", store_in(folder), "--json", "--max-retries", 0, *more)


def on_record(folder: Path) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Text and flags of the model's answers, by the item's label."""
    labels = {item.digest: item.label for item in SAMPLE.items}
    ledger = Ledger(store_in(folder))
    held = {labels[one.item]: (one.text, one.flags) for one in ledger.responses_to(labels) if one.model == "m"}
    ledger.close()
    return held


def test_images_go_first_in_their_order_then_the_question_greedy_and_with_4096_tokens(tmp_path: Path) -> None:
    cases = generated_cases(73, edge=4)[-4:]
    assert max(len(case.images) for case in cases) == 9
    data = write_tsv(tmp_path / "Creation_MMBench.tsv", cases)
    with served(Script(judge=lambda body: f"Answered: {words(body)[:60]}")) as server:
        first = answer(tmp_path, server, "--data", data, benchmark="creation-mmbench")
        assert (first.code, first.document["called"], first.document["verdicts"]) == (0, len(cases), len(cases))
        sent = {words(seen.body): seen.body for seen in server.requests}
        again = answer(tmp_path, server, "--data", data, benchmark="creation-mmbench")
        assert (again.document["called"], again.document["known"]) == (0, len(cases))
        assert len(server.requests) == len(cases)
    for case in cases:
        body = sent[case.question]
        assert [base64.b64decode(url.partition(",")[2]) for url in pictures(body)] == list(case.images)
        assert (body["temperature"], body["max_tokens"]) == (0, 4096)
        assert [part.keys() for part in body["messages"][0]["content"][:1]] == [{"type", "image_url"}]


def test_detail_and_size_of_images_can_be_chosen(tmp_path: Path) -> None:
    with served(Script(judge=lambda _: "Yes.")) as server:
        done = answer(tmp_path, server, "--limit", 1, "--image-detail", "low", "--max-image-edge", 32)
        assert done.code == 0, done.err
        (seen,) = server.requests
    parts = seen.body["messages"][0]["content"][:-1]
    assert [part["image_url"]["detail"] for part in parts] == ["low"] * len(SAMPLE.items[0].images)
    shrunk = Image.open(BytesIO(base64.b64decode(parts[0]["image_url"]["url"].partition(",")[2])))
    assert max(shrunk.size) == 32


@pytest.mark.parametrize(
    ("fault", "flag", "told"),
    [
        ("refusal", "refused", "refusals by the endpoint's own word: 2. They are flagged, and count."),
        ("length", "truncated", "cut at the token limit: 2. They are flagged, and count."),
    ],
)
def test_a_refusal_and_a_cut_answer_are_answers_and_flagged(tmp_path: Path, fault: Fault, flag: str, told: str) -> None:
    with served(Script(judge=lambda _: "Once upon a time.", faults={fault: 1.0})) as server:
        done = answer(tmp_path, server, "--limit", 2)
    assert (done.code, done.document["verdicts"]) == (0, 2), done.err
    said = "I can't help with that." if fault == "refusal" else "Once upo"
    assert on_record(tmp_path) == dict.fromkeys(("1", "2"), (said, (flag, "said by openai/m")))
    assert f"`m`: answers on record that are {told}" in done.err


@pytest.mark.parametrize("fault", ["empty", "500", "garbage"])
def test_empty_text_and_failed_calls_are_no_answers_and_are_asked_again(tmp_path: Path, fault: Fault) -> None:
    with served(Script(faults={fault: 1.0})) as server:
        done = answer(tmp_path, server, "--limit", 2)
    assert done.code == 3
    assert sum(done.document["failed"].values()) == 2
    assert on_record(tmp_path) == {}
    with served(Script(judge=lambda _: "Now.")) as server:
        url = ("--endpoint-name", "the same")
        assert answer(tmp_path, server, "--limit", 2, *url).document["called"] == 2
    assert {text for text, _ in on_record(tmp_path).values()} == {"Now."}


def test_the_words_of_a_filter_before_the_model_are_not_its_answer(tmp_path: Path) -> None:
    error = {"error": {"message": "The prompt was filtered.", "code": "content_filter"}}
    with served(Script(judge=lambda _: "Fine."), Canned(status=400, body=error)) as server:
        done = answer(tmp_path, server, "--limit", 2, "--max-connections", 1)
    assert (done.code, done.document["verdicts"], done.document["no_verdict"]) == (0, 1, {"refused": 1})
    assert [text for text, _ in on_record(tmp_path).values()] == ["Fine."]


def test_a_model_without_eyes_ends_the_run_with_one_sentence(tmp_path: Path) -> None:
    blind = Canned(status=400, body={"error": {"message": "m is not a multimodal model"}})
    with served(Script(), *[blind] * 16) as server:
        done = answer(tmp_path, server, "--max-connections", 1)
        assert len(server.requests) == 1
    assert done.code == 2
    assert done.err.count("cannot see images (400): choose a model that can") == 1


def test_a_case_whose_image_is_missing_is_named_with_its_row(tmp_path: Path) -> None:
    rows = [
        {"index": number, "question": "Write.", "criteria": "Is it good?", "image_path": name}
        for number, name in ((1, "here.png"), (2, "gone.png"))
    ]
    Image.new("RGB", (4, 4)).save(tmp_path / "here.png")
    data = tmp_path / "cases.jsonl"
    data.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    with served(Script()) as server:
        done = answer(tmp_path, server, "--data", data, benchmark="creation-mmbench")
        assert not server.requests
    assert done.code == 2
    assert "row 2" in done.err
    assert "gone.png" in done.err


def test_a_dry_run_counts_and_asks_nothing(tmp_path: Path) -> None:
    with served(Script(judge=lambda _: "Yes.")) as server:
        assert answer(tmp_path, server, "--limit", 2).code == 0
        done = answer(tmp_path, server, "--limit", 5, "--dry-run", "--price", "input=1,output=1")
        assert len(server.requests) == 2
    document = done.document
    assert (document["trials"], document["known"], document["calls_at_least"], document["calls_at_most"]) == (
        5,
        2,
        3,
        3,
    )
    assert document["tokens"]["output_at_most"] == 3 * 4096
    assert document["cost_usd"] == pytest.approx((document["tokens"]["input"] + 3 * 4096) / 1e6)


def test_answers_asked_for_in_different_ways_are_not_mixed_under_one_name(tmp_path: Path) -> None:
    warm = ("--temperature", 0.7, "--image-detail", "low")

    def model(body: Body) -> str:
        same_either_way = words(body) == SAMPLE.items[1].instruction
        return "Yes." if same_either_way else f"At {body['temperature']}."

    with served(Script(judge=model)) as server:
        first = answer(tmp_path, server, "--limit", 2, *warm)
        told = '`m`: answers on record that are asked with temperature 0.7, image_detail "low": 2.'
        assert (first.code, told in first.err) == (0, True), first.err
        assert answer(tmp_path, server, "--limit", 3, *warm).code == 0, "the same settings go on"
        for more in ((), ("--items", "5"), ("--replace", "--limit", 2)):
            before = len(server.requests)
            mixed = answer(tmp_path, server, *more)
            assert mixed.code == 2
            says(mixed.refused, "EH-ON-RECORD", "'m'", "temperature 0.7", "--name", "the defaults", "--replace")
            assert len(server.requests) == before
        assert answer(tmp_path, server, "--limit", 3, "--replace").code == 0
        assert answer(tmp_path, server, "--limit", 4).code == 0
    assert {text for text, _ in on_record(tmp_path).values()} == {"Yes.", "At 0.0."}


def test_two_models_are_not_mixed_under_one_name(tmp_path: Path) -> None:
    def model(body: Body) -> str:
        same = words(body) == SAMPLE.items[1].instruction
        return "Both of us say this." if same else f"I am {body['model']}."

    with served(Script(judge=model)) as server:
        assert answer(tmp_path, server, "--limit", 2).code == 0
        mixed = answer(tmp_path, server, "--limit", 3, "--model", "openai/n")
        told = "'m' on record is openai/m, and now openai/n would be asked under that name; give another --name"
        assert (mixed.code, told in mixed.err) == (2, True), mixed.err
        assert len(server.requests) == 2
        assert answer(tmp_path, server, "--limit", 3).code == 0, "the same model goes on"
        assert answer(tmp_path, server, "--limit", 3, "--model", "openai/n", "--replace").code == 0
        assert answer(tmp_path, server, "--limit", 4, "--model", "openai/n").code == 0
        assert answer(tmp_path, server, "--limit", 4).code == 2
    assert {text for text, _ in on_record(tmp_path).values()} == {"I am n.", "Both of us say this."}


def test_answers_from_a_file_may_be_completed(tmp_path: Path) -> None:
    given = tmp_path / "answers.jsonl"
    given.write_text(json.dumps({"item": "1", "model": "m", "response": "Mine."}) + "\n", encoding="utf-8")
    with served(Script(judge=lambda _: "Asked.")) as server:
        to = ("--responses", "--benchmark", "creation-mmbench-sample", "--store", store_in(tmp_path))
        assert run("import", given, *to).code == 0
        done = answer(tmp_path, server, "--limit", 2)
        assert (done.code, done.document["called"]) == (0, 1), done.err
    assert {text for text, _ in on_record(tmp_path).values()} == {"Mine.", "Asked."}


def test_a_setting_that_the_endpoint_refuses_is_on_record_with_the_answer(tmp_path: Path) -> None:
    refused = Canned(
        status=400,
        body={"error": {"message": "Unsupported value: 'temperature' does not support 0.", "param": "temperature",
                        "code": "unsupported_value"}},
    )  # fmt: skip
    with served(Script(judge=lambda _: "Yes."), refused) as server:
        assert answer(tmp_path, server, "--limit", 1).code == 0
    ((_, flags),) = on_record(tmp_path).values()
    assert flags[0].startswith("adapted: openai/m does not take temperature")
