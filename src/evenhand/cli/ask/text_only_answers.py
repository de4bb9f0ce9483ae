"""Which descriptions stand for the images where a model answers without them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from evenhand.benchmarks.data_error import listed
from evenhand.cli.environment import WrongUse
from evenhand.cli.notes import say_notes
from evenhand.domain.item import Item
from evenhand.domain.response import Response
from evenhand.engine.tasks.text_only import Mode, TextOnly, describer_in, description_variant
from evenhand.format.near_names import hint
from evenhand.ledger.store.record import Ledger


def text_only_of(flags: Mapping[str, Any], ledger: Ledger, items: Sequence[Item]) -> TextOnly | None:
    """None where the images are sent. Raises WrongUse where no descriptions, or several describers', are on record."""
    mode = _mode(flags["variant"])
    if mode is None:
        if flags["descriptions_by"]:
            raise WrongUse("--descriptions-by says whose descriptions stand for the images: give --variant text-only.")
        return None
    held = ledger.responses_to((item.digest for item in items), variant=description_variant(mode))
    describer = _describer(flags, {one.model for one in held}, mode)
    texts = {one.item: one.text for one in held if one.model == describer}
    lacking = [item.label for item in items if item.digest not in texts]
    notes = [f"`text-only` is `text-only-{mode}`: judge its answers with --variant text-only-{mode}."]
    say_notes(notes if flags["variant"] == "text-only" else [])
    if lacking:
        say_notes(
            [f"Without a description by {describer}, and so not asked: {len(lacking)} items ({listed(lacking)})."]
        )
    return TextOnly(mode=mode, describer=describer, descriptions=texts)


def refuse_other_describers(text_only: TextOnly, answers: Iterable[Response]) -> None:
    """Raises WrongUse where answers on record were given to somebody else's descriptions: they are not mixed."""
    for answer in answers:
        other = describer_in(answer.flags)
        if other is not None and other != text_only.describer:
            raise WrongUse(
                f"The {text_only.variant} answers of '{answer.model}' on record were given to descriptions by {other}; "
                f"give another --name for those to descriptions by {text_only.describer}, or --replace."
            )


def _mode(variant: str | None) -> Mode | None:
    if variant in (None, "default"):
        return None
    return "generic" if variant == "text-only" else cast(Mode, variant.removeprefix("text-only-"))


def _describer(flags: Mapping[str, Any], there: set[str], mode: Mode) -> str:
    given = flags["descriptions_by"]
    if not there:
        raise WrongUse(
            f"The ledger holds no {mode} descriptions of these items' images; make them first: "
            f"`evenhand describe-images {flags['benchmark']} --mode {mode} --model {given or 'MODEL'}`."
        )
    if given is not None and given not in there:
        raise WrongUse(f"The ledger holds no {mode} descriptions by '{given}'; {hint(given, there)}")
    if given is None and len(there) > 1:
        raise WrongUse(
            f"Several models described the images; choose one with --descriptions-by: {listed(sorted(there))}."
        )
    return given or there.pop()
