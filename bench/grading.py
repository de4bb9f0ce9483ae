"""What the Grade Score of a large study costs once it is judged: read from the ledger, put in rows, scored.

    python -m bench.grading [--rows 20000]

Rows of six options whose every rotation was read. The ledger is written by the generator; CPU seconds of one process,
the median of three rounds.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from bench.figures import Figure, median_figure, print_table
from evenhand.benchmarks.options.option_set import OptionSet
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.trial import Trial
from evenhand.domain.verdict import Choice
from evenhand.engine.tasks.grading import Grading, PreparedGrade, prepare_grade
from evenhand.engine.tasks.judging import Showing
from evenhand.ledger.read.choices import choices, keep_options
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.protocols.catalog import load_protocol
from evenhand.stats.reliability.grade_score.score import grade_score

OPTIONS, ROUNDS = 6, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    print_table(figures(parser.parse_args().rows))


def figures(rows: int) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as folder:
        ledger = Ledger(f"sqlite:///{Path(folder)}/ledger.db")
        prepared = judged(ledger, rows)
        parts = [_timed(ledger, prepared) for _ in range(ROUNDS)]
        ledger.close()
    reading, scoring = ([part[place] for part in parts] for place in (0, 1))
    what = f"{rows:,} rows x {OPTIONS} trials from the ledger"
    return [
        median_figure(f"{what}: read into rows", reading, unit="s CPU"),
        median_figure(f"{what}: scored", scoring, unit="s CPU"),
        median_figure(f"{what}: Grade Score in all", [sum(part) for part in parts], unit="s CPU", at_most=1.0),
    ]


def judged(ledger: Ledger, rows: int) -> PreparedGrade:
    """A study with every trial judged, as a run leaves the ledger."""
    benchmark, sets = generated(rows)
    protocol = load_protocol("option_selection")
    prepared = prepare_grade(
        benchmark,
        sets,
        pool=sets,
        judge=Rater(kind="model", name="bench/judge", settings=protocol.settings),
        model="judge",
        showing=Showing(protocol=protocol),
        grading=Grading(),
    )
    asking, draw = prepared.asking, random.Random(0)
    ledger.register_benchmark(benchmark)
    keep_options(ledger, [option for one in sets for option in one.options])
    ledger.register_study(prepared.study, rater=asking.rater, condition=asking.condition, wanted=prepared.wanted)
    trials = prepared.trials()
    while some := list(islice(trials, 5000)):
        ledger.commit(Entries(study=prepared.study.key, trials=some, judgements=_verdicts(some, prepared, draw)))
    return prepared


def _verdicts(trials: Iterable[Trial], prepared: PreparedGrade, draw: random.Random) -> list[Judgement]:
    reader = prepared.asking.protocol.reader
    return [
        Judgement(
            trial=trial.key, verdict=Choice(value=draw.randrange(OPTIONS)), reader=reader, calls=(), run="bench", at=0.0
        )
        for trial in trials
    ]


def generated(rows: int) -> tuple[Benchmark, list[OptionSet]]:
    items = [Item(label=str(number), instruction=f"What is {number} and a half?") for number in range(rows)]
    sets = [
        OptionSet(
            item=item,
            options=tuple(
                Response(item=item.digest, model=f"output {one}", text=f"It is {one} more.") for one in range(OPTIONS)
            ),
        )
        for item in items
    ]
    return Benchmark(name="generated", items=tuple(items), licence="CC0", citation="none", protocols=()), sets


def _timed(ledger: Ledger, prepared: PreparedGrade) -> tuple[float, float]:
    begun = time.process_time()
    rows = prepared.option_rows(choices(ledger, prepared.study.key))
    read = time.process_time()
    score = grade_score(rows)
    assert score.trials_read == prepared.wanted
    return read - begun, time.process_time() - read


if __name__ == "__main__":
    main()
