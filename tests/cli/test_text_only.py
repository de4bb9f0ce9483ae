"""Creation-MMBench-TO: images are described once, models answer to the descriptions, and judges see the images."""

from pathlib import Path

import pytest

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.benchmarks.creation_mmbench.queries import (
    description_instruction,
    query_specific_part_prompt,
    text_only_query,
)
from evenhand.domain.response import REFERENCE, Response
from evenhand.ledger.store.record import Ledger
from tests.benchmarks.creation_cases import generated_cases, write_tsv
from tests.cli.served import pictures, served, words
from tests.exchange.world import Ran, run, store_in
from tests.refusals import says, tells
from tests.scripted_server import Body, Fault, Script, ScriptedServer

SAMPLE = "creation-mmbench-sample"
ITEMS = load_benchmark(SAMPLE).items
PART = "The fox, and the colour of the balloon."


def model(body: Body) -> str:
    """Describes, says what to look at, judges or answers, by what it is asked."""
    asked = words(body)
    if asked.startswith("Your task is to give a concise instruction"):
        return f" {PART}\n"
    if asked.startswith("Please carefully describe"):
        how = "closely" if "special attention" in asked else "plainly"
        return f"Seen {how} by {body['model']}: {len(pictures(body))} images.\n"
    if "Response B Visual Factuality Score: Y/10" in asked:
        return "Response A Visual Factuality Score: 8/10\nResponse B Visual Factuality Score: 6/10"
    if "Final Verdict" in asked:
        return "Final Verdict is: [[A>B]]"
    return f"An answer to: {asked[-60:]}"


def ask(command: str, folder: Path, server: ScriptedServer, *more: object, name: str = "m") -> Ran:
    asked = ("--model", f"openai/{name}", "--base-url", server.base_url, "--endpoint-name", "scripted", "--name", name)
    return run(command, SAMPLE, *asked, "--store", store_in(folder), "--json", "--max-retries", 0, *more)


def describe(folder: Path, server: ScriptedServer, *more: object, name: str = "eye") -> Ran:
    return ask("describe-images", folder, server, *more, name=name)


def judge(folder: Path, server: ScriptedServer, *more: object) -> Ran:
    judging = ("--judge", "openai/gpt-4o", "--judge-base-url", server.base_url, "--endpoint-name", "scripted")
    return run("judge", SAMPLE, *judging, "--store", store_in(folder), "--json", *more)


def held(folder: Path, variant: str) -> list[Response]:
    ledger = Ledger(store_in(folder))
    found = ledger.responses_to([item.digest for item in ITEMS], variant=variant)
    ledger.close()
    return [one for one in found if one.model != REFERENCE]


def test_a_generic_description_is_asked_once_with_the_images_and_kept(tmp_path: Path) -> None:
    with served(Script(judge=model)) as server:
        first = describe(tmp_path, server, "--limit", 3, "--out", tmp_path / "seen.jsonl")
        assert (first.code, first.document["called"], first.document["verdicts"]) == (0, 3, 3), first.err
        assert [words(seen.body) for seen in server.requests] == [description_instruction()] * 3
        assert sorted(len(pictures(seen.body)) for seen in server.requests) == sorted(len(i.images) for i in ITEMS[:3])
        assert describe(tmp_path, server, "--limit", 4).document["called"] == 1
        assert describe(tmp_path, server, "--limit", 4, name="other eye").document["called"] == 4
    assert {one.model for one in held(tmp_path, "description-generic")} == {"eye", "other eye"}
    assert "description-generic" in (tmp_path / "seen.jsonl").read_text(encoding="utf-8")


def test_the_same_images_are_described_once_for_all_cases_that_show_them(tmp_path: Path) -> None:
    cases = [case for case in generated_cases(106, edge=4) if case.points_to is not None]
    owners = [case for case in generated_cases(106, edge=4) if case.index in {one.points_to for one in cases}]
    assert len(cases) == len(owners) == 2
    data = write_tsv(tmp_path / "Creation_MMBench.tsv", [*owners, *cases])
    asked = ("--data", data, "--store", store_in(tmp_path), "--model", "openai/eye", "--json")
    with served(Script(judge=model)) as server:
        flags = (*asked, "--base-url", server.base_url)
        quoted = run("describe-images", "creation-mmbench", *flags, "--dry-run")
        assert quoted.document["calls_at_least"] == quoted.document["calls_at_most"] == 2
        done = run("describe-images", "creation-mmbench", *flags)
        assert (done.code, done.document["verdicts"], done.document["requests"]) == (0, 4, 2), done.err
        assert len(server.requests) == 2


def test_a_query_specific_description_takes_what_to_look_at_from_the_question(tmp_path: Path) -> None:
    flags = ("--mode", "query-specific", "--limit", 2)
    with served(Script(judge=model)) as server:
        quoted = describe(tmp_path, server, *flags, "--dry-run").document
        assert (quoted["trials"], quoted["calls_at_least"], quoted["calls_at_most"]) == (2, 4, 4)
        done = describe(tmp_path, server, *flags)
        assert (done.code, done.document["called"], done.document["requests"]) == (0, 2, 4), done.err
        sent = {words(seen.body): len(pictures(seen.body)) for seen in server.requests}
        assert describe(tmp_path, server, *flags).document["called"] == 0
        assert describe(tmp_path, server, *flags, "--name", "twin", "--dry-run").document["calls_at_most"] == 0
    for item in ITEMS[:2]:
        assert sent[query_specific_part_prompt(item.instruction.removesuffix("."))] == 0
    looking = description_instruction(PART.removesuffix("."))
    assert looking.endswith("aspects: The fox, and the colour of the balloon.")
    assert looking in sent
    assert {one.text for one in held(tmp_path, "description-query-specific")} == {
        f"Seen closely by eye: {len(item.images)} images.\n" for item in ITEMS[:2]
    }


def test_another_model_may_say_what_to_look_at_and_both_are_on_record(tmp_path: Path) -> None:
    flags = ("--mode", "query-specific", "--limit", 2)
    with served(Script(judge=model)) as server, served(Script(judge=model)) as other:
        asker = ("--query-model", "openai/asker", "--query-base-url", other.base_url)
        price = ("--price", "input=1,output=1")
        quoted = describe(tmp_path, server, *flags, *asker, *price, "--dry-run").document
        assert (quoted["calls_at_least"], quoted["calls_at_most"]) == (4, 4)
        assert quoted["cost_usd"] > 0
        done = describe(tmp_path, server, *flags, *asker, "--temperature", 0.5)
        assert (done.code, done.document["called"], done.document["requests"]) == (0, 2, 4), done.err
        parts, looks = [seen.body for seen in other.requests], [seen.body for seen in server.requests]
        assert describe(tmp_path, server, *flags, *asker, "--temperature", 0.5).document["called"] == 0
        mixed = describe(tmp_path, server, *flags, "--temperature", 0.5)
        assert len(server.requests) == len(other.requests) == 2
    assert {body["model"] for body in parts} == {"asker"}
    assert {words(body) for body in parts} == {
        query_specific_part_prompt(item.instruction.removesuffix(".")) for item in ITEMS[:2]
    }
    # How the describing model samples says nothing of the other.
    assert {body["temperature"] for body in parts} == {0.0}
    assert {(body["model"], body["temperature"]) for body in looks} == {("eye", 0.5)}
    assert {words(body) for body in looks} == {description_instruction(PART.removesuffix("."))}
    assert not any(pictures(body) for body in parts)
    assert all(pictures(body) for body in looks)
    kept = held(tmp_path, "description-query-specific")
    assert {one.model for one in kept} == {"eye"}
    assert all("query-specific part by openai/asker" in one.flags for one in kept)
    assert mixed.code == 2
    tells(mixed.err, "'eye'", "openai/asker", "--name", "--replace")


def test_a_description_whose_part_is_on_record_asks_the_describing_model_alone(tmp_path: Path) -> None:
    flags = ("--mode", "query-specific", "--limit", 2)
    with served(Script(judge=model)) as server, served(Script(judge=model)) as other:
        asker = ("--query-model", "openai/asker", "--query-base-url", other.base_url)
        describe(tmp_path, server, *flags, *asker)
        again = describe(tmp_path, server, *flags, *asker, name="lens")
        assert (again.code, again.document["requests"], len(other.requests)) == (0, 2, 2), again.err
        assert {seen.body["model"] for seen in server.requests} == {"eye", "lens"}


@pytest.mark.parametrize(
    ("flags", "facts"),
    [
        (("--query-model", "openai/asker"), ("--query-model", "--mode query-specific")),
        (
            ("--mode", "query-specific", "--query-base-url", "http://127.0.0.1:9/v1"),
            ("--query-base-url", "--query-model"),
        ),
    ],
)
def test_a_query_model_that_would_write_nothing_is_refused(
    tmp_path: Path, flags: tuple[str, ...], facts: tuple[str, ...]
) -> None:
    refused = run("describe-images", SAMPLE, "--model", "openai/m", "--base-url", "http://127.0.0.1:9/v1", "--store",
                  store_in(tmp_path), *flags)  # fmt: skip
    assert refused.code == 2
    tells(" ".join(refused.err.split()), *facts)


@pytest.mark.parametrize("asker", [(), ("--query-model", "openai/gpt-4o")])
def test_the_dry_run_refuses_a_model_that_sees_nothing_though_the_first_call_has_no_image(
    tmp_path: Path, asker: tuple[str, ...]
) -> None:
    flags = ("--mode", "query-specific", "--store", store_in(tmp_path), "--dry-run", *asker)
    refused = run("describe-images", SAMPLE, "--model", "local/smollm2", *flags)
    assert refused.code == 2
    says(refused.refused, "EH-MODEL-BLIND", "cannot see images")


def test_a_service_tier_is_of_the_model_that_describes_and_not_of_the_one_that_asks(tmp_path: Path) -> None:
    flags = (
        "--mode",
        "query-specific",
        "--store",
        store_in(tmp_path),
        "--dry-run",
        "--model",
        "openai/gpt-4o",
        "--json",
    )
    told = run("describe-images", SAMPLE, *flags, "--service-tier", "flex", "--query-model", "anthropic/claude-3-haiku")
    assert told.code == 0, told.err
    assert told.document["calls_at_least"] == 2 * told.document["trials"]


def test_the_dry_run_asks_each_model_whether_it_takes_what_goes_to_it(tmp_path: Path) -> None:
    flags = ("--mode", "query-specific", "--store", store_in(tmp_path), "--dry-run", "--model", "openai/gpt-4o")
    done = run("describe-images", SAMPLE, *flags, "--query-model", "local/smollm2")
    assert done.code == 0, done.err
    refused = run("describe-images", SAMPLE, *flags, "--query-model", "openai/asker", "--extra-body", '{"model": "x"}')
    assert refused.code == 2, "how the describing model is asked is checked, though another one is asked first"
    says(refused.refused, "EH-MISUSE", "extra_body", "model")


@pytest.mark.slow
def test_what_to_look_at_is_not_asked_again_where_the_description_failed(tmp_path: Path) -> None:
    flags = ("--mode", "query-specific", "--limit", 1)

    def blinking(body: Body) -> str:
        return "" if pictures(body) else model(body)

    with served(Script(judge=blinking)) as server:
        done = describe(tmp_path, server, *flags)
        assert (done.code, done.document["failed"]) == (3, {"empty-reply": 1})
    assert held(tmp_path, "description-query-specific") == []
    with served(Script(judge=model)) as server:
        assert describe(tmp_path, server, *flags, "--dry-run").document["calls_at_most"] == 1
        assert describe(tmp_path, server, *flags).code == 0
        assert [len(pictures(seen.body)) for seen in server.requests] == [len(ITEMS[0].images)]
    assert len(held(tmp_path, "description-query-specific")) == 1


@pytest.mark.parametrize(
    ("mode", "fault", "reason"),
    [
        ("generic", "refusal", "refused"),
        ("query-specific", "refusal", "refused"),
        ("query-specific", "length", "truncated"),
    ],
)
def test_a_refusal_describes_nothing_and_half_a_list_is_not_looked_for(
    tmp_path: Path, mode: str, fault: Fault, reason: str
) -> None:
    with served(Script(judge=model, faults={fault: 1.0})) as server:
        done = describe(tmp_path, server, "--mode", mode, "--limit", 1)
        assert len(server.requests) == 1
    assert (done.code, done.document["no_verdict"]) == (0, {reason: 1})
    assert held(tmp_path, f"description-{mode}") == []


def test_a_description_cut_at_the_limit_is_kept_and_flagged(tmp_path: Path) -> None:
    with served(Script(judge=model, faults={"length": 1.0})) as server:
        done = describe(tmp_path, server, "--limit", 1)
    (one,) = held(tmp_path, "description-generic")
    assert one.flags == ("truncated", "said by openai/eye")
    assert "`eye`: answers on record that are cut at the token limit: 1." in done.err


@pytest.mark.parametrize("mode", ["generic", "query-specific"])
def test_a_text_only_answer_is_to_the_description_and_no_image_is_sent(tmp_path: Path, mode: str) -> None:
    with served(Script(judge=model)) as server:
        describe(tmp_path, server, "--mode", mode, "--limit", 2)
        texts = {one.item: one.text for one in held(tmp_path, f"description-{mode}")}
        before = len(server.requests)
        done = ask("answer", tmp_path, server, "--variant", f"text-only-{mode}", "--limit", 3)
        sent = [seen.body for seen in server.requests[before:]]
        again = ask("answer", tmp_path, server, "--variant", f"text-only-{mode}", "--limit", 3)
        assert (again.document["called"], again.document["known"]) == (0, 2)
    assert (done.code, done.document["called"]) == (0, 2), done.err
    assert "Without a description by eye, and so not asked: 1 items (3)." in done.err
    assert {body["messages"][0]["content"] for body in sent} == {
        text_only_query(item.instruction, image_description=texts[item.digest].strip()) for item in ITEMS[:2]
    }
    answers = held(tmp_path, f"text-only-{mode}")
    assert {(one.model, one.flags) for one in answers} == {("m", ("described by eye", "said by openai/m"))}
    assert held(tmp_path, "") == [], "never mixed with answers to the images"


def test_text_only_is_the_generic_variant_and_that_is_said(tmp_path: Path) -> None:
    with served(Script(judge=model)) as server:
        describe(tmp_path, server, "--limit", 1)
        done = ask("answer", tmp_path, server, "--variant", "text-only", "--limit", 1)
    assert "`text-only` is `text-only-generic`: judge its answers with --variant text-only-generic." in done.err
    assert len(held(tmp_path, "text-only-generic")) == 1


def test_descriptions_of_several_are_not_mixed(tmp_path: Path) -> None:
    flags = ("--variant", "text-only", "--limit", 1)
    with served(Script(judge=model)) as server:
        none = ask("answer", tmp_path, server, *flags)
        assert none.code == 2
        command = "`evenhand describe-images creation-mmbench-sample --mode generic --model"
        says(none.refused, "EH-CHOOSE-NOTHING", command)
        for name in ("eye", "other"):
            describe(tmp_path, server, "--limit", 1, name=name)
        several = ask("answer", tmp_path, server, *flags)
        says(several.refused, "EH-CHOOSE-SEVERAL", "--descriptions-by: eye, other.")
        unknown = ask("answer", tmp_path, server, *flags, "--descriptions-by", "eyes")
        says(unknown.refused, "EH-CHOOSE-NOTHING", "generic", "'eyes'", "'eye'")
        assert ask("answer", tmp_path, server, *flags, "--descriptions-by", "eye").code == 0
        mixed = ask("answer", tmp_path, server, *flags, "--descriptions-by", "other")
        assert mixed.code == 2
        says(mixed.refused, "EH-ON-RECORD", "by eye", "by other", "--name", "--replace")
        assert ask("answer", tmp_path, server, *flags, "--descriptions-by", "other", "--replace").code == 0
        plain = ask("answer", tmp_path, server, "--limit", 1, "--descriptions-by", "eye")
        says(plain.refused, "EH-USAGE", "--descriptions-by", "--variant text-only")
    (one,) = held(tmp_path, "text-only-generic")
    assert one.flags == ("described by other", "said by openai/m")


def test_text_only_answers_are_judged_with_the_images_against_the_plain_baseline_and_apart(tmp_path: Path) -> None:
    variant = ("--variant", "text-only-generic")
    with served(Script(judge=model)) as server:
        assert judge(tmp_path, server, "--limit", 2).code == 0, "the bundled answers, with the images"
        describe(tmp_path, server, "--limit", 2)
        ask("answer", tmp_path, server, *variant, "--limit", 2)
        before = len(server.requests)
        done = judge(tmp_path, server, *variant, "--limit", 2)
        sent = [seen.body for seen in server.requests[before:]]
    assert done.code == 0, done.err
    preference, factuality = done.document["runs"]
    assert (preference["planned"], preference["verdicts"]) == (4, 4)
    assert len(sent) == 4 + factuality["planned"]
    seeing = [body for body in sent if "Final Verdict" in words(body)]
    assert sorted(len(pictures(body)) for body in seeing) == sorted(2 * [len(item.images) for item in ITEMS[:2]])
    for item in ITEMS[:2]:
        assert sum(item.instruction in words(body) and (item.reference or "") in words(body) for body in seeing) == 2
    assert not any("This question does not provide images" in words(body) for body in sent), "the question as it was"
    store = store_in(tmp_path)
    mixed = run("rank", "--protocol", "creation_preference", "--store", store)
    says(mixed.refused, "EH-CHOOSE-SEVERAL", "--variant: default, text-only-generic.")
    board = run("rank", "--protocol", "creation_preference", *variant, "--json", "--store", store).document
    assert {one["model"] for one in board["models"]} == {"m", REFERENCE}
    assert board["coverage"] == {"wanted": 4, "with_verdict": 4, "reasons": {}}


def test_an_interrupted_variant_tells_what_was_not_reached(tmp_path: Path) -> None:
    """The baseline's plain answers count among those that a study of a variant wants."""
    variant = ("--variant", "text-only-generic", "--protocol", "creation_preference")
    with served(Script(judge=model)) as server:
        describe(tmp_path, server, "--limit", 2)
        ask("answer", tmp_path, server, "--variant", "text-only-generic", "--limit", 2)
        cost = ("--price", "input=0,output=100000", "--max-cost", 410, "--max-connections", 1)
        done = judge(tmp_path, server, *variant, "--limit", 2, *cost)
    assert (done.code, done.document["verdicts"], done.document["not_reached"]) == (3, 1, 3), done.err
    board = run("rank", "--json", "--store", store_in(tmp_path)).document
    assert board["coverage"]["wanted"] == 4
    assert board["coverage"]["with_verdict"] == 1


def test_a_baseline_of_ones_own_keeps_its_plain_answers(tmp_path: Path) -> None:
    with served(Script(judge=model)) as server:
        describe(tmp_path, server, "--limit", 1)
        ask("answer", tmp_path, server, "--limit", 1, name="base")
        for name in ("m", "base"):
            ask("answer", tmp_path, server, "--variant", "text-only", "--limit", 1, name=name)
        flags = ("--variant", "text-only-generic", "--against", "base", "--models", "m", "--models", "base")
        done = judge(tmp_path, server, *flags, "--limit", 1, "--protocol", "creation_preference")
        (plain,) = held(tmp_path, "")
        assert all(plain.text in words(seen.body) for seen in server.requests[-2:])
    assert (done.code, done.document["planned"]) == (0, 2), done.err


def test_only_answers_are_judged_and_the_variants_there_are_told(tmp_path: Path) -> None:
    with served(Script(judge=model)) as server:
        describe(tmp_path, server, "--limit", 1)
        ask("answer", tmp_path, server, "--variant", "text-only", "--limit", 1)
        descriptions = judge(tmp_path, server, "--variant", "description-generic")
        assert descriptions.code == 2
        says(descriptions.refused, "EH-USAGE", "description-generic")
        other = judge(tmp_path, server, "--variant", "loud")
        says(other.refused, "EH-CHOOSE-NOTHING", "loud", "text-only-generic.")


def test_a_file_tells_its_variant(tmp_path: Path) -> None:
    out = tmp_path / "blind.jsonl"
    flags = ("--limit", 1, "--protocol", "creation_preference", "--responses", out)
    with served(Script(judge=model)) as server:
        describe(tmp_path, server, "--limit", 1)
        ask("answer", tmp_path, server, "--variant", "text-only", "--limit", 1, "--out", out)
        wrong = judge(tmp_path, server, *flags, "--variant", "default")
        assert wrong.code == 2
        says(wrong.refused, "EH-DATA-TWICE", "`text-only-generic`", "--variant says `default`")
        assert judge(tmp_path, server, *flags).code == 0
    run_board = run("rank", "--variant", "text-only-generic", "--json", "--store", store_in(tmp_path))
    assert run_board.code == 0, run_board.err


@pytest.mark.parametrize("mode", ["generic", "query-specific"])
def test_descriptions_asked_for_in_different_ways_are_not_mixed_under_one_name(tmp_path: Path, mode: str) -> None:
    how, warm = ("--mode", mode), ("--max-tokens", 100, "--max-image-edge", 32)
    with served(Script(judge=model)) as server:
        assert describe(tmp_path, server, *how, "--limit", 2, *warm).code == 0
        before = len(server.requests)
        for more in ((), ("--limit", 1), ("--limit", 1, "--replace"), ("--model", "openai/x", *warm)):
            mixed = describe(tmp_path, server, *how, *more)
            assert mixed.code == 2, mixed.err
            other = ("openai/eye", "openai/x") if "--model" in more else ("max_tokens 100, max_image_edge 32",)
            says(mixed.refused, "EH-ON-RECORD", "'eye'", *other)
        assert len(server.requests) == before
        assert describe(tmp_path, server, *how, "--limit", 3, *warm).code == 0
        assert describe(tmp_path, server, *how, "--limit", 3, "--replace").code == 0
        assert describe(tmp_path, server, *how, "--limit", 4).code == 0, "what was said is the same either way"


def test_items_without_images_have_nothing_to_describe(tmp_path: Path) -> None:
    data = tmp_path / "words.jsonl"
    data.write_text('{"item": "1", "instruction": "Write."}\n', encoding="utf-8")
    done = run("describe-images", data, "--model", "openai/m", "--base-url", "http://127.0.0.1:9/v1", "--store",
               store_in(tmp_path))  # fmt: skip
    assert done.code == 2
    says(done.refused, "EH-USAGE", "words", "no images")
