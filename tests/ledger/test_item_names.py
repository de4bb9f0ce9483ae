"""Claims about what items are called to others: by labels, which are public, never by a hash of what is withheld."""

from pathlib import Path

from evenhand.domain.item import Benchmark, Item
from evenhand.ledger.read.item_names import public_names
from evenhand.ledger.store.record import Ledger
from tests.database import url_in


def named(ledger: Ledger, *labels: str) -> dict[str, str]:
    items = tuple(Item(label=label, instruction=f"{n}?", reference="yes") for n, label in enumerate(labels))
    benchmark = Benchmark(name="b", items=items, licence="", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    found = public_names(ledger, benchmark.digest)
    assert list(found) == [item.digest for item in items]
    return found


def test_an_item_is_called_by_its_label(ledger: Ledger):
    assert list(named(ledger, "one", "two").values()) == ["one", "two"]


def test_items_that_share_a_label_are_told_apart_by_a_sign_of_this_ledger_alone(ledger: Ledger):
    found = named(ledger, "one", "one", "two")
    assert len(set(found.values())) == 3
    assert [name.split()[0] for name in found.values()] == ["one", "one", "two"]
    for digest, name in found.items():
        assert not [part for part in name.split() if part in digest]


def test_another_ledger_makes_another_sign(ledger: Ledger, tmp_path: Path):
    other = Ledger(url_in(tmp_path, "other"))
    try:
        here, there = named(ledger, "one", "one"), named(other, "one", "one")
    finally:
        other.close()
    assert here.keys() == there.keys()
    assert set(here.values()).isdisjoint(there.values())
