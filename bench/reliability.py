"""What the numbers about judges cost: CPU seconds of one process, inputs made in memory.

    python -m bench.reliability [--quick]

Every figure is the median of three rounds. The peers' figures are only told.
"""

import argparse
import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.figures import Figure, median_figure, print_table
from evenhand.audit.gate import parse_rules
from evenhand.audit.gate_plan import plan
from evenhand.stats.reliability.agreement.alignment import ComparedVerdicts, against_people, figures
from evenhand.stats.reliability.agreement.alpha import krippendorff_alpha
from evenhand.stats.reliability.agreement.kappa import cohens_kappa
from evenhand.stats.reliability.agreement.rater_matrix import Cases, RaterMatrix
from evenhand.stats.reliability.grade_score.option_rows import OptionRow
from evenhand.stats.reliability.grade_score.score import grade_score

ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes; targets are not for it")
    share = 10 if parser.parse_args().quick else 1
    print_table([*_grade_figures(20_000 // share), *_agreement_figures(1_000_000 // share), *_plan_figures()])


def _grade_figures(rows: int) -> list[Figure]:
    def made(count: int, unread: float) -> list[OptionRow]:
        rng = np.random.default_rng(0)
        place, lost = rng.integers(0, 6, (count, 6)).tolist(), (rng.random((count, 6)) < unread).tolist()
        return [
            OptionRow(
                item=str(number),
                selected_positions=tuple(None if gone else one for one, gone in zip(row, line, strict=True)),
            )
            for number, (row, line) in enumerate(zip(place, lost, strict=True))
        ]

    whole, some_unread, many_unread = (made(rows, unread) for unread in (0.0, 0.05, 0.5))
    what = f"Grade Score, {rows:,} rows x 6 trials"
    return [
        _timed(f"{what}, all read", lambda: grade_score(whole), at_most=1.0),
        _timed(f"{what}, 5 % unread", lambda: grade_score(some_unread), at_most=1.0),
        _timed(f"{what}, half unread", lambda: grade_score(many_unread), at_most=1.0),
        _timed(f"{what}, gradelab", lambda: grade_score(some_unread, policy="gradelab"), at_most=1.0),
        _timed("the same with its JSON rows", lambda: grade_score(some_unread).as_json()),
    ]


def _agreement_figures(judgements: int) -> list[Figure]:
    rng = np.random.default_rng(0)
    each = judgements // 5
    cases = Cases(item=np.arange(each) // 3, model=np.arange(each) % 3, models=("X", "Y", "Z"))
    truth = rng.integers(-2, 3, each)

    def raters(count: int) -> RaterMatrix:
        case, rater = (grid.ravel() for grid in np.meshgrid(np.arange(each), np.arange(count)))
        value = np.clip(truth[case] + rng.integers(-1, 2, len(case)), -2, 2).astype(np.float64)
        names = tuple(str(code) for code in range(count))
        return RaterMatrix(cases=cases, raters=names, case=case, rater=rater, value=value, levels=5)

    people, judge, two = raters(5), raters(1), raters(2)
    one, other = two.of_rater(0).value, two.of_rater(1).value
    many, again = np.tile(one, 5), np.tile(other, 5)
    item = np.tile(cases.item, 5)
    table = people.value.reshape(5, -1)

    def all_three() -> tuple[object, ...]:
        compared: ComparedVerdicts = against_people(people, judge)
        return (
            figures(compared).mae,
            cohens_kappa(many, again, item),
            cohens_kappa(many, again, item, weighting="quadratic"),
            krippendorff_alpha(people),
        )

    size = f"{judgements:,} judgements"
    return [
        _timed(f"MAE, Consistency, agreement, both kappas, {size}", lambda: figures(against_people(people, judge))),
        _timed(f"Cohen's kappa, {size}", lambda: cohens_kappa(many, again, item)),
        _timed(f"Krippendorff's alpha with interval, {size}", lambda: krippendorff_alpha(people)),
        _timed(f"all of these, {size}", all_three, at_most=3.0),
        _peer(f"scikit-learn's kappa, {size}", "sklearn.metrics", "cohen_kappa_score", many, again),
        _peer(f"the krippendorff package's alpha, no interval, {size}", "krippendorff", "alpha", table),
    ]


def _plan_figures() -> list[Figure]:
    rules = parse_rules("swap_consistency>=0.8, coverage>=0.95, first_position in 0.4..0.6")
    return [_timed("planning a gate of three rules", lambda: plan(rules))]


def _peer(what: str, module: str, function: str, *columns: Any) -> Figure:
    call = getattr(importlib.import_module(module), function)
    keywords = {"level_of_measurement": "ordinal"} if function == "alpha" else {}
    return _timed(what, lambda: call(*columns, **keywords))


def _timed(what: str, run: Callable[[], object], *, at_most: float | None = None) -> Figure:
    seconds: list[float] = []
    for _ in range(ROUNDS):
        began = time.process_time()
        run()
        seconds.append(time.process_time() - began)
    return median_figure(what, seconds, unit="s CPU", at_most=at_most)


if __name__ == "__main__":
    main()
