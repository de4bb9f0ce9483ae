"""Figures that are worked out elsewhere and kept while the record stands as it did; with what of them was released."""

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar, cast

from anyio import CapacityLimiter, to_thread

from evenhand.ledger.read.newest import JudgedLast, Newest, StillChanging, committed, newest
from evenhand.ledger.read.public_benchmarks import opened_benchmarks
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.withheld.released import Released, released_now
from evenhand.site.boards.listing import BoardOnRecord
from evenhand.site.boards.standings import release_of
from evenhand.site.http.computed import Computed, StillWorking
from evenhand.site.http.figures_process import Figures

_AT_ONCE = 2
"""Looks."""
_LASTS = 1.0
"""Seconds: whoever waited longer looks again."""

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class _Look:
    """What one request found of the record, so that all parts of its page are of one state."""

    moment: float
    """Seconds it may still wait for newer values where there are earlier ones."""
    at: float = 0.0
    newest: Newest | None = None
    committed: Hashable = ()
    """With which transactions."""
    opened: frozenset[str] = frozenset()
    relied_on: frozenset[str] = frozenset()
    """All benchmarks that it found open, by which something of its page may be shown whole."""
    values: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    """By key, with what may be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFigures:
    ledger: Ledger
    computed: Computed
    figures: Figures
    """Where they are worked out."""
    judged: JudgedLast
    moment: float
    """Seconds to wait for a new value where there is an earlier one."""
    shown_once: set[str] = field(default_factory=set[str])
    """Studies for people that everybody could see at some time since the start."""
    releases: "dict[Hashable, tuple[Hashable, Released]]" = field(
        default_factory=dict[Hashable, tuple[Hashable, Released]]
    )
    """By board, what was released as the record stood last."""
    looking: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(_AT_ONCE))
    look: _Look | None = None
    """Of the request that asks; None where none does."""

    def for_one_request(self) -> "KeptFigures":
        return replace(self, look=_Look(moment=self.moment))

    async def looked(self, look: Callable[[], T]) -> T:
        """A short look into the record for a board: it does not queue behind those who wait to write."""
        return await to_thread.run_sync(look, limiter=self.looking)

    async def kept(
        self,
        key: Hashable,
        work: Callable[[Ledger], T],
        patience: float,
        *,
        what: str = "This board",
        of: Sequence[BoardOnRecord] | None = None,
        withheld: bool = False,
    ) -> T:
        """What is worked out from the record as it stands, or was lately: once for all who ask meanwhile.

        `work` can be sent to another process: a function of a module with its arguments. `what` it is, for whoever
        waits for it. `of`: the boards whose verdicts alone it rests on. `withheld`: something of the first of them is,
        and `work` takes what is `given`, which is worked out with the figures, so that none are made of an older
        release. Raises StillWorking, and whatever `work` raises. What was made before somebody left the board, or
        before the owner hid a study, is never shown again, however long the next takes; nor is anything where a
        benchmark was closed meanwhile, for it may tell what was judged since.
        """
        look = await self._look()
        shown, state = self._state(look, of)
        if (key, shown) in look.values:
            return look.values[key, shown]
        releasing = of[0] if of and withheld else None

        def make() -> T:
            if releasing is None:
                return self.figures(work)
            return self.figures(partial(cast("Callable[..., T]", work), given=self.released(releasing)))

        begun = time.monotonic()
        try:
            made = await self.computed.get((key, shown), make, state=state, patience=patience, moment=look.moment)
        except (StillWorking, StillChanging) as error:  # either comes by itself
            raise StillWorking(what) from error
        if look.relied_on and look.relied_on - await self.looked(partial(opened_benchmarks, self.ledger)):
            raise StillWorking(what)
        look.moment = max(0.0, look.moment - (time.monotonic() - begun))
        look.values[key, shown] = made
        return made

    async def opened(self) -> frozenset[str]:
        """The benchmarks of which nothing is withheld."""
        return (await self._look()).opened

    async def _look(self) -> _Look:
        """Of this request, or a new one."""
        look = self.look or _Look(moment=self.moment)
        if look.newest is None or time.monotonic() > look.at + _LASTS:
            look.newest, look.committed, look.opened = await self.looked(self._looked)
            look.relied_on |= look.opened
            look.at = time.monotonic()
        return look

    def _looked(self) -> tuple[Newest, Hashable, frozenset[str]]:
        before = committed(self.ledger)  # what comes between is found by the next look
        now = newest(self.ledger)
        self.judged.up_to(now, before)
        return now, before, frozenset(opened_benchmarks(self.ledger))

    def _state(self, look: _Look, of: Sequence[BoardOnRecord] | None) -> tuple[Hashable, Hashable]:
        """What may not be shown any more, and how far the record has got."""
        now = look.newest
        assert now is not None
        open_now = {one.study for one in now.people if one.seen and one.counts}
        self.shown_once.update(open_now)
        shown = now.left, frozenset(self.shown_once - open_now)
        if of is None:
            return shown, (now, look.committed)
        studies = [study for board in of for study in board.studies]
        judged = self.judged.of((one.rater.key, one.condition.key) for one in studies)
        # What is withheld of items that several benchmarks hold hangs on which are opened.
        answers, reached = (now.answer, now.choices), tuple((one.key, one.reached) for one in studies)
        return shown, (judged, answers, now.events, reached, look.opened)

    def released(self, on_record: BoardOnRecord) -> Released:
        """What everybody may count of a board of which something is withheld; takes as long as its figures."""
        # With its studies: who asks may still hold the board as it was a moment ago, and this is kept for the next.
        studies = tuple((one.key, one.reached) for one in on_record.studies)
        state = (committed(self.ledger), newest(self.ledger), frozenset(opened_benchmarks(self.ledger)), studies)
        key = (on_record.id, on_record.part)
        known = self.releases.get(key)
        if known is None or known[0] != state:
            # Worked out there and written down here, as that process only reads.
            look = partial(self.figures, partial(release_of, on_record=on_record))
            known = self.releases[key] = (state, released_now(self.ledger, look))
        return known[1]
