"""What everybody may have of a benchmark holds no word of what is withheld; a release holds it all, marked."""

import csv
import io
import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from evenhand.domain.item import Benchmark, Brief, Item
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.tables import ExchangeTable, write_table
from evenhand.images.addresses import FetchedAddress
from evenhand.ledger.store.record import Ledger
from evenhand.site.living.public_export import COLUMNS, on_record, public_rows, write_images
from evenhand.site.living.settings import find_growing
from evenhand.site.living.versions import publish
from evenhand.site.submissions.withheld_export import COLUMNS as WITHHELD_COLUMNS
from evenhand.site.submissions.withheld_export import Recipient, canary, withheld_rows, withheld_table
from tests.benchmarks.files import BLUE, BLUE_DIGEST, RED, RED_DIGEST
from tests.exchange.world import store_in
from tests.ledger.test_growing import accepted, begun

PHRASE = "zanzibar-quokka-7731"
URL = "https://e.org/x/dog.png"
ITEMS = (
    Item(
        label="dog",
        instruction="=What is it?",
        images=(URL, RED_DIGEST),
        caption=f"A {PHRASE} dog",
        reference=f"A {PHRASE} reference",
        ground_truth=f"{PHRASE} truth",
        criteria=(("Visual Factuality", f"{PHRASE} criteria"),),
        task=f"{PHRASE} task",
        category="animals",
        brief=Brief(role=f"{PHRASE} role"),
    ),
    Item(label="poem", instruction="Write", reference=PHRASE, task=PHRASE),
)
BENCHMARK = Benchmark(
    name="asked",
    items=ITEMS,
    licence="CC BY 4.0",
    citation=PHRASE,
    protocols=(),
    pictures={RED_DIGEST: RED},
    addresses={URL: BLUE_DIGEST},
    licences={URL: "CC0, by Ada"},
    notes=(PHRASE,),
)
RECIPIENT = Recipient(name="Team Zero", release="r-17", at=datetime(2026, 11, 15, 9, tzinfo=UTC).timestamp())


def test_a_row_holds_the_question_its_images_and_their_licences_and_nothing_else() -> None:
    assert public_rows(BENCHMARK) == [
        {
            "item": "dog",
            "instruction": "=What is it?",
            "category": "animals",
            "images": [URL, RED_DIGEST],
            "image_sha256": [BLUE_DIGEST, RED_DIGEST],
            "image_licences": ["CC0, by Ada", None],
            "licence": "CC BY 4.0",
        },
        {
            "item": "poem",
            "instruction": "Write",
            "category": None,
            "images": [],
            "image_sha256": [],
            "image_licences": [],
            "licence": "CC BY 4.0",
        },
    ]


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_a_phrase_planted_in_what_is_withheld_is_in_no_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"public{suffix}"
    write_table(ExchangeTable(columns=COLUMNS, rows=public_rows(BENCHMARK)), path)
    if suffix == ".parquet":  # it is packed, so its bytes would hide the phrase
        assert list(pl.read_parquet(path)["item"]) == ["dog", "poem"]
        text = json.dumps(pl.read_parquet(path).to_dicts())
    else:
        text = path.read_text(encoding="utf-8")
    assert "What is it?" in text
    assert PHRASE not in text


def test_an_image_without_another_name_is_named_by_its_file() -> None:
    rows = public_rows(BENCHMARK, files={RED_DIGEST: "pics/red.png", BLUE_DIGEST: "pics/blue.png"})
    assert rows[0]["images"] == [URL, "pics/red.png"]


def test_a_benchmark_on_record_is_told_with_what_the_ledger_knows_of_its_images(tmp_path: Path) -> None:
    with closing(Ledger(store_in(tmp_path))) as ledger:
        ledger.register_benchmark(BENCHMARK)
        digest = ledger.images.put(BLUE).digest
        other = FetchedAddress(url="https://e.org/other.png", digest=RED_DIGEST, at=1.0, licence="other")
        ledger.images.addresses.add(other)
        ledger.images.addresses.add(FetchedAddress(url=URL, digest=digest, at=1.0, licence="CC0"))
        ledger.images.addresses.add(FetchedAddress(url=URL, digest=digest, at=2.0))
        rows = public_rows(on_record(ledger, BENCHMARK.digest))
        assert public_rows(on_record(ledger, "nothing")) == []
        found = on_record(ledger, BENCHMARK.digest)
    assert dict(found.addresses) == {URL: BLUE_DIGEST}
    assert dict(found.licences) == {URL: "CC0, by Ada"}, "its own data go before what a fetch said"
    assert found.name == "asked"
    assert [row["item"] for row in rows] == ["dog", "poem"]
    assert rows[0]["image_sha256"] == [BLUE_DIGEST, RED_DIGEST]
    assert rows[0]["image_licences"] == ["CC0, by Ada", None]
    assert rows[0]["licence"] == "CC BY 4.0"
    assert PHRASE not in json.dumps(rows)


def test_an_image_that_people_gave_has_the_licence_they_said(tmp_path: Path) -> None:
    with closing(Ledger(store_in(tmp_path))) as ledger:
        growing = begun(ledger)
        accepted(ledger, growing)
        found = find_growing(ledger, growing)
        assert found
        first = publish(ledger, found, by="owner")
        accepted(ledger, growing, person="d", text="How many more?")
        second = publish(ledger, found, by="owner")
        assert first
        assert second
        assert public_rows(on_record(ledger, first.data))[0]["image_licences"] == ["CC0"]
        rows = public_rows(on_record(ledger, second.data))
    assert [row["image_licences"] for row in rows] == [["CC0"], ["CC0"]]
    assert "One." not in json.dumps([dict(row) for row in rows])  # the caption


def test_images_are_written_by_digest_and_the_absent_are_named(tmp_path: Path) -> None:
    alone = write_images(BENCHMARK, tmp_path / "deep" / "alone", None)
    assert alone.files == {RED_DIGEST: f"{RED_DIGEST}.png"}
    assert alone.absent == (URL,)
    assert (tmp_path / "deep" / "alone" / f"{RED_DIGEST}.png").read_bytes() == RED
    with closing(Ledger(store_in(tmp_path))) as ledger:
        assert write_images(BENCHMARK, tmp_path / "none", ledger.images).absent == (URL,)
        ledger.images.put(BLUE)
        both = write_images(BENCHMARK, tmp_path / "both", ledger.images)
        assert both.absent == ()
        assert (tmp_path / "both" / f"{BLUE_DIGEST}.png").read_bytes() == BLUE
        ledger.images.path(BLUE_DIGEST).write_bytes(RED)
        with pytest.raises(ExchangeError, match="altered"):
            write_images(BENCHMARK, tmp_path / "altered", ledger.images)


def test_a_release_holds_every_field_and_the_recipients_marks() -> None:
    rows = withheld_rows(ITEMS, RECIPIENT)
    assert list(rows[0]) == list(WITHHELD_COLUMNS)
    assert rows[0] == {
        "item": "dog",
        "instruction": "=What is it?",
        "images": [URL, RED_DIGEST],
        "caption": f"A {PHRASE} dog",
        "reference": f"A {PHRASE} reference",
        "ground_truth": f"{PHRASE} truth",
        "criteria": [["Visual Factuality", f"{PHRASE} criteria"]],
        "task": f"{PHRASE} task",
        "category": "animals",
        "brief": [["role", f"{PHRASE} role"]],
        "released_to": "Team Zero",
        "release": "r-17",
        "released": "2026-11-15",
        "canary": canary("r-17"),
    }
    assert [row["canary"] for row in rows] == [canary("r-17")] * 2
    assert rows[1]["brief"] == []


def test_a_canary_tells_releases_apart_and_is_the_same_whenever_it_is_looked_up() -> None:
    assert canary("r-17") == (
        "Withheld test data, not to be trained on. evenhand-canary 348d5eb9-10e6-f02e-50a8-9f65680b600b"
    )
    assert len({canary(f"r-{n}") for n in range(1_000)}) == 1_000


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_every_row_of_a_release_is_marked_in_every_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"release{suffix}"
    write_table(withheld_table(ITEMS, RECIPIENT), path)
    if suffix == ".jsonl":
        found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    elif suffix == ".csv":
        found = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    else:
        found = pl.read_parquet(path).to_dicts()
    assert [row["canary"] for row in found] == [canary("r-17")] * 2
    assert [row["released_to"] for row in found] == ["Team Zero"] * 2
