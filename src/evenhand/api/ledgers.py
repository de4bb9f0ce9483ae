"""Which ledger is meant: the one given, else EVENHAND_STORE, else the folder's own."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

from evenhand.domain.errors import USAGE, Misuse

if TYPE_CHECKING:
    from evenhand.ledger.store.record import Ledger

USUAL_STORE = "sqlite:///.evenhand/ledger.db"
"""The folder's own."""

GivenLedger: TypeAlias = "Ledger | str | Path"
"""An open ledger, a database URL, or the path of a SQLite file."""


def ledger_at(given: "GivenLedger | None" = None, *, create: bool = True) -> "Ledger":
    """`create`: it is made where it is not there yet. Raises LedgerError, or Misuse where a link leads elsewhere."""
    from evenhand.ledger.store.record import Ledger

    if isinstance(given, Ledger):
        return given
    images = os.environ.get("EVENHAND_IMAGES")
    if given is not None:
        return Ledger(with_images(_url(given), images), create=create)
    named = os.environ.get("EVENHAND_STORE")
    if named:
        return Ledger(with_images(named, images), create=create)
    # A folder may have come from a stranger: only a ledger that the user named leads elsewhere.
    fault = store_fault(USUAL_STORE, Path.cwd())
    if fault is not None:
        raise Misuse(f"The ledger would be {USUAL_STORE}, {fault}. Give `ledger` with where it really lies.")
    return Ledger(with_images(USUAL_STORE, images), create=create)


def with_images(store: str, images: str | None) -> str:
    """A store's URL that says where its images lie, unless it does already."""
    if not images or "images=" in store:
        return store
    return f"{store}{'&' if '?' in store else '?'}images={quote(images, safe='/:')}"


def names_ledger(source: object) -> bool:
    """A path that ends in .db and a database URL do; other paths name files of battles."""
    return isinstance(source, str | Path) and ("://" in str(source) or str(source).endswith(".db"))


def _url(given: object) -> str:
    if not isinstance(given, str | Path):
        raise Misuse(f"`ledger` takes an open ledger, a path or a database URL; not {given!r}.", code=USAGE)
    return given if isinstance(given, str) and "://" in given else f"sqlite:///{given}"


def inside(path: str, folder: Path) -> bool:
    """Whether the file it names, links followed, lies in the folder."""
    try:
        return not path.startswith("~") and (folder / path).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):
        return False


def store_fault(url: str, folder: Path) -> str | None:
    """Why a ledger is not one in this folder: the end of a sentence."""
    # Neither ? nor %: what a driver makes of them is not what the path looks like.
    found = re.fullmatch(r"sqlite:///([^?%#]+)", url)
    if found is None:
        return "which is no SQLite file in this folder"
    if not inside(found[1], folder):
        return "which lies outside this folder"
    beside = (folder / found[1]).parent
    for one in beside.iterdir() if beside.is_dir() else ():
        # Of these two the ledger itself says that it is not opened, whoever named it.
        if one.is_symlink() and one.name not in ("images", "submitted") and not inside(str(one), folder):
            return f"beside which the link {one.name} leads out of this folder"
    return None
