"""Claims about opinions and about the two orders of a judge."""

import numpy as np
import pytest

from evenhand.stats.reliability.agreement.rater_matrix import Cases, OrderedRaterMatrix, RaterMatrix, both_orders
from tests.refusals import refused
from tests.stats.reliability.said import cases_of, opinions


def showings(rows: list[tuple[int, int, float, bool]], *, cases: int, raters: int) -> OrderedRaterMatrix:
    return OrderedRaterMatrix(
        cases=cases_of(cases),
        raters=tuple(f"judge {code}" for code in range(raters)),
        case=np.array([row[0] for row in rows], dtype=np.int64),
        rater=np.array([row[1] for row in rows], dtype=np.int64),
        value=np.array([row[2] for row in rows], dtype=np.float64),
        reversed=np.array([row[3] for row in rows], dtype=np.bool_),
        levels=5,
    )


def test_dual_is_the_mean_of_both_orders_and_both_readings_leave_out_the_same_cases():
    joined = both_orders(
        showings(
            [
                (0, 0, 2, False),
                (0, 0, 1, True),
                (1, 0, -1, False),
                (2, 0, 1, True),
                (1, 1, 0, True),
                (1, 1, -2, False),
            ],
            cases=3,
            raters=2,
        )
    )
    assert joined.dual.case.tolist() == [0, 1]
    assert joined.dual.rater.tolist() == [0, 1]
    assert joined.dual.value.tolist() == [1.5, -1]
    assert joined.published.value.tolist() == [2, -2]
    assert joined.published.case.tolist() == joined.dual.case.tolist()
    assert joined.one_order_only == {"judge 0": 2, "judge 1": 0}


def test_repeated_showings_of_one_order_count_once():
    joined = both_orders(
        showings([(0, 0, 2, False), (0, 0, 1, False), (0, 0, 2, False), (0, 0, -1, True)], cases=1, raters=1)
    )
    assert joined.published.value.tolist() == pytest.approx([5 / 3])
    assert joined.dual.value.tolist() == pytest.approx([(5 / 3 - 1) / 2])


def test_no_showing_gives_no_opinion():
    joined = both_orders(showings([], cases=2, raters=1))
    assert (len(joined.dual), joined.one_order_only) == (0, {"judge 0": 0})


def test_a_rater_judges_a_case_once():
    with refused(ValueError, "judge 1", "case 2", "twice"):
        RaterMatrix(
            cases=cases_of(3),
            raters=("judge 0", "judge 1"),
            case=np.array([2, 0, 2]),
            rater=np.array([1, 1, 1]),
            value=np.zeros(3),
            levels=5,
        )


def test_a_verdict_outside_its_levels_is_refused():
    with refused(ValueError, "3 levels", "within 1"):
        opinions([[2.0]], levels=3)
    with refused(ValueError, "within 2"):
        opinions([[float("nan")]])


def test_codes_name_what_is_there():
    def one_row(case: int, rater: int) -> RaterMatrix:
        return RaterMatrix(
            cases=cases_of(1),
            raters=("a",),
            case=np.array([case]),
            rater=np.array([rater]),
            value=np.zeros(1),
            levels=5,
        )

    with refused(ValueError, "1 cases"):
        one_row(1, 0)
    with refused(ValueError, "1 raters"):
        one_row(0, -1)
    with refused(ValueError, "1 models"):
        Cases(item=np.array([0]), model=np.array([1]), models=("m",))
    with refused(ValueError, "(2,)", "(1,)"):
        Cases(item=np.array([0, 1]), model=np.array([0]), models=("m",))
    with pytest.raises(ValueError, match="one length"):
        RaterMatrix(
            cases=cases_of(1), raters=("a",), case=np.zeros(1, dtype=np.int64), rater=np.zeros(1, dtype=np.int64),
            value=np.zeros(2), levels=5,
        )  # fmt: skip
