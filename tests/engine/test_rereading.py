"""Claims about reading judgements once more from their stored replies."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.domain.item import Item
from evenhand.engine.tasks.rereading import Reread, read_again, reader_of
from evenhand.ledger.read.fingerprints import Fingerprint, traces
from evenhand.ledger.read.projection import StudyOnRecord, items_of, studies
from tests.reports.receipts.receipt_scene import PLAYERS, House, Shown


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """Its judge says nothing readable about item i1, so that another call finds it out."""
    made = House(folder=tmp_path)

    def takes(shown: Shown) -> str | None:
        return None if shown.item == "i1" else made.better(shown)

    made.judged(PLAYERS, takes=takes)
    yield made
    made.ledger.close()


def on_record(house: House) -> tuple[StudyOnRecord, dict[str, Item]]:
    (study,) = studies(house.ledger)
    return study, {item.digest: item for item in items_of(house.ledger, study.data)}


def reread(house: House, some: list[Fingerprint]) -> list[Reread]:
    asking = reader_of(house.ledger, *on_record(house))
    assert asking is not None
    return list(read_again(house.ledger, some, asking))


def everything(house: House) -> list[Fingerprint]:
    return list(traces(house.ledger, range(1, 100)))


def test_every_verdict_is_read_again_as_it_was_extracted_ones_too(house: House):
    found = reread(house, everything(house))
    assert len(found) == 36
    assert {len(one.trace.calls) for one in found} == {1, 2}
    assert all(one.now is not None and one.agrees for one in found)


def test_a_verdict_that_its_reply_does_not_say_is_told(house: House):
    one = everything(house)[0]
    assert one.verdict is not None
    turned = one.verdict.replace("-1", "1") if "-1" in one.verdict else one.verdict.replace('"value":1', '"value":-1')
    for stored in (
        replace(one, verdict=turned),
        replace(one, verdict=None, reason="unreadable"),
        replace(one, verdict="{"),
    ):
        (found,) = reread(house, [stored])
        assert not found.agrees
        assert found.now == Reread(trace=one, now=None).stored


def test_a_verdict_of_which_the_second_reply_is_not_named_is_told(house: House):
    extracted = next(one for one in everything(house) if len(one.calls) == 2)
    (found,) = reread(house, [replace(extracted, calls=extracted.calls[:1])])
    assert not found.agrees
    assert found.now == "a second call that is not on record"


def test_another_readers_verdict_and_one_without_a_reply_are_not_read(house: House):
    one = everything(house)[0]
    found = reread(house, [replace(one, reader="older"), replace(one, calls=())])
    assert [each.now for each in found] == [None, None]
    assert all(each.agrees for each in found)


def test_nobody_reads_what_is_of_an_unknown_protocol_or_an_extractor_that_was_forgotten(house: House):
    study, items = on_record(house)
    unknown = replace(study, condition=replace(study.condition, protocol="nobodys"))
    assert reader_of(house.ledger, unknown, items) is None
    assert reader_of(house.ledger, replace(study, extractor=None), items) is None


def test_what_was_read_by_a_code_is_read_again_by_it_and_by_no_other(tmp_path: Path):
    house = House(folder=tmp_path, readout="token")
    house.judged(PLAYERS, takes=house.better)
    asking = reader_of(house.ledger, *on_record(house))
    assert asking is not None
    assert asking.extraction is None
    found = reread(house, everything(house))
    assert len(found) == 36
    assert all(one.now is not None and one.agrees and one.trace.verdict for one in found)
    strange = replace(asking, fence_secret=b"another ledger's")
    assert {one.now for one in read_again(house.ledger, everything(house), strange)} == {"unreadable"}
    house.ledger.close()
