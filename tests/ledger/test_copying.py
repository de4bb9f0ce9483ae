"""`evenhand ledger copy` between SQLite and PostgreSQL, on a real server; skipped, and said why, without one."""

import json
import shutil
import signal
import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select

from evenhand.images import ImageStore
from evenhand.images.addresses import FetchedAddress
from evenhand.ledger.store import schema
from evenhand.ledger.store.kept import DATABASE
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.upkeep import chain
from evenhand.ledger.upkeep.check import backup, check
from evenhand.ledger.upkeep.copying import copy_ledger, move_images
from tests.cli.shell import Shell
from tests.database import the_server
from tests.images.pictures import encoded, photo
from tests.images.test_metadata import phone_jpeg
from tests.ledger import scene
from tests.refusals import refused
from tests.warm import Code

ODD = ("\x01escaped", "nul \x00 in it", "half \ud83d of one", "é\n\t\\N\\.", "\x01", "last")
SUBMITTED = b'{"item": "1", "response": "one"}\n'
COPY = """
import sys
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.upkeep.copying import copy_ledger
def told(words):
    if words.startswith(sys.argv[3]):
        print("there", flush=True)
        sys.stdin.readline()
copy_ledger(Ledger(sys.argv[1], create=False), sys.argv[2], told=told)
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_IMAGE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def empty() -> Generator[str]:
    """The URL of a database that holds nothing."""
    url = the_server().empty()
    yield url
    the_server().tell(f"DROP DATABASE {name_in(url)} WITH (FORCE)")


def name_in(url: str) -> str:
    return url.partition("@/")[2].partition("?")[0]


@pytest.fixture
def source(tmp_path: Path) -> Generator[Ledger]:
    """With verdicts, odd texts, more rows than are read at a time, images with notes, and a submitted file."""
    with closing(Ledger(f"sqlite:///{tmp_path}/first/ledger.db")) as ledger:
        scene.set_up(ledger)
        scene.record(ledger, scene.TRIALS, [scene.prefers(trial, 1) for trial in scene.TRIALS])
        with ledger.writing() as connection:
            drafts = [
                {"person": f"p{number % 7}", "what": f"{odd}{number}", "content": odd, "at": number / 3}
                for number in range(300)
                for odd in ODD
            ]
            # Keys that are stored otherwise than they are given, more of them than are read at a time.
            drafts += [{"person": "a", "what": f"\x01{number}", "content": "", "at": 0.5} for number in range(600)]
            connection.execute(insert(schema.drafts), drafts)
        image = ledger.images.put_without_metadata(phone_jpeg())
        ledger.images.put(encoded(photo(), "PNG"))
        ledger.images.addresses.add(FetchedAddress(url="https://e.org/a", digest=image.digest, at=1.0))
        ledger.submitted.add(SUBMITTED)
        yield ledger


def everything(ledger: Ledger) -> tuple[object, ...]:
    """Of a ledger in which nothing is wrong."""
    assert check(ledger) == []
    assert chain.check(ledger).problems == []
    images = {digest: ledger.images.get(digest) for digest in ledger.images.digests()}
    with ledger.reading() as connection:
        drafts = connection.execute(select(schema.drafts)).all()
    return (
        images,
        {digest: ledger.images.originals.of(digest) for digest in images},
        ledger.images.addresses.digests(),
        {digest: ledger.submitted.get(digest) for digest, _ in ledger.places.submitted.sizes()},
        sorted(map(tuple, drafts)),
        chain.head(ledger).hash,
    )


def test_a_copy_of_a_file_has_its_rows_in_the_order_in_which_they_were_written(source: Ledger, empty: str) -> None:
    """What was judged together lies together, so that it is read together."""
    with source.writing() as connection:
        trials = [
            {"key": key, "item": "i", "responses": "[]", "rater": "r", "condition": "c", "replicate": 0, "attempt": 0}
            for key in (f"{number * 7919 % 1201:04}" for number in range(1200))
        ]
        connection.execute(insert(schema.trials), trials)
        written = connection.exec_driver_sql("SELECT key FROM trials ORDER BY rowid").scalars().all()
    copy_ledger(source, empty)
    there = the_server().tell("SELECT key FROM trials ORDER BY ctid", database=name_in(empty))
    assert [key for (key,) in there] == written != sorted(written)


def test_a_ledger_goes_to_postgresql_and_back_with_equal_digests(source: Ledger, empty: str, tmp_path: Path) -> None:
    there = copy_ledger(source, empty)
    with closing(Ledger(empty, create=False)) as on_server:
        assert everything(on_server) == everything(source)
        assert on_server.places.word == DATABASE
        back = copy_ledger(on_server, f"sqlite:///{tmp_path}/second/ledger.db")
    assert back.tables == there.tables
    assert {one.table: one.rows for one in there.tables}["drafts"] == 300 * len(ODD) + 600
    assert (back.digest, back.head, back.images, back.submitted) == (
        there.digest,
        there.head,
        there.images,
        there.submitted,
    )
    assert there.images.files == 2
    assert there.submitted.size == len(SUBMITTED)
    with closing(Ledger(f"sqlite:///{tmp_path}/second/ledger.db", create=False)) as again:
        assert everything(again) == everything(source)
        assert again.places.word is None
    assert sorted(path.name for path in (tmp_path / "second").iterdir()) == [
        "images", "ledger.db", "submitted",
    ], "nothing unfinished"  # fmt: skip


def test_a_copy_on_a_server_goes_on_numbering_after_the_last_row(source: Ledger, empty: str) -> None:
    copy_ledger(source, empty)
    with closing(Ledger(empty, create=False)) as ledger:
        retried = scene.again(scene.TRIALS[0])
        scene.record(ledger, [retried], [scene.prefers(retried, -1)])
        with ledger.reading() as connection:
            numbers = connection.execute(select(schema.judgements.c.seq)).scalars().all()
        assert sorted(numbers) == list(range(1, len(scene.TRIALS) + 2))
        assert chain.check(ledger).problems == []


def test_what_is_written_meanwhile_is_not_in_the_copy(source: Ledger, empty: str) -> None:
    before, others = everything(source), Ledger(source.url)

    def told(words: str) -> None:
        if "response_choices" in words:
            retried = scene.again(scene.TRIALS[0])
            scene.record(others, [retried], [scene.prefers(retried, -1)])

    copy_ledger(source, empty, told=told)
    with closing(Ledger(empty, create=False)) as copied, closing(others):
        assert everything(copied) == before
        assert everything(source) != before


def test_a_copy_overwrites_nothing(source: Ledger, empty: str, tmp_path: Path) -> None:
    taken = tmp_path / "taken.db"
    taken.write_bytes(b"")
    the_server().tell("CREATE TABLE another (one int)", database=name_in(empty))
    for url, where in ((f"sqlite:///{taken}", taken), (empty, name_in(empty)), (source.url, source.where)):
        with refused(LedgerError, where, code="EH-LEDGER-EXISTS"):
            copy_ledger(source, url)
    assert taken.read_bytes() == b""
    assert the_server().tell("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", database=name_in(empty)) == [
        (1,)
    ]


@pytest.mark.parametrize(
    "moment",
    [*(pytest.param(one, marks=pytest.mark.slow) for one in ("Copying table 9 ", "Copying images")), "Comparing"],
)
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_copy_that_was_killed_is_not_there_and_can_be_made_again(
    source: Ledger, empty: str, tmp_path: Path, kind: str, moment: str
) -> None:
    target = empty if kind == "postgresql" else f"sqlite:///{tmp_path}/second/ledger.db"
    process = Code(COPY, source.url, target, moment)
    assert scene.heard(process) == "there"
    scene.killed(process)
    with refused(LedgerError, code="EH-LEDGER-MISSING"):
        Ledger(target, create=False)
    copy_ledger(source, target)
    with closing(Ledger(target, create=False)) as copied:
        assert everything(copied) == everything(source)


LAST = """
import os, signal, sys
from pathlib import Path
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.upkeep.check import backup
from evenhand.ledger.upkeep.copying import copy_ledger
def die(event, given):
    if event in ("os.rename", "os.link") and str(given[1]).endswith("ledger.db"):
        os.kill(os.getpid(), signal.SIGKILL)
ledger = Ledger(sys.argv[1], create=False)
sys.addaudithook(die)
if sys.argv[3] == "copy":
    copy_ledger(ledger, f"sqlite:///{sys.argv[2]}/ledger.db")
else:
    backup(ledger, Path(sys.argv[2]))
"""


@pytest.mark.parametrize("command", ["copy", "backup"])
def test_a_copy_that_was_killed_as_it_got_its_name_can_be_made_again(
    source: Ledger, tmp_path: Path, command: str
) -> None:
    second = tmp_path / "second"
    last = Code(LAST, source.url, str(second), command)
    last.communicate()
    assert last.returncode == -signal.SIGKILL
    if command == "copy":
        copy_ledger(source, f"sqlite:///{second}/ledger.db")
    else:
        backup(source, second)
    with closing(Ledger(f"sqlite:///{second}/ledger.db", create=False)) as copied:
        assert everything(copied) == everything(source)


def test_a_copy_that_reads_otherwise_than_it_was_written_is_not_kept(source: Ledger, empty: str) -> None:
    """A server can be told to round numbers as it gives them out."""
    the_server().tell(f"ALTER DATABASE {name_in(empty)} SET extra_float_digits = -9")
    with refused(LedgerError, "extra_float_digits", code="EH-COPY-DIFFERS"):
        copy_ledger(source, empty)
    assert the_server().tell("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", database=name_in(empty)) == [
        (0,)
    ]


def test_a_row_that_nobody_of_ours_wrote_is_told(source: Ledger, empty: str) -> None:
    with closing(sqlite3.connect(source.where)) as connection:
        connection.execute("UPDATE runs SET command = CAST(x'ff' AS TEXT)")
        connection.execute("UPDATE drafts SET content = CAST(x'ff' AS TEXT) WHERE what = 'last1'")
        connection.commit()
    with refused(LedgerError, "drafts", code="EH-LEDGER-DAMAGED"):
        copy_ledger(source, empty)


def test_images_that_are_not_as_they_were_stored_are_not_copied(source: Ledger, empty: str) -> None:
    digest = next(source.images.digests())
    source.images.path(digest).write_bytes(b"altered")
    with pytest.raises(Exception, match=digest):
        copy_ledger(source, empty)
    with refused(LedgerError, code="EH-LEDGER-MISSING"):
        Ledger(empty, create=False)


def test_images_move_into_the_database_and_out_of_it(source: Ledger, tmp_path: Path) -> None:
    before = everything(source)
    url = source.url
    for place in (DATABASE, str(tmp_path / "elsewhere"), str(source.beside)):
        with closing(Ledger(url)) as ledger:
            move_images(ledger, place)
        url = f"{source.url}?images={place}"
        with closing(Ledger(url, create=False)) as ledger:
            assert everything(ledger) == before
    with closing(Ledger(source.url, create=False)) as ledger, ledger.reading() as connection:
        assert ledger.places.word is None
        table = schema.metadata.tables["kept_files"]
        assert connection.execute(select(func.count()).select_from(table)).scalar_one() == 0


def test_the_commands_tell_what_was_copied_and_where_images_lie(
    source: Ledger, empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(tmp_path, monkeypatch, capsys)
    secret = empty.replace("eh@", "eh:hush@")
    document = shell.document("ledger", "copy", source.url, secret)
    assert "hush" not in json.dumps(document)
    assert document["rows"] == sum(one["rows"] for one in document["tables"])
    assert document["images"]["files"] == 2
    assert document["chain"]["head"] == chain.head(source).hash
    shell.refuses("EH-LEDGER-EXISTS", of=("ledger", "copy", source.url, empty), expect=1)
    out, _ = shell.run("ledger", "copy", empty, "sqlite:///back.db", "--images", "pictures")
    assert document["digest"] in out
    assert shell.run("ledger", "images", "--store", empty)[0].strip().startswith("the database ")
    shell.refuses("EH-IMAGES-ELSEWHERE", "pictures", of=("ledger", "images", "--store", "sqlite:///back.db"), expect=1)
    given = ("--store", "sqlite:///back.db", "--images", "pictures")
    assert shell.run("ledger", "images", *given)[0].strip() == str(tmp_path / "pictures" / "images")
    assert shell.document("ledger", "check", *given)["sound"]


def test_images_that_an_older_version_kept_beside_a_ledger_on_a_server_are_taken_into_it(
    empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They lay in `.evenhand` of the folder where commands were run."""
    shell = Shell(tmp_path, monkeypatch, capsys)
    older = ImageStore(tmp_path / ".evenhand" / "images")
    digest = older.put(encoded(photo(), "PNG")).digest
    older.addresses.add(FetchedAddress(url="https://e.org/a", digest=digest, at=1.0))
    Ledger(empty).close()
    shell.run("ledger", "images", "--images", ".evenhand", "--store", empty)
    shell.run("ledger", "images", "database", "--store", empty)
    shutil.rmtree(tmp_path / ".evenhand")
    with closing(Ledger(empty, create=False)) as ledger:
        assert ledger.images.get(digest) == encoded(photo(), "PNG")
        assert ledger.images.addresses.digests() == {"https://e.org/a": digest}
        assert check(ledger) == []
