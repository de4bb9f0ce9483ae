"""Claims about looking after a ledger."""

import shutil
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from evenhand.domain.errors import code_of
from evenhand.domain.item import Item
from evenhand.images import digest
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.store.tables import HEAD
from evenhand.ledger.upkeep import check as upkeep
from evenhand.ledger.upkeep.restoring import restore
from tests.database import ON_POSTGRESQL, rows_in, url_in
from tests.images.pictures import encoded, photo
from tests.ledger import scene
from tests.ledger.scene import TRIALS
from tests.refusals import refused, tells

PNG = encoded(photo(), "PNG")
FILES_BESIDE = pytest.mark.sqlite("its files lie in folders beside SQLite's file")


@pytest.fixture
def filled(ledger: Ledger) -> Ledger:
    scene.set_up(ledger)
    ledger.images.put(PNG)
    entries = Entries(
        study=scene.STUDY.key,
        trials=TRIALS[:2],
        judgements=[
            scene.prefers(trial, 1, calls=(scene.asked(words).key,)) for trial, words in zip(TRIALS, "ab", strict=False)
        ],
    )
    for words, cost in (("a", 0.25), ("b", 0.5), ("c", None)):
        entries.add_call(scene.asked(words), scene.REPLY, run="run", at=0.0, cost_usd=cost)
    ledger.commit(entries)
    return ledger


def tamper(ledger: Ledger, statement: str) -> None:
    with ledger.writing() as connection:
        assert connection.execute(text(statement)).rowcount == 1


def test_info_counts_what_is_there_and_never_takes_an_unknown_price_for_0(filled: Ledger, tmp_path: Path):
    found = upkeep.info(filled)
    assert found.counts == {
        "benchmarks": 1, "items": 3, "responses": 6, "raters": 1, "studies": 1,
        "trials": 2, "runs": 0, "calls": 3, "judgements": 2, "claims": 0,
    }  # fmt: skip
    assert (found.cost_usd, found.cost_unknown) == (0.75, 1)
    assert (found.images, found.image_bytes, found.version) == (1, len(PNG), HEAD)
    assert found.where == filled.where
    if ON_POSTGRESQL:
        assert [(found.size_bytes,)] == rows_in(tmp_path, "SELECT pg_database_size(current_database())")
    else:
        assert (found.where, found.size_bytes) == (f"{tmp_path}/ledger.db", (tmp_path / "ledger.db").stat().st_size)
    assert found.as_json()["schema"] == 1


def test_a_whole_ledger_is_sound(filled: Ledger):
    assert upkeep.check(filled) == []


def test_a_flipped_bit_in_an_image_is_found(filled: Ledger):
    place, name = filled.places.images, next(filled.images.digests())
    data = bytearray(place.get(name) or b"")
    data[len(data) // 2] ^= 1
    place.put(name, bytes(data))
    (found,) = upkeep.check(filled)
    assert name[2:] in found
    tells(found, "Its bytes do not match its name")


@pytest.mark.parametrize(
    ("kind", "statement"),
    [
        ("call", "UPDATE calls SET request = replace(request, 'Which', 'What') WHERE key = '{call}'"),
        ("call", "UPDATE calls SET request = 'gone' WHERE key = '{call}'"),
        ("item", "UPDATE items SET content = replace(content, 'What is 1', 'What is 9') WHERE digest = '{item}'"),
        ("response", "UPDATE responses SET text = 'better now' WHERE digest = '{response}'"),
        ("response", "UPDATE responses SET model = 'coral' WHERE digest = '{response}'"),
        ("response", "UPDATE responses SET flags = 'gone' WHERE digest = '{response}'"),
        ("rater", "UPDATE raters SET endpoint = 'elsewhere' WHERE key = '{rater}'"),
        ("rater", """UPDATE raters SET settings = '{{"heat": 1}}' WHERE key = '{rater}'"""),
        ("condition", "UPDATE conditions SET fenced = true WHERE key = '{condition}'"),
        ("study", "UPDATE studies SET content = replace(content, 'round-robin', 'random') WHERE key = '{study}'"),
        ("study", "UPDATE studies SET purpose = 'audit' WHERE key = '{study}'"),
        ("trial", "UPDATE trials SET replicate = 1 WHERE key = '{trial}'"),
    ],
)
def test_what_was_altered_is_found(filled: Ledger, kind: str, statement: str):
    entries = Entries()
    entries.add_call(scene.asked(), scene.REPLY, run="run", at=0.0, cost_usd=None)
    filled.commit(entries)
    names = {
        "call": scene.asked().key,
        "item": scene.ITEMS[0].digest,
        "response": scene.RESPONSES[0].digest,
        "rater": scene.JUDGE.key,
        "condition": scene.CONDITION.key,
        "study": scene.STUDY.key,
        "trial": TRIALS[0].key,
    }
    tamper(filled, statement.format(**names))
    assert upkeep.check(filled) == [f"The {kind} {names[kind][:12]} does not hold the content its name says."]


@pytest.mark.parametrize(
    ("statement", "complaints"),
    [
        (
            "DELETE FROM trials WHERE key = '{trial}'",
            ["1 links from a study to a trial name no trial on record.", "1 judgements name no trial on record."],
        ),
        ("DELETE FROM raters", ["1 studies name no rater on record.", "2 trials name no rater on record."]),
        ("DELETE FROM conditions", ["1 studies name no condition on record.", "2 trials name no condition on record."]),
        (
            "DELETE FROM items WHERE digest = '{item}'",
            ["1 places in benchmarks name no item on record.", "2 trials name no item on record."],
        ),
        ("DELETE FROM studies", ["2 links from a study to a trial name no study on record."]),
        (
            "DELETE FROM responses WHERE digest = '{response}'",
            [
                "1 choices of the answer that stands name none on record.",
                "2 trials name responses that are not on record.",
            ],
        ),
        ("DELETE FROM calls WHERE key = '{call}'", ["1 judgements name calls that are not on record."]),
        ("UPDATE judgements SET calls = 'gone' WHERE seq = 1", ["1 judgements name calls that are not on record."]),
    ],
)
def test_what_is_named_and_not_there_is_found(filled: Ledger, statement: str, complaints: list[str]):
    names = {
        "trial": TRIALS[0].key,
        "item": scene.ITEMS[0].digest,
        "response": scene.RESPONSES[0].digest,
        "call": scene.asked("a").key,
    }
    tamper(filled, statement.format(**names))
    assert upkeep.check(filled) == complaints


def test_an_image_that_an_item_names_and_that_is_gone_is_found_and_addresses_are_not_missed(ledger: Ledger):
    name = digest(PNG)
    items = (
        Item(label="with", instruction="What is this?", images=(name,)),
        Item(label="elsewhere", instruction="What is that?", images=("https://example.org/a.png",)),
    )
    ledger.register_benchmark(replace(scene.BENCHMARK, items=items, pictures={name: PNG}))
    assert upkeep.check(ledger) == []
    ledger.places.images.remove(name)
    assert upkeep.check(ledger) == [
        f"1 images that items name are not in {ledger.images.where} (the first is {name}); "
        "import the files they came with again."
    ]


@pytest.mark.sqlite("of a file")
def test_a_damaged_file_is_found(filled: Ledger, tmp_path: Path):
    filled.close()
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path)) as connection:
        ((page,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ix_judgements_run'")
        ((size,),) = connection.execute("PRAGMA page_size")
    with path.open("r+b") as file:
        file.seek((page - 1) * size + size - 40)
        file.write(b"\xff" * 40)
    damaged = Ledger(url_in(tmp_path))
    try:
        found = " ".join(upkeep.check(damaged))
    except LedgerError as error:  # where the damage is met before it is looked for
        found = str(error)
    assert "SQLite finds the file damaged" in found or "not a usable ledger" in found
    damaged.close()


def test_a_backup_is_a_whole_ledger_with_its_images(filled: Ledger, tmp_path: Path):
    target = upkeep.backup(filled, tmp_path / "safe" / "today")
    assert target == tmp_path / "safe" / "today" / "ledger.db"
    copy = Ledger(f"sqlite:///{target}", create=False)
    assert upkeep.check(copy) == []
    assert upkeep.info(copy).counts == upkeep.info(filled).counts
    assert copy.images.get(next(filled.images.digests())) == PNG
    assert copy.fence_secret() == filled.fence_secret()
    copy.close()


def test_a_backup_never_overwrites_one(filled: Ledger, tmp_path: Path):
    target = upkeep.backup(filled, tmp_path / "safe")
    before = target.read_bytes()
    scene.record(filled, TRIALS, [])
    with refused(LedgerError, target, code="EH-LEDGER-EXISTS"):
        upkeep.backup(filled, tmp_path / "safe")
    assert target.read_bytes() == before
    with refused(LedgerError, tmp_path, code="EH-FOLDER-TAKEN" if ON_POSTGRESQL else "EH-LEDGER-EXISTS"):
        upkeep.backup(filled, tmp_path)


@FILES_BESIDE
def test_a_backup_cut_short_is_done_again(filled: Ledger, tmp_path: Path):
    """Before the ledger has its name, when its images may have theirs already."""
    safe = tmp_path / "safe"
    upkeep.backup(filled, safe).rename(safe / ".ledger.db.0123.unfinished")
    assert upkeep.backup(filled, safe) == safe / "ledger.db"
    with refused(LedgerError, safe, code="EH-LEDGER-EXISTS"):
        upkeep.backup(filled, safe)
    assert restore(safe, url_in(tmp_path / "again"), force=False).counts == upkeep.info(filled).counts


@pytest.mark.parametrize("name", ["ledger.part", "notes.txt", "images.txt", "images", "submitted"])
def test_a_backup_touches_nothing_of_the_users(filled: Ledger, tmp_path: Path, name: str):
    (tmp_path / "safe").mkdir()
    (tmp_path / "safe" / name).write_text("precious")
    with refused(LedgerError, tmp_path / "safe", f"'{name}'", code="EH-FOLDER-TAKEN"):
        upkeep.backup(filled, tmp_path / "safe")
    assert {path.name: path.read_text() for path in (tmp_path / "safe").iterdir()} == {name: "precious"}


@pytest.mark.parametrize("name", ["images", "submitted", "ledger.db", "images/{part}"])
def test_a_backup_follows_no_link(filled: Ledger, tmp_path: Path, name: str):
    (elsewhere := tmp_path / "elsewhere").mkdir()
    link = tmp_path / "safe" / name.format(part=next(filled.images.digests())[:2])
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere / "new.db" if name == "ledger.db" else elsewhere)
    with pytest.raises(LedgerError) as found:
        upkeep.backup(filled, tmp_path / "safe")
    assert code_of(found.value) in ("EH-LEDGER-EXISTS", "EH-FOLDER-TAKEN", "EH-LINK")
    assert (list(elsewhere.iterdir()), link.is_symlink()) == ([], True)
    assert not [path for path in (tmp_path / "safe").rglob("*") if path.name.endswith(".unfinished")]


@FILES_BESIDE
def test_a_backup_leaves_out_pictures_that_are_being_written(filled: Ledger, tmp_path: Path):
    image = filled.images.path(next(filled.images.digests()))
    image.with_name(f"{image.name}.0123.unfinished").write_bytes(b"half")
    target = upkeep.backup(filled, tmp_path / "safe")
    copied = [file.name for file in (target.parent / "images").rglob("*") if file.is_file()]
    assert copied == [image.name]


def test_a_backup_into_a_place_that_cannot_be_is_a_sentence(filled: Ledger, tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="cannot be used"):
        upkeep.backup(filled, tmp_path / "file")


def test_a_backup_while_a_writer_goes_on_holds_whole_commits(filled: Ledger, tmp_path: Path):
    """Every commit holds a trial and its judgement, so a copy that holds more of the one was cut through a commit."""
    begun, enough = threading.Event(), threading.Event()
    writer = Ledger(url_in(tmp_path))

    def write() -> None:
        replicate = 0
        while not enough.is_set():
            replicate += 1
            trial = replace(TRIALS[0], replicate=replicate)
            scene.record(writer, [trial], [scene.prefers(trial, 1)])
            begun.set()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert begun.wait(120)
        copies = [upkeep.backup(filled, tmp_path / f"safe-{number}") for number in range(5)]
    finally:
        enough.set()
        thread.join()
        writer.close()
    for target in copies:
        copy = Ledger(f"sqlite:///{target}", create=False)
        counts = upkeep.info(copy).counts
        assert upkeep.check(copy) == []
        assert counts["trials"] == counts["judgements"] > 2
        copy.close()
        shutil.rmtree(target.parent)
