"""Claims about the sentences that tell of a submission: one of a thing is called one."""

import pytest

from evenhand.domain.submission import Estimated, Said, Uploaded
from evenhand.site.submissions.owner_words import in_words


def uploaded(answered: int, faults: int) -> Uploaded:
    return Uploaded(file="f" * 64, name="p.csv", size=9, answered=answered, faults=faults)


def estimated(battles: int, calls: int) -> Estimated:
    return Estimated(
        opponents=("reference",),
        battles=battles,
        reference_battles=1,
        seed=0,
        trials=calls,
        calls_at_least=calls,
        calls_at_most=calls,
        input_tokens=1,
        output_tokens=1,
        cost_usd=1.5,
    )


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (uploaded(1, 1), "uploaded p.csv: 1 answer, 1 fault"),
        (uploaded(0, 2), "uploaded p.csv: 0 answers, 2 faults"),
        (uploaded(1200, 0), "uploaded p.csv: 1,200 answers, 0 faults"),
        (estimated(1, 1), "estimated 1 battle, at most 1 call, at most $1.50"),
        (estimated(2, 4), "estimated 2 battles, at most 4 calls, at most $1.50"),
    ],
)
def test_one_of_a_thing_is_called_one(said: Said, words: str):
    assert in_words(said) == words
