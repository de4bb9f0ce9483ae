"""Names of models that mean something of their own on record, so that nobody may call a model so."""

from evenhand.domain.response import is_reference
from evenhand.domain.submission import labelled


def reserved_for(model: str) -> str | None:
    """What the name stands for, whatever its capitals; None where a model may have it."""
    if is_reference(model):
        return "the benchmark's own references"
    return None if labelled(model.casefold()) is None else "what teams submit"
