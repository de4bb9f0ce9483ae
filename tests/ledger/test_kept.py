"""Where the images of a ledger lie: beside it, in its database, in S3; and what another machine makes of that."""

import asyncio
import hashlib
import os
import re
import signal
from base64 import b64encode
from collections.abc import Generator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.call import Picture
from evenhand.images import ImageError
from evenhand.images.addresses import FetchedAddress
from evenhand.images.cache import CacheFolder, usual_folder
from evenhand.images.places import PlaceError
from evenhand.images.s3 import S3Place
from evenhand.ledger.store.kept import as_word
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.upkeep.check import check
from tests.benchmarks.files import RED, RED_DIGEST
from tests.cli.served import served
from tests.cli.shell import Shell
from tests.cli.test_fetch import sheet
from tests.database import the_server
from tests.exchange.world import run
from tests.hosting import hosting
from tests.images.pictures import encoded, photo
from tests.images.web import serving
from tests.ledger import scene
from tests.models.asking import asking
from tests.refusals import refused, says
from tests.s3_server import BUCKET, SECRET, S3Server, s3_server
from tests.scripted_server import Script

PNG, OTHER = encoded(photo(), "PNG"), encoded(photo(30, 30), "PNG")


@pytest.fixture(scope="module")
def s3() -> Generator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture
def machine(tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where we are, with a cache that is empty, and the variables of S3."""
    enter(tmp_path / "first", monkeypatch)
    for name, value in s3.variables.items():
        monkeypatch.setenv(name, value)
    return tmp_path / "first"


def enter(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another machine: of the first it has no file."""
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("EVENHAND_IMAGE_CACHE", str(folder / "cache"))


@pytest.fixture
def on_server(tmp_path: Path) -> Generator[str]:
    place = tmp_path / "of its own"
    yield the_server().ledger_of(place)
    the_server().forget(lambda one: one == place)


@pytest.fixture(params=["postgresql", "sqlite in its file", "sqlite and s3", "postgresql and s3"])
def url(request: pytest.FixtureRequest, machine: Path, tmp_path: Path) -> str:
    """Of a ledger whose images lie in no folder."""
    kind = str(request.param)
    images = f"s3://{BUCKET}/{tmp_path.name}" if kind.endswith("s3") else "database"
    store = f"sqlite:///{machine}/ledger.db" if kind.startswith("sqlite") else request.getfixturevalue("on_server")
    return f"{store}{'&' if '?' in store else '?'}images={images}"


def cached(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / "cache").rglob("*") if path.is_file())


def test_what_is_put_there_is_got_back_on_another_machine(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Ledger(url)) as ledger:
        digest = ledger.images.put(PNG).digest
        assert ledger.images.put(PNG).digest == digest
        ledger.images.addresses.add(FetchedAddress(url="https://e.org/a", digest=digest, at=1.0))
        ledger.images.originals.add(digest, "0" * 64)
        submitted = ledger.submitted.add(b"{}\n")
    assert not (tmp_path / "first" / "images").exists()
    assert not (tmp_path / "first" / ".evenhand").exists()
    enter(tmp_path / "second", monkeypatch)
    with closing(Ledger(url, create=False)) as ledger:
        assert list(ledger.images.digests()) == [digest]
        assert ledger.images.missing([digest, "f" * 64, "https://e.org/b"]) == ["f" * 64]
        assert ledger.images.missing([f"{number:064x}" for number in range(600)] + [digest]) == [
            f"{number:064x}" for number in range(600)
        ]
        assert ledger.images.get(digest) == PNG
        assert ledger.images.addresses.digests() == {"https://e.org/a": digest}
        assert ledger.images.originals.of(digest) == {"0" * 64}
        assert ledger.submitted.get(submitted) == b"{}\n"
        assert ledger.submitted.holds(submitted)
        assert [path.read_bytes() for path in cached(tmp_path / "second")] == [PNG], "no submitted file is cached"
        ledger.submitted.remove(submitted)
        ledger.submitted.remove(submitted)
        assert not ledger.submitted.holds(submitted)
        assert check(ledger) == []
        with refused(ImageError, "f" * 64, ledger.places.images.where, code="EH-IMAGE-MISSING"):
            ledger.images.get("f" * 64)


def test_a_submitted_file_is_removed_within_a_transaction(url: str) -> None:
    with closing(Ledger(url, wait_seconds=1)) as ledger:
        digest = ledger.submitted.add(b"one")
        with ledger.writing():
            ledger.submitted.remove(digest)
        assert not ledger.submitted.holds(digest)


def test_an_image_that_was_altered_there_is_not_given_out(url: str, tmp_path: Path) -> None:
    with closing(Ledger(url)) as ledger:
        digest = ledger.images.put(PNG).digest
        cached(tmp_path / "first")[0].write_bytes(b"altered here")
        assert ledger.images.get(digest) == PNG, "which the place still has"
        ledger.places.images.put(digest, OTHER)
        assert ledger.images.get(digest) == PNG, "which this machine still has"
        cached(tmp_path / "first")[0].write_bytes(b"altered too")
        with refused(ImageError, digest, code="EH-IMAGE-ALTERED"):
            ledger.images.get(digest)
        (problem,) = check(ledger)
        assert digest in problem
        ledger.places.images.remove(digest)
        ledger.images.put(PNG)
        assert check(ledger) == []


def test_a_server_says_where_its_images_lie_and_the_next_machine_needs_no_more(
    on_server: str, machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Ledger(f"{on_server}&images=s3://{BUCKET}/{tmp_path.name}/")) as ledger:
        digest = ledger.images.put(PNG).digest
    enter(tmp_path / "second", monkeypatch)
    with closing(Ledger(on_server, create=False)) as ledger:
        assert ledger.places.word == f"s3://{BUCKET}/{tmp_path.name}"
        assert ledger.images.get(digest) == PNG
    with refused(LedgerError, f"s3://{BUCKET}/{tmp_path.name}", "database", code="EH-IMAGES-HELD"):
        Ledger(f"{on_server}&images=database")


def test_what_only_a_file_says_is_not_believed(machine: Path, tmp_path: Path) -> None:
    place = f"s3://{BUCKET}/{tmp_path.name}"
    Ledger(f"sqlite:///ledger.db?images={place}").close()
    with closing(Ledger("sqlite:///ledger.db")) as ledger:
        scene.set_up(ledger)
        with refused(LedgerError, place, "--images", code="EH-IMAGES-ELSEWHERE"):
            ledger.images.get("0" * 64)


def test_images_beside_a_ledger_are_not_left_behind(machine: Path) -> None:
    with closing(Ledger("sqlite:///ledger.db")) as ledger:
        ledger.images.put(PNG)
    with refused(LedgerError, "database", code="EH-IMAGES-HELD"):
        Ledger("sqlite:///ledger.db?images=database")
    assert Ledger(f"sqlite:///ledger.db?images={machine}").places.word is None


@pytest.mark.parametrize(
    "url",
    ["", "s3://", "s3://key:hush@bucket/p", "s3://bucket:80/p", "s3://bucket/p?secret=hush", "s3://b/p#hush",
     "gs://bucket/p", "https://hush/p", "file://host/p"],
)  # fmt: skip
def test_what_names_no_place_is_refused_without_being_repeated(url: str) -> None:
    with refused(LedgerError, "s3://BUCKET/PREFIX", code="EH-IMAGES-URL") as found:
        as_word(url, beside=None)
    assert "hush" not in str(found.value)


def test_a_place_has_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert as_word("s3://bucket//a/b/", beside=None) == "s3://bucket/a/b"
    assert as_word("s3://bucket", beside=None) == as_word("s3://bucket/", beside=None) == "s3://bucket"
    assert as_word("a b", beside=None) == f"file://{tmp_path}/a%20b" == as_word(f"file://{tmp_path}/a%20b", beside=None)
    assert as_word(".", beside=tmp_path) is None


def test_a_server_that_cannot_be_used_is_told_without_a_secret(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Ledger(f"sqlite:///ledger.db?images=s3://{BUCKET}/{tmp_path.name}")) as ledger:
        digest = ledger.images.put(PNG).digest
    with refused(PlaceError, "s3://no-such-bucket", "bucket") as found:
        Ledger("sqlite:///other.db?images=s3://no-such-bucket/p").images.put(PNG)
    assert SECRET not in str(found.value)
    assert found.value.lasting
    with s3_server() as gone:
        gone.end()
        monkeypatch.setenv("AWS_ENDPOINT_URL", gone.address.replace("127.0.0.1", "localhost"))
    with closing(Ledger(f"sqlite:///ledger.db?images=s3://{BUCKET}/{tmp_path.name}")) as ledger:
        assert ledger.images.get(digest) == PNG, "which this machine has"
        with refused(PlaceError, f"s3://{BUCKET}/{tmp_path.name}", "AWS_ENDPOINT_URL") as found:
            ledger.images.get("f" * 64)
    assert SECRET not in str(found.value)


@pytest.mark.parametrize(("status", "lasting"), [(403, True), (401, True), (418, False)])
def test_a_server_that_takes_no_key_is_told_from_one_that_fails(
    machine: Path, monkeypatch: pytest.MonkeyPatch, status: int, lasting: bool
) -> None:
    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(status)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    with hosting(server):
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        place = S3Place(f"s3://{BUCKET}/p", "images", nested=True)
        with refused(PlaceError, f"s3://{BUCKET}/p") as found:
            place.get("f" * 64)
    assert found.value.lasting == lasting


async def test_while_an_image_is_on_its_way_from_s3_other_calls_are_answered(
    machine: Path, s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = f"s3://{BUCKET}/{tmp_path.name}"
    with closing(Ledger(f"sqlite:///ledger.db?images={place}")) as ledger:
        digest = ledger.images.put(PNG).digest
    monkeypatch.setenv("EVENHAND_IMAGE_CACHE", str(machine / "another"))  # of a machine that has none yet
    with closing(Ledger(f"sqlite:///ledger.db?images={place}")) as ledger:
        async with asking(Script(), pictures=lambda picture: ledger.images.data_url(picture.digest)) as asked:
            os.kill(s3.process.pid, signal.SIGSTOP)
            try:
                waits = asyncio.create_task(asked.client.complete(asked.request(Picture(digest=digest), "What?")))
                for _ in range(3):
                    await asked.client.complete(asked.request("What?"))
                assert not waits.done()
            finally:
                os.kill(s3.process.pid, signal.SIGCONT)
            await waits
            assert b64encode(PNG) in asked.server.requests[-1].raw


@contextmanager
def falling_out(address: str, *, times: int) -> Generator[tuple[str, list[int]]]:
    """Before a server of S3: of what is asked for, the first so many files get no answer. With those that are left."""
    left = [*range(times)]

    class Between(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.command == "GET" and "list-type" not in self.path and left:
                left.pop()
                self.close_connection = True
                return
            try:
                signed = {
                    name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")
                }
                answer = urlopen(Request(f"{address}{self.path}", headers=signed, method=self.command), timeout=60)
            except HTTPError as error:
                answer = error
            with answer:
                body = answer.read()
                self.send_response(answer.status or 502)
                for name in ("Content-Type", "Last-Modified", "ETag"):
                    self.send_header(name, answer.headers.get(name, ""))
                self.send_header("Content-Length", answer.headers.get("Content-Length", str(len(body))))
                self.end_headers()
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815  the library's name

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Between)
    with hosting(server):
        yield f"http://127.0.0.1:{server.server_port}", left


@pytest.mark.slow
def test_an_outage_of_s3_ends_a_command_with_a_sentence_and_the_same_command_does_the_rest(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place, shell = f"s3://{BUCKET}/{tmp_path.name}", Shell(machine, monkeypatch, capsys)
    monkeypatch.setenv("EVENHAND_IMAGES", place)
    with serving() as web:
        data = ("--data", str(sheet(machine, f"{web.base}/red.png")))
        shell.run("benchmarks", "fetch", "visit-bench", *data, "--allow-private")
    shell.file("answers.jsonl", *(f'{{"item": "vqa-1", "model": "{m}", "response": "{m}"}}' for m in ("ada", "bel")))
    shell.run("import", "answers.jsonl", "--responses", "--benchmark", "visit-bench", *data)
    monkeypatch.setenv("EVENHAND_IMAGE_CACHE", str(machine / "another"))
    with served(Script()) as server, falling_out(os.environ["AWS_ENDPOINT_URL"], times=1000) as (address, left):
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        judge = ("judge", "visit-bench", *data, "--see", "images", "--judge", "vllm/judge", "--models", "ada")
        judge = (*judge, "--models", "bel", "--judge-base-url", server.base_url)
        shell.refuses("EH-IMAGES-UNREACHABLE", place, "AWS_ENDPOINT_URL", of=judge, expect=1)
        assert server.requests == []
        left.clear()
        assert shell.document(*judge)["verdicts"] == 2
        assert len(server.requests) == 2


@pytest.mark.parametrize("images", ["database", f"s3://{BUCKET}/second-machine"])
def test_a_second_machine_judges_with_images(
    images: str, on_server: str, machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the ledger's URL, the table of questions and an empty cache, and nothing else of the first."""
    judge = ("judge", "visit-bench", "--see", "images", "--judge", "vllm/judge", "--store", on_server, "--json")
    with serving() as web:
        data = sheet(machine, f"{web.base}/red.png").read_bytes()
        answers = machine / "answers.jsonl"
        answers.write_text("".join(f'{{"item": "vqa-1", "model": "{m}", "response": "{m}"}}\n' for m in ("ada", "bel")))
        known = ("--data", "sheet.csv", "--store", on_server)
        fetched = run("benchmarks", "fetch", "visit-bench", *known, "--images", images, "--allow-private")
        assert fetched.code == 0, fetched.err
        assert run("import", answers, "--responses", "--benchmark", "visit-bench", *known).code == 0
    enter(tmp_path / "second", monkeypatch)
    Path("sheet.csv").write_bytes(data)
    with served(Script()) as server:
        asked = ("--data", "sheet.csv", "--models", "ada", "--models", "bel", "--judge-base-url", server.base_url)
        judged = run(*judge, *asked)
        assert judged.code == 0, judged.err
        assert judged.document["verdicts"] == 2
        shown = [picture for seen in server.requests for picture in re.findall(rb"data:image/[^\"]+", seen.raw)]
    assert shown == [b"data:image/png;base64," + b64encode(RED)] * 2
    assert [path.read_bytes() for path in cached(tmp_path / "second")] == [RED]
    with closing(Ledger(on_server, create=False)) as ledger:
        ledger.places.images.remove(RED_DIGEST)
    enter(tmp_path / "third", monkeypatch)
    Path("sheet.csv").write_bytes(data)
    with served(Script()) as server:
        more = ("--judge-base-url", server.base_url, "--replicates", "2")
        lacking = run(*judge, "--data", "sheet.csv", "--models", "ada", "--models", "bel", *more)
    says(lacking.refused, "EH-IMAGES-NOT-FETCHED", f"{web.base}/red.png", "vqa-1")


def test_images_are_named_by_a_flag_a_variable_or_the_url(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(machine, monkeypatch, capsys)
    for number, (words, variable) in enumerate(
        [(("--store", "sqlite:///0.db", "--images", "there"), ""), (("--store", "sqlite:///1.db"), "there"),
         (("--store", "sqlite:///2.db?images=there"), "elsewhere")]
    ):  # fmt: skip
        monkeypatch.setenv("EVENHAND_IMAGES", variable)
        shell.run("people", "add", "Ann", *words)
        with closing(Ledger(f"sqlite:///{number}.db?images=there")) as ledger:
            assert ledger.places.word == f"file://{machine}/there"
    monkeypatch.delenv("EVENHAND_IMAGES")
    shell.file("evenhand.toml", 'images = "/tmp"')
    shell.refuses("EH-FOLDER-UNTRUSTED", "images", of=("runs",))


def filled(folder: Path, sizes: list[int], *, max_bytes: int) -> CacheFolder:
    cache = CacheFolder(folder, max_bytes=max_bytes)
    for number, size in enumerate(sizes):
        cache.put(digest_of(number, size), content(number, size))
    return cache


def content(number: int, size: int) -> bytes:
    return bytes([number % 256]) * size


def digest_of(number: int, size: int) -> str:
    return hashlib.sha256(content(number, size)).hexdigest()


@given(st.lists(st.integers(0, 60), max_size=30), st.integers(0, 120))
def test_a_cache_never_holds_more_than_its_bound(sizes: list[int], max_bytes: int) -> None:
    with TemporaryDirectory() as folder:
        cache = filled(Path(folder) / "cache", sizes, max_bytes=max_bytes)
        assert sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) <= max_bytes
        for number, size in enumerate(sizes):
            assert cache.get(digest_of(number, size)) in (None, content(number, size))


def test_the_least_recently_used_leaves_the_cache(tmp_path: Path) -> None:
    cache = filled(tmp_path / "cache", [30, 30, 30], max_bytes=100)
    for age, number in enumerate((1, 2, 0)):
        path = tmp_path / "cache" / digest_of(number, 30)[:2] / digest_of(number, 30)[2:]
        os.utime(path, (1000 + age, 1000 + age))
    assert cache.get(digest_of(1, 30)) is not None, "which makes it the last one used"
    cache.put(digest_of(3, 30), content(3, 30))
    assert [cache.get(digest_of(number, 30)) is not None for number in range(4)] == [True, True, False, True]


def test_a_cache_takes_away_no_file_of_others(tmp_path: Path) -> None:
    """Somebody may have named a folder that holds more than the cache."""
    theirs = [tmp_path / "letters" / "to-ann", tmp_path / "ab" / "notes", tmp_path / "list"]
    for path in theirs:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytes(100))
        os.utime(path, (1000, 1000))
    cache = filled(tmp_path, [30, 30, 30, 30], max_bytes=60)
    assert [path.stat().st_size for path in theirs] == [100, 100, 100]
    assert 1 <= sum(cache.get(digest_of(number, 30)) is not None for number in range(4)) <= 2


def test_a_cache_may_be_a_link_to_another_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "large disk").mkdir()
    (tmp_path / "home" / "link").symlink_to(tmp_path / "large disk")
    monkeypatch.setenv("EVENHAND_IMAGE_CACHE", str(tmp_path / "home" / "link"))
    CacheFolder(usual_folder()).put(digest_of(1, 30), content(1, 30))
    assert CacheFolder(tmp_path / "large disk").get(digest_of(1, 30)) == content(1, 30)


def test_a_cache_that_cannot_be_written_is_no_fault(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a file").write_bytes(b"")
    monkeypatch.setenv("EVENHAND_IMAGE_CACHE", str(tmp_path / "a file"))
    with closing(Ledger(url)) as ledger:
        assert ledger.images.get(ledger.images.put(PNG).digest) == PNG
