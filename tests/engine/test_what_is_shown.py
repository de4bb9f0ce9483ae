"""What a judge is shown under each protocol, as the server saw it: images, criteria, references; what is left out."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenhand.api.judging import JudgeRun, Terms, judge_async
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import bytes_hash
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import Rater, Settings
from evenhand.domain.response import Response
from evenhand.domain.trial import See
from evenhand.domain.verdict import Grades, Preference
from evenhand.engine.tasks.judging import Matching, PreparedStudy, Showing, prepare
from evenhand.ledger.read.projection import judged, studies
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.protocols.catalog import load_protocol
from tests.database import ledger_in
from tests.images.pictures import encoded, photo
from tests.refusals import noted, refused
from tests.scripted_server import Script, ScriptedServer

PICTURES = [encoded(photo(20 + size, 20), "PNG") for size in range(3)]
TASTE, FACTS = ("General Subjective Criteria", "1. Charm."), ("Visual Factuality Criteria", "1. The tower is red.")
AGAINST = Matching(pairing="against", against="reference")


def item(label: str, **fields: Any) -> Item:
    return Item(label=label, instruction=f"Write about {label}.", reference=f"The reference of {label}.", **fields)


CASES = (
    item("both", images=tuple(map(bytes_hash, PICTURES)), criteria=(TASTE, FACTS), ground_truth="A red tower."),
    item("facts", images=(bytes_hash(PICTURES[1]),), criteria=(TASTE, FACTS, ("More facts", "2. It is tall."))),
    item("taste", images=(bytes_hash(PICTURES[2]),), criteria=(TASTE, ("Visual Factuality Criteria", "\\"))),
)


def benchmark(items: Sequence[Item] = CASES) -> Benchmark:
    pictures = {bytes_hash(data): data for data in PICTURES}
    return Benchmark(name="cases", items=tuple(items), licence="CC0-1.0", citation="", protocols=(), pictures=pictures)


def answers(items: Sequence[Item] = CASES, models: Sequence[str] = ("ann",)) -> list[Response]:
    return [Response(item=one.digest, model=m, text=f"{m} on {one.label}.") for one in items for m in models]


def prepared(protocol: str, items: Sequence[Item] = CASES, **more: Any) -> PreparedStudy:
    matching = more.pop("matching", Matching())
    return prepare(
        benchmark(items),
        [*answers(items, ("ann", "ben")), *(_reference(one) for one in items if one.reference)],
        items=items,
        judge=Rater(kind="model", name="m", endpoint="e", settings=load_protocol(protocol).settings),
        model="m",
        showing=Showing(protocol=load_protocol(protocol), **more),
        matching=matching,
    )


def _reference(one: Item) -> Response:
    return Response(item=one.digest, model="reference", text=one.reference or "")


def creation_judge(body: dict[str, Any]) -> str:
    """Likes whatever Ann wrote."""
    content = body["messages"][0]["content"]
    text = content if isinstance(content, str) else content[-1]["text"]
    first = text.index("ann on ") < text.index("The reference of ")
    if "Visual Factuality" in text:
        scores = ("9/10", "4.5/10") if first else ("4.5/10", "9/10")
        return "\n".join(
            f"Response {x} Visual Factuality Score: {score}" for x, score in zip("AB", scores, strict=True)
        )
    return f"Final Verdict is: [[{'A>>B' if first else 'A<<B'}]]"


async def judged_by(
    server: ScriptedServer,
    ledger: Ledger,
    protocol: str,
    *,
    see: See | None = None,
    settings: Settings | None = None,
    detail: str | None = None,
) -> JudgeRun:
    showing = Showing(protocol=load_protocol(protocol), see=see, image_detail=detail)
    terms = Terms(base_url=server.base_url, settings=settings)
    return await judge_async(
        benchmark(), answers(), judge="openai/gpt-4o", ledger=ledger, showing=showing, matching=AGAINST, terms=terms
    )


def contents(server: ScriptedServer) -> list[Any]:
    return [seen.body["messages"][0]["content"] for seen in server.requests]


async def test_the_preference_judge_sees_the_images_in_order_and_small_and_then_the_text(tmp_path: Path) -> None:
    ledger = ledger_in(tmp_path)
    async with ScriptedServer(Script(judge=creation_judge)) as server:
        run = await judged_by(server, ledger, "creation_preference")
        sent = contents(server)
        again = await judged_by(server, ledger, "creation_preference")
    assert again.summary["called"] == 0
    assert run.summary["verdicts"] == 6
    assert {len(body["messages"]) for body in (seen.body for seen in server.requests)} == {1}
    ((pictures, text), _) = [(parts[:-1], parts[-1]["text"]) for parts in sent if "about both" in parts[-1]["text"]]
    urls = [ledger.images.data_url(name).decode() for name in CASES[0].images]
    assert [part["image_url"] for part in pictures] == [{"url": url, "detail": "low"} for url in urls]
    assert "[CRITERIA]\n1. Charm.\n[END CRITERIA]" in text
    settings = server.requests[0].body
    assert (settings["temperature"], settings["max_tokens"]) == (0.0, 4096)
    results = judged(ledger, studies(ledger))
    assert {(one.models[0], one.judgement.verdict) for one in results} == {
        ("reference", Preference(value=-2, levels=5)),
        ("ann", Preference(value=2, levels=5)),
    }
    assert all("adapted" not in one.judgement.notes for one in results)


async def test_in_the_published_order_the_baseline_is_assistant_a() -> None:
    study = prepared(
        "creation_preference", matching=Matching(pairing="against", against="reference", orders="published")
    )
    for trial in study.trials():
        text = study.asking.request(trial).messages[0].text
        assert "[ASSISTANT A]\nThe reference of" in text
        assert "[ASSISTANT B]\nThe reference of" not in text


async def test_the_factuality_judge_sees_no_image_and_only_items_with_such_criteria_are_asked(tmp_path: Path) -> None:
    ledger = ledger_in(tmp_path)
    async with ScriptedServer(Script(judge=creation_judge)) as server:
        run = await judged_by(server, ledger, "creation_factuality")
    texts = contents(server)
    assert all(isinstance(text, str) for text in texts), "plain text, no picture"
    assert len(texts) == 4
    assert (run.summary["planned"], run.summary["verdicts"]) == (4, 4)
    truth = "[GROUND TRUTH]\nA red tower.\n[END GROUND TRUTH]"
    assert sorted((truth in text, "about both" in text) for text in texts) == [(False, False)] * 2 + [(True, True)] * 2
    assert sum("[GROUND TRUTH]" in text for text in texts) == 2
    assert sum("1. The tower is red.\n\n2. It is tall.\n[END CRITERIA]" in text for text in texts) == 2
    assert {(one.models[0], one.judgement.verdict) for one in judged(ledger, studies(ledger))} == {
        ("reference", Grades(values=(4.5, 9.0))),
        ("ann", Grades(values=(9.0, 4.5))),
    }


def test_items_without_what_a_protocol_shows_are_counted_and_said() -> None:
    study = prepared("creation_factuality", matching=AGAINST)
    assert study.not_applicable == 1
    assert study.notes == ("Without factuality criteria, and so not asked under creation_factuality: 1 of 3 items.",)
    assert (study.wanted, len(study.study.items)) == (2 * 2 * 2, 2)
    assert prepared("creation_preference", matching=AGAINST).not_applicable == 0
    with refused(Misuse, "creation_factuality", code="EH-SEE-MISSING"):
        prepared("creation_factuality", CASES[2:], matching=AGAINST)


def captioned(label: str, reference: str | None) -> Item:
    return Item(label=label, instruction="What is it?", caption="A house.", reference=reference)


def test_under_the_reference_backed_protocol_the_reference_guides_and_does_not_play() -> None:
    items = [captioned("1", "A house."), captioned("2", None), captioned("3", "A hut.")]
    study = prepared("visit_pairwise_reference", items)
    assert study.study.models == ("ann", "ben")
    assert study.not_applicable == 1
    assert noted(study.notes, "reference", "visit_pairwise_reference", "1 of 3 items")
    texts = [study.asking.request(trial).messages[-1].text for trial in study.trials()]
    assert len(texts) == 4
    assert sum("High quality reference: A hut.\n" in text for text in texts) == 2
    with refused(Misuse, "--against", code="EH-REFERENCE-SHOWN"):
        prepared("visit_pairwise_reference", items, matching=AGAINST)
    assert prepared("visit_pairwise", items).study.models == ("ann", "ben", "reference")


def test_captions_are_asked_for_only_where_the_prompt_shows_one(tmp_path: Path) -> None:
    bare = [Item(label="1", instruction="?", criteria=(TASTE,), images=CASES[0].images)]
    assert prepared("creation_preference", bare).wanted == 2
    with refused(Misuse, "captions", "1 item has", code="EH-SEE-MISSING"):
        prepared("visit_pairwise", bare)


def test_no_judge_is_told_of_an_image_that_is_not_there() -> None:
    texts = [Item(label=label, instruction="What is it?") for label in "12"]
    with refused(Misuse, "captions", "2 items", "--see none", code="EH-SEE-MISSING"):
        prepared("visit_pairwise", texts)
    mixed = [Item(label="3", instruction="?", caption="A house.", images=CASES[0].images), captioned("4", None)]
    for see in ("images", "both"):
        with refused(Misuse, "images", "1 item has", "'4'", "--see caption", code="EH-SEE-MISSING"):
            prepared("visit_pairwise", mixed, see=see)
    with refused(Misuse, "images", "2 items", "--see none", code="EH-SEE-MISSING"):
        prepared("visit_pairwise", texts, see="images")
    described = [captioned(label, None) for label in "56"]
    with refused(Misuse, "images", "2 items", "--see caption", code="EH-SEE-MISSING"):
        prepared("visit_pairwise", described, see="images")
    assert prepared("visit_pairwise", texts, see="none").wanted == 4
    assert prepared("pairwise", texts).wanted == 4, "its words hold with an image and without"


async def test_what_is_chosen_otherwise_than_published_stays_with_every_judgement(tmp_path: Path) -> None:
    ledger = ledger_in(tmp_path)
    async with ScriptedServer(Script(judge=creation_judge)) as server:
        await judged_by(
            server, ledger, "creation_preference", settings=Settings(temperature=0.7, max_tokens=4096), detail="high"
        )
        await judged_by(server, ledger, "creation_factuality", see="images")
    notes: dict[str, set[str]] = {}
    with ledger.reading() as connection:
        query = schema.judgements.join(schema.trials, schema.trials.c.key == schema.judgements.c.trial)
        query = query.join(schema.conditions, schema.conditions.c.key == schema.trials.c.condition)
        for row in connection.execute(query.select()):
            notes.setdefault(row.protocol, set()).update(json.loads(row.notes).get("adapted", ["none"]))
    assert notes == {
        "creation_preference": {
            "By choice, temperature is 0.7, not 0.",
            "By choice, image_detail is high, not low.",
        },
        "creation_factuality": {"By choice, see is images, not none."},
    }


def test_a_fence_and_smaller_images_are_deviations_where_a_paper_is_followed() -> None:
    fence = "By choice, the answers stand in a fence with a nonce, not as published."
    edge = "By choice, images are at most 512 pixels wide and high, not as in the data."
    assert prepared("creation_preference", fenced=True, max_image_edge=512).asking.deviations == (fence, edge)
    assert prepared("creation_factuality", fenced=True, max_image_edge=512).asking.deviations == (fence,), "no image"


def test_what_the_paper_does_not_state_is_no_deviation() -> None:
    visit = load_protocol("visit_pairwise")
    assert "temperature" not in visit.published
    items = [captioned("1", None)]
    assert prepared("visit_pairwise", items).asking.deviations == ()
    assert prepared("visit_pairwise", items, see="none").asking.deviations == ("By choice, see is none, not caption.",)
    seen = prepared("creation_preference", see="none", image_detail="high").asking.deviations
    assert seen == ("By choice, see is none, not images.",), "no image is sent, so its detail says nothing"
