"""`evenhand show --item`: a case whole, as Creation-MMBench's paper prints its cases (Figs. 12 to 29)."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from evenhand.benchmarks.catalog import load_benchmark
from tests.benchmarks.files import write_images, write_lines
from tests.cli.served import served, words
from tests.exchange.world import Ran, run, store_in
from tests.refusals import says
from tests.scripted_server import Body, Script

SAMPLE = load_benchmark("creation-mmbench-sample")
ITEM = next(item for item in SAMPLE.items if item.ground_truth and item.factuality_criteria)


def judge(body: Body) -> str:
    asked = words(body)
    plain = asked.index("PLAIN") if "PLAIN" in asked else -1
    if "Response B Visual Factuality Score: Y/10" in asked:
        scores = "Response A Visual Factuality Score: 8/10\nResponse B Visual Factuality Score: 6.5/10"
        return f"It names the colours.\n{scores}"
    if "VIVID" in asked:
        return "Both are fine and I will not choose."
    first = plain < asked.index(ITEM.reference or "")
    return f"A long look at both. {'word ' * 40}\nFinal Verdict is: [[{'A>>B' if first else 'B>>A'}]]"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two models judged under both protocols, images described, one answered without them."""
    folder = tmp_path_factory.mktemp("case")
    answers = folder / "answers.jsonl"
    answers.write_text(
        f'{{"item": "{ITEM.label}", "model": "plain", "response": "PLAIN words."}}\n'
        f'{{"item": "{ITEM.label}", "model": "vivid", "response": "VIVID words."}}\n',
        encoding="utf-8",
    )
    chosen = ("--items", ITEM.label, "--store", store_in(folder))
    with served(Script(judge=judge)) as server:
        judging = ("--judge", "openai/gpt-4o", "--judge-base-url", server.base_url)
        done = run("judge", SAMPLE.name, "--responses", answers, *judging, *chosen)
        assert done.code == 0, done.err
    with served(Script(judge=lambda _: "A harbour at dusk.", faults={"length": 1.0})) as server:
        model = ("--model", "openai/eye", "--base-url", server.base_url)
        assert run("describe-images", SAMPLE.name, *model, *chosen).code == 0
        assert run("answer", SAMPLE.name, *model, *chosen, "--variant", "text-only").code == 0
    return store_in(folder)


def show(store: str, *more: object) -> Ran:
    return run("show", "--benchmark", SAMPLE.name, "--item", ITEM.label, "--store", store, *more)


def test_a_case_tells_what_is_asked_by_which_criteria_and_what_was_said_of_every_answer(store: str) -> None:
    page = show(store).out
    headings = [
        f"{SAMPLE.name}, item {ITEM.label}", "Role", "Background", "Instruction", "Requirements",
        "Images", *(name for name, _ in ITEM.criteria), "Ground truth",
        "Images as openai/eye describes them (description-generic)", "Answer of reference", "Answer of plain",
        "Answer of vivid", "Answer of openai/eye (text-only-generic, truncated, described by openai/eye)",
        "plain against reference", "vivid against reference", "Trials",
    ]  # fmt: skip
    places = [page.index(f"\n{heading}\n") for heading in headings]
    assert places == sorted(places)
    assert f"{ITEM.category} · {ITEM.task}" in page
    assert ITEM.brief is not None
    assert f"\nRole\n  {ITEM.brief.role}\n" in page
    assert f"\nInstruction\n  {ITEM.brief.instruction}\n" in page
    assert "\nQuestion\n" not in page
    texts = (
        ITEM.brief.background,
        ITEM.brief.requirement,
        ITEM.ground_truth,
        ITEM.reference,
        *(text for _, text in ITEM.criteria),
    )
    for line in "\n".join(text or "" for text in texts).splitlines():
        assert line in page
    assert page.count("pixels, PNG") == len(ITEM.images)
    assert "openai/gpt-4o under creation_preference, free readout, sees images" in page
    assert "  reference first: plain is much better\n    A long look at both." in page
    assert "  plain first: plain is much better\n" in page
    assert "  reference first: plain 6.5, reference 8\n    It names the colours." in page
    assert "  plain first: plain 8, reference 6.5\n" in page
    assert "  vivid first: no verdict: unreadable. No decision was found.\n    Both are fine" in page


def test_of_imported_verdicts_of_people_only_what_is_known_is_said(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    answers = write_lines(tmp_path / "answers.jsonl", [{"item": ITEM.label, "model": "plain", "response": "PLAIN."}])
    people = tmp_path / "people.csv"
    people.write_text(f"item,rater,model_a,model_b,verdict\n{ITEM.label},ann,plain,reference,+2\n", encoding="utf-8")
    to = ("--benchmark", SAMPLE.name, "--store", store)
    with served(Script(judge=judge)) as server:
        asked = ("--judge", "openai/gpt-4o", "--judge-base-url", server.base_url, "--items", ITEM.label)
        assert run("judge", SAMPLE.name, "--responses", answers, *asked, "--store", store).code == 0
    assert run("import", people, "--judgements", *to).code == 0
    page = show(store).out
    assert "ann under imported\n" in page
    assert "  (ann, imported)\n" in page
    assert "caption" not in page
    trial = next(line.split()[0] for line in page.splitlines() if line.endswith("(ann, imported)"))
    shown = run("show", trial, "--store", store).out
    assert "\nann under imported\n" in shown
    assert "endpoint's own settings" not in shown


def test_one_model_can_be_chosen_and_the_baseline_stays(store: str) -> None:
    page = show(store, "--models", "plain").out
    assert "Answer of reference" in page
    assert "VIVID" not in page
    assert "vivid" not in page
    wrong = show(store, "--models", "plane")
    assert wrong.code == 2
    says(wrong.refused, "EH-CHOOSE-NOTHING", "'plane'")


def test_the_same_as_a_document(store: str) -> None:
    case = show(store, "--json", "--models", "plain").document
    assert (case["schema"], case["item"], case["content"]["instruction"]) == (1, ITEM.label, ITEM.instruction)
    assert [(one["sha256"], one["width"] > 0, one["media_type"]) for one in case["images"]] == [
        (digest, True, "image/png") for digest in ITEM.images
    ]
    assert [(one["model"], one["variant"], one["flags"]) for one in case["answers"]] == [
        ("reference", "", []), ("plain", "", []),
    ]  # fmt: skip
    assert [one["variant"] for one in case["descriptions"]] == ["description-generic"]
    assert {(one["protocol"], tuple(one["models"])) for one in case["trials"]} == {
        (protocol, pair)
        for protocol in ("creation_preference", "creation_factuality")
        for pair in (("plain", "reference"), ("reference", "plain"))
    }
    preferred = [one for one in case["trials"] if one["protocol"] == "creation_preference"]
    assert {one["verdict"]["value"] for one in preferred} == {2, -2}
    assert {one["by_name"] for one in preferred} == {"plain is much better"}
    assert all(one["replies"][0].endswith("]]") for one in preferred)


def test_an_item_that_was_answered_and_not_judged_is_shown_and_a_lost_image_is_told(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    with served(Script(judge=lambda _: "Mine.")) as server:
        asked = ("--model", "openai/m", "--base-url", server.base_url, "--items", ITEM.label, "--store", store)
        assert run("answer", SAMPLE.name, *asked).code == 0
    for path in (tmp_path / "images").rglob("*"):
        if path.is_file():
            path.unlink()
    page = run("show", "--item", ITEM.label, "--store", store).out
    assert "Answer of openai/m\n  Mine." in page
    assert page.count("not available") == len(ITEM.images)
    none = run("show", "--benchmark", "visit-bench", "--item", "1", "--store", store)
    assert none.code == 2
    says(none.refused, "EH-CHOOSE-NOTHING", "visit-bench")


def test_a_question_that_is_not_just_its_parts_put_together_is_shown_whole_beside_them(tmp_path: Path) -> None:
    case: dict[str, str | None] = {
        "index": "1", "role": "a poet", "background": "", "instruction": "write a poem.", "requirement": None,
        "question": "Assume you are a poet\nPlease follow the requirements below to write a poem.",
        "image_path": "images/red.png", "criteria": "{'subjective': 'taste'}", "reference_answer_by_gpt4o": "A rose.",
    }  # fmt: skip
    own = {**case, "index": "2", "question": "Write a poem in German."}
    without = {**own, "index": "3", "role": None, "instruction": None, "question": "Write prose."}
    write_images(tmp_path)
    data = write_lines(tmp_path / "cases.jsonl", [case, own, without])
    store = store_in(tmp_path)
    with served(Script(judge=lambda _: "Mine.")) as server:
        asked = ("--model", "openai/m", "--base-url", server.base_url, "--data", data, "--store", store)
        assert run("answer", "creation-mmbench", *asked).code == 0
    pages = [run("show", "--item", label, "--store", store).out for label in ("1", "2", "3")]
    headings = [
        [name for name in ("Role", "Background", "Instruction", "Requirements", "Question") if f"\n{name}\n" in page]
        for page in pages
    ]
    assert headings == [["Role", "Instruction"], ["Role", "Instruction", "Question"], ["Question"]]


@pytest.mark.parametrize("columns", [80, 120])
def test_on_a_terminal_no_line_is_wider_than_it_and_no_word_is_cut(store: str, columns: int) -> None:
    evenhand = Path(sys.executable).with_name("evenhand")
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    arguments = [evenhand, "show", "--benchmark", SAMPLE.name, "--item", ITEM.label, "--store", store]
    with subprocess.Popen(arguments, stdout=follower, stdin=follower, env={**environment, "NO_COLOR": "1"}) as process:
        os.close(follower)
        said = b""
        try:
            while some := os.read(leader, 65536):
                said += some
        except OSError:  # how Linux says that the other end was closed
            pass
        assert process.wait() == 0
    os.close(leader)
    lines = said.decode().replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines()
    assert max(map(len, lines)) <= columns
    folded = [line for line in lines if "word word" in line]
    assert len(folded) >= 2 * 200 // columns
    assert all(line.startswith("    ") for line in folded)
    assert not any(line.rstrip().endswith((" wor", " wo", " w")) for line in lines)
