"""A dry run of more trials than are counted one by one: some are drawn, and stand for all."""

from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.domain.identity import bytes_hash
from evenhand.domain.item import Benchmark
from evenhand.engine.run.drawn import COUNTED_MOST, DRAWN, dry_run_of
from evenhand.engine.run.expected import lessons
from evenhand.engine.run.quote import DryRun
from evenhand.engine.tasks.judging import Matching, PreparedStudy
from evenhand.models.prices import Price
from tests.engine.studies import Bench, bench
from tests.images.pictures import encoded, photo

REPLICATES = 500
MODELS = ("ann", "ben", "c" * 3000)
"""The last one's answers are long."""
A_DOLLAR_A_TOKEN = Price(input=1e6, output=1e6)


def study(it: Bench, replicates: int) -> PreparedStudy:
    return it.study(items=8, models=MODELS, matching=Matching(replicates=replicates))


def counted(it: Bench, replicates: int) -> DryRun:
    return study(it, replicates).dry_run(it.ledger, it.quote(A_DOLLAR_A_TOKEN), second=None)


async def test_of_very_many_trials_some_are_drawn_and_the_whole_is_estimated_from_them(tmp_path: Path) -> None:
    async with bench(tmp_path) as it:
        one, all_of_them = counted(it, 1), counted(it, REPLICATES)
        assert one.drawn == 0
        assert one.as_json()["estimated_from"] is None
        assert (all_of_them.drawn, all_of_them.drawn_of) == (DRAWN, REPLICATES * one.trials)
        assert all_of_them.drawn_of > COUNTED_MOST
        assert all_of_them.trials == all_of_them.calls == REPLICATES * one.trials
        assert all_of_them.output_tokens == REPLICATES * one.output_tokens
        away = all_of_them.input_tokens - REPLICATES * one.input_tokens
        assert 0 < abs(away) < 4 * all_of_them.input_error
        assert 0.005 < all_of_them.error < 0.03, "two trials of three show a long answer"
        assert all_of_them.cost_usd == pytest.approx(all_of_them.input_tokens + all_of_them.output_tokens, rel=1e-6)
        assert counted(it, REPLICATES) == all_of_them, "the same plan is told the same way again"


async def test_the_endpoint_is_asked_whether_it_takes_pictures_where_one_item_in_thousands_has_one(
    tmp_path: Path,
) -> None:
    async with bench(tmp_path) as it:
        made = it.study(items=2, protocol="pairwise", matching=Matching(replicates=1))
        asking = made.asking
        first, picture = next(iter(made.trials())), encoded(photo(20, 20), "PNG")
        seen = replace(asking.items[first.item], label="seen", images=(bytes_hash(picture),))
        with_it = Benchmark(
            name="seen", items=(seen,), licence="CC0-1.0", citation="", protocols=(), pictures={seen.images[0]: picture}
        )
        it.ledger.register_benchmark(with_it)
        asking = replace(asking, items={**asking.items, seen.digest: seen})
        trials = [replace(first, replicate=number) for number in range(COUNTED_MOST + 1)]
        last = max((replace(first, item=seen.digest, replicate=n) for n in range(9)), key=lambda one: one.key)
        quoted = dry_run_of([*trials, last], asking=asking, ledger=it.ledger, quote=it.quote(None), second=None)
        assert quoted.drawn == DRAWN
        assert {pictures for _, _, pictures in quoted.kinds} == {True, False}


async def test_what_has_a_result_is_counted_one_by_one_and_not_drawn(tmp_path: Path) -> None:
    async with bench(tmp_path) as it:
        ended = await it.run(study(it, 1))
        assert ended.tally.verdicts == 48
        left = counted(it, REPLICATES)
        assert (left.trials, left.known) == (REPLICATES * 48, 48)
        assert left.calls == left.drawn_of == (REPLICATES - 1) * 48


async def test_the_range_of_the_likely_cost_holds_what_the_draw_leaves_open(tmp_path: Path) -> None:
    async with bench(tmp_path) as it:
        asking, quote = study(it, 1).asking, it.quote(A_DOLLAR_A_TOKEN)
        taught = lessons(it.ledger, quote, rater=asking.rater.key, condition=asking.condition)
        quoted = counted(it, REPLICATES)
        likely = taught.expected(quoted)
        assert likely is not None
        assert likely.lower is not None
        assert likely.cost_usd is not None
        assert quoted.input_cost_usd is not None
        assert likely.lower == pytest.approx(quoted.input_cost_usd - 2 * quoted.error * likely.cost_usd)
        assert f"{DRAWN:,} of {quoted.drawn_of:,} trials" in likely.basis
