"""What several processes have done together: at the end by the record, before that by what they say."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from evenhand.engine.run.crew import Standing
from evenhand.engine.run.tally import Tally


def counted_up(tally: Tally, helpers: Sequence[Tally], standing: Standing) -> Tally:
    """At the end. `tally`: of who leads, and has gone through all that was planned, if nothing stopped it.

    What has a result, and whose it is, is read off the record. The helpers only add what they spent, and what they read
    without a call, if the record does not tell.
    """
    told = _with_what_was_spent(tally, helpers)
    results = standing.results.total()
    reread = standing.reread
    if reread is None:
        reread = min(results, sum(one.reread for one in (tally, *helpers)))
    decided = standing.decided
    if decided is None:
        own = tally.called - tally.failed.total() + tally.reread
        decided = tally.done - tally.failed.total() + max(0, results - own - tally.by_crew)
    planned = max(tally.planned, results)
    decided = max(results, min(decided, planned))
    # What failed for who leads may have been asked by a helper since.
    failed = _at_most(tally.failed, planned - decided)
    known, called = decided - results + reread, results - reread + failed.total()
    meanwhile = min(tally.meanwhile, reread if standing.of_everyone else known - reread)
    return replace(
        told,
        planned=planned,
        known=known,
        reread=reread - meanwhile if standing.of_everyone else reread,
        meanwhile=meanwhile,
        by_crew=0,
        called=called,
        verdicts=standing.results[""],
        no_verdict=Counter({why: number for why, number in standing.results.items() if why}),
        failed=failed,
        elsewhere=0,
    )


def seen_so_far(tally: Tally, helpers: Sequence[Tally], *, others: int) -> Tally:
    """While it goes on: a hint, never above what is planned. What helpers say and what is on record of `others` may be
    ahead of what who leads has come to, or behind it."""
    done = sum(one.called - one.failed.total() + one.reread for one in helpers)
    called = min(tally.planned, tally.called + max(tally.by_crew, done))
    known = tally.known - tally.by_crew + max(0, others - tally.meanwhile)
    no_verdict = sum((one.no_verdict for one in helpers), start=tally.no_verdict)
    return replace(
        _with_what_was_spent(tally, helpers),
        called=called,
        known=max(0, min(known, tally.planned - called)),
        meanwhile=max(tally.meanwhile, others),
        no_verdict=no_verdict,
    )


def _with_what_was_spent(tally: Tally, helpers: Sequence[Tally]) -> Tally:
    """What a reply on record does not tell, such as tries in vain."""
    names = ("requests", "cost_usd", "cost_unknown", "tokens", "tiers", "adapted")
    sums = {name: sum((getattr(one, name) for one in helpers), start=getattr(tally, name)) for name in names}
    return replace(tally, **sums)


def _at_most(counts: Counter[str], most: int) -> Counter[str]:
    """Without the rarest of them, where they are more."""
    left, kept = max(0, most), Counter[str]()
    for why, number in counts.most_common():
        kept[why] = min(number, left)
        left -= kept[why]
    return +kept
