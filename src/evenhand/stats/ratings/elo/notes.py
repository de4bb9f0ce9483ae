"""Sentences about what Elo cannot tell of its ratings."""

from collections.abc import Mapping, Sequence

from evenhand.format.words import listed

PROVISIONAL_MARK = "Provisional (*)"
ALIKE = "did alike on every item, so resamples do not show how far it may vary"
PROVISIONAL = "provisional: too few battles for Elo to forget its start"


def provisional_notes(of_model: Mapping[str, float], *, k: float, settled: float, start: float) -> tuple[str, ...]:
    """`of_model`: the battles of each model that has too few."""
    if not of_model:
        return ()
    names = listed([f"{model} ({battles:,.0f})" for model, battles in sorted(of_model.items(), key=lambda one: one[1])])
    whose, worth = ("Its", "it is") if len(of_model) == 1 else ("Their", "they are")
    return (
        f"{PROVISIONAL_MARK}: {names}, with fewer than the {settled:,.0f} battles in which Elo at K {k:g} forgets most "
        f"of its start. {whose} Elo stands between {start:g} and what {worth} worth; resamples begin at "
        f"{start:g} too, so an interval does not tell how far that is. Bradley-Terry has no start to forget.",
    )


def outside_notes(models: Sequence[str]) -> tuple[str, ...]:
    """`models`: those whose one pass lies outside the percentiles of its resamples."""
    if not models:
        return ()
    return (
        f"Elo depends on the order of the battles, and resamples have others: the one pass of {listed([*models])} lies "
        "outside its interval, which tells how resamples scatter.",
    )


def alike_notes(models: Sequence[str]) -> tuple[str, ...]:
    """`models`: those whose items are all alike, as where all were won."""
    if not models:
        return ()
    return (
        f"No interval for {listed([*models])}: where every item is alike, as where all are won, resamples are too, "
        "however few the items. The win rate's interval holds there.",
    )
