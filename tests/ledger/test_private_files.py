"""Claims about whom the ledger's files are for: their owner alone, whatever the umask."""

import os
import stat
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from evenhand.files import private_files
from evenhand.images import ImageError, ImageStore
from evenhand.images.addresses import FetchedAddress
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.submitted_files import SubmittedFiles
from tests.database import url_in
from tests.images.pictures import encoded, photo
from tests.ledger import scene
from tests.refusals import refused
from tests.warm import Code

pytestmark = pytest.mark.sqlite("of the rights of files")

FILLS = """
import os, sys
from pathlib import Path
os.umask(int(sys.argv[2], 8))
from evenhand.images.addresses import FetchedAddress
from evenhand.ledger.upkeep import check as upkeep
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.upkeep.restoring import restore
from tests.images.test_metadata import phone_jpeg
from tests.ledger import scene
top = Path(sys.argv[1])
ledger = Ledger(f"sqlite:///{top}/deep/er/ledger.db")
scene.set_up(ledger)
image = ledger.images.put_without_metadata(phone_jpeg())
ledger.images.addresses.add(FetchedAddress(url="https://e.org/a", digest=image.digest, at=0.0))
ledger.submitted.add(b"item,response\\n")
upkeep.backup(ledger, top / "safe" / "today")
restore(top / "safe" / "today", f"sqlite:///{top}/again/ledger.db", force=False)
for path in sorted(top.rglob("*")):
    print(oct(path.stat().st_mode & 0o777), path.relative_to(top), sep="\\t")
ledger.close()
"""


@pytest.mark.parametrize(
    "umask", ["000", pytest.param("022", marks=pytest.mark.slow), pytest.param("077", marks=pytest.mark.slow), "277"]
)
def test_what_is_kept_is_the_owners_alone_whatever_the_umask(tmp_path: Path, umask: str):
    told, complained = Code(FILLS, str(tmp_path), umask).communicate()
    assert complained == ""
    found = {name: mode for mode, name in (line.split("\t") for line in told.splitlines())}
    kept = {"ledger.db", "ledger.db-wal", "ledger.db-shm", "images", "images/addresses.jsonl", "images/originals.jsonl"}
    assert {f"deep/er/{name}" for name in kept} <= set(found)
    for copy in ("safe/today", "again"):
        names = ("ledger.db", "images", "images/addresses.jsonl", "images/originals.jsonl", "submitted")
        assert {copy, *(f"{copy}/{name}" for name in names)} <= set(found)
    assert not any(".evenhand-" in name or name.endswith(".unfinished") for name in found)
    modes = {name: ("0o700" if (tmp_path / name).is_dir() else "0o600") for name in found}
    assert found == modes


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_ledger_that_others_could_read_is_theirs_no_more_once_it_is_opened(tmp_path: Path):
    ledger = Ledger(url_in(tmp_path))
    scene.set_up(ledger)
    ledger.images.put(encoded(photo(), "PNG"))
    ledger.submitted.add(b"item,response\n")
    shared = {"ledger.db": 0o664, "ledger.db-wal": 0o644, "ledger.db-shm": 0o644, "images": 0o755, "submitted": 0o775}
    for name, rights in shared.items():
        (tmp_path / name).chmod(rights)
    Ledger(url_in(tmp_path), create=False).close()
    assert {name: mode(tmp_path / name) for name in shared} == {
        "ledger.db": 0o600, "ledger.db-wal": 0o600, "ledger.db-shm": 0o600, "images": 0o700, "submitted": 0o700,
    }  # fmt: skip
    ledger.close()


def digest_of(data: bytes) -> str:
    return sha256(data).hexdigest()


def everything(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): mode(path) for path in [folder, *folder.rglob("*")]}


def a_link(tmp_path: Path, name: str) -> Path:
    """From beside a ledger to a folder that holds something of somebody else's."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(0o755)
    elsewhere.chmod(0o755)
    (elsewhere / digest_of(b"a,b\n")).write_bytes(b"theirs")
    (tmp_path / "mine" / name).parent.mkdir(parents=True)
    (tmp_path / "mine" / name).symlink_to(elsewhere)
    return elsewhere


@pytest.mark.parametrize("link", ["images", "submitted"])
def test_a_folder_beside_the_ledger_that_is_a_link_to_elsewhere_is_neither_read_nor_written(tmp_path: Path, link: str):
    elsewhere = a_link(tmp_path, link)
    before = everything(elsewhere)
    for create in (True, False):
        with refused(LedgerError, "--store", code="EH-LINK"):
            Ledger(url_in(tmp_path / "mine"), create=create)
    assert everything(elsewhere) == before
    assert not (tmp_path / "mine" / "ledger.db").exists()


def test_links_in_a_circle_are_refused_with_a_sentence(tmp_path: Path):
    (tmp_path / "images").symlink_to(tmp_path / "way")
    (tmp_path / "way").symlink_to(tmp_path / "images")
    with closing(Ledger(url_in(tmp_path))) as ledger, pytest.raises(OSError, match="symbolic links"):
        ledger.images.put(encoded(photo(), "PNG"))


def test_a_link_among_the_images_leads_nothing_out_of_the_folder_and_nothing_in(tmp_path: Path):
    picture = encoded(photo(), "PNG")
    name = digest_of(picture)
    elsewhere = a_link(tmp_path, f"images/{name[:2]}")
    (elsewhere / name[2:]).write_bytes(picture)
    before = everything(elsewhere)
    with closing(Ledger(url_in(tmp_path / "mine"))) as ledger:
        with refused(private_files.WayOut):
            ledger.images.put(picture)
        with refused(ImageError, code="EH-LINK"):
            ledger.images.get(name)
        assert any("A link leads to it" in problem.reason for problem in ledger.images.check())
    assert everything(elsewhere) == before


def test_a_ledger_that_lies_behind_a_link_is_the_owners_alone_with_what_is_beside_it(tmp_path: Path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "way").symlink_to(tmp_path / "disk")
    with closing(Ledger(url_in(tmp_path / "way"))) as ledger:
        ledger.images.put(encoded(photo(), "PNG"))
        (tmp_path / "disk" / "ledger.db").chmod(0o644)
        Ledger(url_in(tmp_path / "way")).close()
    assert mode(tmp_path / "disk" / "ledger.db") == 0o600
    assert mode(tmp_path / "disk" / "images") == 0o700


def test_rights_are_never_given(tmp_path: Path):
    path = tmp_path / "file"
    path.touch()
    for before, after in ((0o400, 0o400), (0o440, 0o400), (0o777, 0o700), (0o600, 0o600)):
        path.chmod(before)
        private_files.tighten(path)
        assert mode(path) == after
    private_files.tighten(tmp_path / "none")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file another's")
def test_what_is_anothers_stays_as_it_is(tmp_path: Path):
    path = tmp_path / "file"
    path.touch()
    path.chmod(0o664)
    os.chown(path, 65534, 65534)
    private_files.tighten(path)
    assert mode(path) == 0o664


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path):
    tmp_path.chmod(0o755)
    private_files.make_folder(tmp_path / "a" / "b")
    assert [mode(path) for path in (tmp_path, tmp_path / "a", tmp_path / "a" / "b")] == [0o755, 0o700, 0o700]
    with pytest.raises(FileExistsError):
        private_files.make_empty(tmp_path / "a")
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        private_files.make_folder(tmp_path / "file")


def test_a_copy_that_is_cut_off_leaves_what_was_there(tmp_path: Path):
    (tmp_path / "there").write_bytes(b"whole")
    with pytest.raises(FileNotFoundError):
        private_files.copy(tmp_path / "gone", tmp_path / "there", within=tmp_path)
    with pytest.raises(IsADirectoryError):
        private_files.copy(tmp_path, tmp_path / "there", within=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert (tmp_path / "there").read_bytes() == b"whole"


def test_lines_of_several_writers_stay_whole(tmp_path: Path):
    store, files = ImageStore(tmp_path / "images"), SubmittedFiles(tmp_path / "submitted")
    for number in range(3):
        store.addresses.add(FetchedAddress(url=f"https://e.org/{number}", digest="d" * 64, at=0.0))
        files.add(b"%d" % number)
    assert len(store.addresses.digests()) == 3
    assert {mode(path) for path in files.root.iterdir()} == {0o600}
