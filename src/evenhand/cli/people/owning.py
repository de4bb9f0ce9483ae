"""What the commands of a site's owner share: who says it, and how a page's refusal is a sentence here."""

from collections.abc import Generator
from contextlib import contextmanager

from evenhand.cli.environment import WrongUse

BY = "command line"
"""Who it was, on record, where no owner is signed in."""


@contextmanager
def refusing(*, lists: str | None = None, undecided: str = "") -> Generator[None]:
    """What the pages would refuse is refused here in the same words, with the same code. Raises WrongUse.

    `lists`: the command that tells what there is, where what was named is not found. `undecided`: what is typed where
    it is to be decided what becomes of a submission's battles against the reference.
    """
    from evenhand.site.http.refusal import Refusal

    try:
        yield
    except Refusal as refusal:
        more = f" `{lists}` lists what there is." if lists and refusal.code == "EH-NOT-FOUND" else ""
        if undecided and refusal.code in ("EH-STEERING-UNDECIDED", "EH-CHOSEN-UNDECIDED"):
            more = f" {undecided}"
        raise WrongUse(refusal.sentence + more, code=refusal.code) from None


def must_have_pages(command: str) -> None:
    """Raises WrongUse where the site's packages are not installed."""
    try:
        import starlette  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        words = f"`{command}` needs {error.name}; install it from the clone: pip install '.[serve]'."
        raise WrongUse(words) from error
