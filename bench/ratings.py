"""What ratings cost: this package and its peers in one run, CPU seconds on one BLAS thread.

    python -m bench.ratings [--rows 1000000] [--models 100] [--quick]
    python -m bench.ratings --sandwich

Every figure is a process of its own that makes the battles as strings in memory, runs the task once small (imports,
compilation) and then once in full. Resamples of slow peers are measured for a few rounds and multiplied.

arena-rank pins versions of numpy and jax that are not ours: it is measured where ARENA_RANK_PYTHON names the Python of
an environment with arena-rank and polars in it.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bench.figures import Figure, print_table

ROUNDS = 100
ARENA_PYTHON = os.environ.get("ARENA_RANK_PYTHON", "")
_ONE_THREAD = {name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS")}
_FEW_ROUNDS = {("fastchat-style", "elo-bootstrap"): 2, ("evalica", "elo-bootstrap"): 3, ("evalica", "bt-bootstrap"): 3}
TASKS = {
    "elo": "Elo, one pass",
    "elo-bootstrap": "Elo, 100 resamples of battles",
    "bt": "Bradley-Terry, unclustered sandwich",
    "bt-bootstrap": "Bradley-Terry, 100 resamples of battles",
    "bt-clustered": "Bradley-Terry, sandwich clustered by item",
    "bt-two-way": "Bradley-Terry, sandwich clustered by item and rater",
    "bt-items": "Bradley-Terry, 100 resamples of items",
}
PEERS = {
    "elo": ("fastchat-style", "evalica"),
    "elo-bootstrap": ("fastchat-style", "evalica"),
    "bt": ("fastchat-style", "evalica", "choix", "arena-rank"),
    "bt-bootstrap": ("fastchat-style", "evalica"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    cpu: float
    first: float
    """CPU seconds of the small run before it: imports and compilation."""
    peak_mb: float
    rounds: int


def measured(who: str, task: str, *, rows: int, models: int, rows_an_item: int = 10) -> Cost:
    rounds = _FEW_ROUNDS.get((who, task), ROUNDS)
    spoken = _child("--child", who, task, str(rows), str(models), str(rounds), str(rows_an_item))
    cost = Cost(**json.loads(spoken))
    return Cost(cpu=cost.cpu * ROUNDS / rounds, first=cost.first, peak_mb=cost.peak_mb, rounds=rounds)


def _child(*arguments: str) -> str:
    python = ARENA_PYTHON if "arena-rank" in arguments else sys.executable
    done = subprocess.run(
        [python, "-m", "bench.ratings", *arguments],
        env={**os.environ, **_ONE_THREAD}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def _speak(who: str, task: str, rows: int, models: int, rounds: int, rows_an_item: int) -> None:
    began = time.process_time()
    full = rows * (rounds if task == "elo-bootstrap" else 1)
    _task(who, task, min(rows, 1_000), min(models, 10), 2, full=full)()
    first = time.process_time() - began
    run = _task(who, task, rows, models, rounds, full=full, rows_an_item=rows_an_item)
    began = time.process_time()
    run()
    cpu = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"cpu": cpu, "first": first, "peak_mb": peak, "rounds": rounds}))


def _task(
    who: str, task: str, rows: int, models: int, rounds: int, *, full: int, rows_an_item: int = 10
) -> Callable[[], object]:
    """`full` is how many battles the full run plays: the small one starts a compiler where that one needs it."""
    from bench.ratings_data import battles, strings

    frame = battles(rows=rows, models=models, rows_an_item=rows_an_item)
    if who == "evenhand":
        return _ours(task, frame, rounds, full=full)
    from bench import ratings_peers

    maker = {
        "fastchat-style": ratings_peers.fastchat_style,
        "evalica": ratings_peers.evalica,
        "choix": ratings_peers.choix,
        "arena-rank": ratings_peers.arena_rank,
    }[who]
    return maker(task, strings(frame), rounds)


def _ours(task: str, frame: "object", rounds: int, *, full: int) -> Callable[[], object]:
    import polars as pl

    from evenhand.stats.ratings.bradley_terry.bootstrap import bradley_terry_bootstrap
    from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
    from evenhand.stats.ratings.codes import coded_items, winner_signs
    from evenhand.stats.ratings.comparisons import Comparisons
    from evenhand.stats.ratings.elo.ratings import COMPILED_FROM, elo, elo_bootstrap
    from evenhand.stats.ratings.resampling import Resampling

    always = 1 if full >= COMPILED_FROM else COMPILED_FROM

    assert isinstance(frame, pl.DataFrame)
    battles = Resampling(rounds=rounds, unit="battles")
    items = Resampling(rounds=rounds, unit="items")

    def crossed() -> Comparisons:
        seen = read(with_items=True)
        return replace(seen, crossed=coded_items(frame["rater"]))

    def read(*, with_items: bool = False) -> Comparisons:
        signs = winner_signs(frame["winner"])
        named = frame["item"] if with_items else None
        return Comparisons.of_columns(frame["model_a"], frame["model_b"], signs, item=named)

    return {
        "elo": lambda: elo(read(), compiled_from=always),
        "elo-bootstrap": lambda: elo_bootstrap(read(), battles, compiled_from=always),
        "bt": lambda: bradley_terry(read(), clustered=False),
        "bt-bootstrap": lambda: bradley_terry_bootstrap(read(), battles),
        "bt-clustered": lambda: bradley_terry(read(with_items=True)),
        "bt-two-way": lambda: bradley_terry(crossed()),
        "bt-items": lambda: bradley_terry_bootstrap(read(with_items=True), items),
    }[task]


def compare(rows: int, models: int) -> list[Figure]:
    print(f"{rows:,} battles of {models} models, from strings in memory; CPU seconds, one BLAS thread")
    figures: list[Figure] = []
    ours = {task: measured("evenhand", task, rows=rows, models=models) for task in TASKS}
    for task, what in TASKS.items():
        mine = ours[task]
        figures.append(Figure(what=what, value=mine.cpu, unit="s", note=f"before it {mine.first:.2g} s to start"))
        figures.append(Figure(what="  peak memory", value=mine.peak_mb, unit="MB", at_most=350))
        for peer in PEERS.get(task, ()):
            if peer == "arena-rank" and not ARENA_PYTHON:
                print("arena-rank is not measured: ARENA_RANK_PYTHON is not set")
                continue
            theirs = measured(peer, task, rows=rows, models=models)
            least = {"fastchat-style": 15, "evalica": 20 if task.endswith("bootstrap") else None}.get(peer)
            figures.append(_ratio(peer, theirs, mine, least))
    sandwich = ours["bt-clustered"].cpu / ours["bt"].cpu
    figures.append(Figure(what="clustered sandwich over unclustered", value=sandwich, unit="times", at_most=4))
    two_way = ours["bt-two-way"].cpu / ours["bt"].cpu
    figures.append(Figure(what="two-way sandwich over unclustered", value=two_way, unit="times", at_most=6))
    return figures


def _ratio(peer: str, theirs: Cost, mine: Cost, least: float | None) -> Figure:
    measured_in = "" if theirs.rounds == ROUNDS else f", from {theirs.rounds} rounds"
    return Figure(
        what=f"  our share of {peer}'s",
        value=mine.cpu / theirs.cpu,
        at_most=None if least is None else 1 / least,
        note=f"{peer} {theirs.cpu:.3g} s{measured_in}: {theirs.cpu / mine.cpu:.3g} times ours",
    )


def sandwiches(rows: int) -> list[Figure]:
    """What clusters cost over none; the median of three runs each."""
    figures: list[Figure] = []
    for models in (20, 100, 200):
        for rows_an_item in (10, 2):
            cpu = {
                task: statistics.median(
                    measured("evenhand", task, rows=rows, models=models, rows_an_item=rows_an_item).cpu
                    for _ in range(3)
                )
                for task in ("bt", "bt-clustered", "bt-two-way")
            }
            about = f"{models} models, {rows // rows_an_item:,} items"
            note = ", ".join(f"{task} {spent:.3g} s" for task, spent in cpu.items())
            for task, what, most in (("bt-clustered", "clustered", 4), ("bt-two-way", "two-way", 6)):
                ratio = cpu[task] / cpu["bt"]
                figures.append(Figure(what=f"{about}: {what}", value=ratio, unit="times", at_most=most, note=note))
    return figures


def growth(quick: bool) -> list[Figure]:
    sizes = [(rows, 100) for rows in (10_000, 100_000, 1_000_000, *(() if quick else (10_000_000,)))]
    sizes += [(1_000_000, models) for models in (10, 1000)]
    figures: list[Figure] = []
    for task in ("elo", "bt", "bt-clustered"):
        for rows, models in sizes:
            cost = measured("evenhand", task, rows=rows, models=models)
            what = f"{TASKS[task]}: N = {rows:.0e}, M = {models}"
            figures.append(Figure(what=what, value=cost.cpu, unit="s", note=f"peak {cost.peak_mb:.0f} MB"))
    return figures


def from_files(quick: bool) -> list[Figure]:
    rows = 1_000_000 if quick else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        parquet, csv = Path(folder) / "battles.parquet", Path(folder) / "battles.csv"
        _child("--write", str(parquet), str(rows))
        _child("--write", str(csv), "10000")
        figures: list[Figure] = []
        for items, told in (("", "each battle its own cluster"), ("item", "clustered by item")):
            spoken = json.loads(_child("--file", str(parquet), items))
            limit = None if items else 3.0
            what = f"Parquet of {rows:.0e} battles to Bradley-Terry with intervals, {told}"
            figures.append(Figure(what=what, value=spoken["cpu"], unit="s", at_most=limit))
            figures.append(Figure(what="  peak memory", value=spoken["peak_mb"], unit="MB", at_most=1500))
        small = json.loads(_child("--file", str(csv), "item"))
        what = "CSV of 1e4 battles to Bradley-Terry with intervals, interpreter and imports included"
        figures.append(Figure(what=what, value=small["cpu"], unit="s"))
        what = "`evenhand rank` of the same, to the printed table"
        figures.append(Figure(what=what, value=_printed(csv), unit="s", at_most=0.6))
    return figures


def _printed(path: Path) -> float:
    """CPU seconds of the whole command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", "from evenhand.cli.main import main; main()", "rank", str(path)]
    subprocess.run(command, env={**os.environ, **_ONE_THREAD}, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _speak_file(path: str, item: str) -> None:
    from evenhand.exchange.battles_file import read_battles
    from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry

    rated = bradley_terry(read_battles(path).comparisons, clustered=bool(item))
    assert rated.models[0].rating.lower is not None
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"cpu": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}))


def _write(path: str, rows: int) -> None:
    from bench.ratings_data import battles

    frame = battles(rows=rows, models=100)
    if path.endswith(".parquet"):
        frame.write_parquet(path)
    else:
        frame.write_csv(path)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--models", type=int, default=100)
    options.add_argument("--quick", action="store_true", help="nothing above a million battles")
    options.add_argument("--sandwich", action="store_true", help="only what clusters cost, by models and rows an item")
    for hidden, count in (("--child", 6), ("--write", 2), ("--file", 2)):
        options.add_argument(hidden, nargs=count, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.child:
        who, task, *counts = chosen.child
        _speak(who, task, *map(int, counts))
    elif chosen.write:
        _write(chosen.write[0], int(chosen.write[1]))
    elif chosen.file:
        _speak_file(*chosen.file)
    elif chosen.sandwich:
        print_table(sandwiches(chosen.rows))
    else:
        print_table(compare(chosen.rows, chosen.models))
        print_table([*growth(chosen.quick), *from_files(chosen.quick)])


if __name__ == "__main__":
    main()
