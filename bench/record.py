"""What the record's chain and a budget on disk cost a judgement, and what `evenhand ledger check` costs.

    python -m bench.record [--rounds 7] [--checked 50000]

A study is judged as in bench.judging, with a price and a budget. The functions that hash and link rows, and those that
set dollars aside and settle them, are timed by the CPU of the thread that runs them. The check runs in a process of its
own, over a ledger that holds a call with its whole request and reply for every judgement.
"""

import argparse
import asyncio
import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Any

from bench.figures import Figure, median_figure, print_table
from bench.generated import Generated, endpoint_at, generated
from bench.judging import IN_FLIGHT, MODELS
from evenhand.domain.call import Reply, Usage
from evenhand.domain.judgement import Judgement
from evenhand.domain.verdict import Preference
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext, Pacing
from evenhand.engine.run.quote import Quote
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.session import run_study
from evenhand.ledger.store import budgets, links
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.upkeep import chain
from evenhand.ledger.upkeep import check as upkeep
from evenhand.models.prices import PriceList, parse_price
from evenhand.models.wire.openai import OpenAIWire
from tests.scripted_server import server_process

_REPLY = "The first answer names the boat and the bridge; the second misses both and adds a dog.\nVerdict: A"
_COMMITTED = 50
_TIMED = (
    ("chain", links, "cover"),
    ("chain", links.WriterTurn, "link"),
    ("budget", budgets.BudgetAccount, "bind"),
    ("budget", budgets.BudgetAccount, "unbind"),
    ("budget", budgets.BudgetAccountOnDisk, "take"),
    ("budget", budgets.BudgetAccountOnDisk, "settle"),
    ("budget", budgets.BudgetAccountOnDisk, "settled"),
)

_spent: defaultdict[str, float] = defaultdict(float)
"""Seconds of CPU."""


def _timed(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def run(*args: Any, **named: Any) -> Any:
        begun = time.thread_time()
        try:
            return function(*args, **named)
        finally:
            _spent[part] += time.thread_time() - begun

    return run


def judged(study: Generated, base_url: str, folder: Path) -> dict[str, float]:
    """Of one run, for each judgement: ms of CPU by part and in all, and bytes of the chain."""
    endpoint = endpoint_at(base_url)
    path = folder / "ledger.db"
    with closing(Ledger(f"sqlite:///{path}")) as ledger:
        ledger.register_benchmark(study.benchmark)
        ledger.add_responses(study.responses)
        prepared = study.prepared(ledger, endpoint=endpoint)
        before = _bytes_of_links(path)
        _spent.clear()
        begun = time.process_time()
        context = CallContext(
            client=OpenAIWire(endpoint, environment={}),
            pricing=Quote(endpoint, PriceList([parse_price("input=1,output=2")]), ledger.images.get),
            budget=Budget(1e6),
            pacing=Pacing(max_connections=IN_FLIGHT),
        )
        ended = asyncio.run(run_study(prepared, ledger=ledger, context=context, stop=StopSign()))
        in_all = time.process_time() - begun
    if ended.error or ended.tally.verdicts != prepared.wanted:
        raise SystemExit(f"The run did not do what is measured: {ended}")
    found = {part: seconds / prepared.wanted * 1e3 for part, seconds in _spent.items()}
    grown = _bytes_of_links(path) - before
    return found | {"all": in_all / prepared.wanted * 1e3, "bytes": grown / prepared.wanted}


def _bytes_of_links(path: Path) -> int:
    """As stored, without SQLite's own pages."""
    columns = "+".join(f"length({column.name})" for column in links.schema.links.columns)
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT coalesce(sum({columns}), 0) FROM links").fetchone()[0]


def cost_figures(rounds: int) -> list[Figure]:
    for part, holder, name in _TIMED:
        setattr(holder, name, _timed(part, getattr(holder, name)))
    study = generated(items=250, models=MODELS)
    found: list[dict[str, float]] = []
    with server_process() as base_url:
        for _ in range(rounds + 1):  # the first is for imports and caches
            with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as folder:
                found.append(judged(study, base_url, Path(folder)))
    del found[0]
    shares = [100 * (one["chain"] + one["budget"]) / one["all"] for one in found]
    return [
        median_figure("a judgement with a budget: CPU", [one["all"] for one in found], unit="ms"),
        median_figure("of it the chain", [one["chain"] for one in found], unit="ms"),
        median_figure("of it the budget on disk", [one["budget"] for one in found], unit="ms"),
        median_figure("chain and budget, of a judgement", shares, unit="%", at_most=5),
        median_figure("chain: bytes a judgement", [one["bytes"] for one in found]),
    ]


def write_judged(ledger: Ledger, judgements: int) -> None:
    """Every pair of 20 models in both orders, so many of them, each with its call."""
    study = generated(items=max(1, -(-judgements // 380)), models=20)
    endpoint = endpoint_at("http://127.0.0.1:9/v1")
    ledger.register_benchmark(study.benchmark)
    ledger.add_responses(study.responses)
    prepared = study.prepared(ledger, endpoint=endpoint)
    ledger.register_study(
        prepared.study, rater=prepared.asking.rater, condition=prepared.asking.condition, wanted=judgements
    )
    run = ledger.begin_run("judge", {}, study=prepared.study.key, version="bench")
    reply = Reply(text=_REPLY, finish="stop", usage=Usage(input=700, output=30), model="scripted", seconds=0.5)
    trials = islice(prepared.trials(), judgements)
    while some := list(islice(trials, _COMMITTED)):
        entries = Entries(study=prepared.study.key, trials=some)
        for trial in some:
            request = prepared.asking.request(trial)
            entries.add_call(request, reply, run=run, at=time.time(), cost_usd=0.001)
            verdict = Preference(value=1, levels=3)
            told = Judgement(
                trial=trial.key, verdict=verdict, reader="1", calls=(request.key,), run=run, at=time.time()
            )
            entries.judgements.append(told)
        ledger.commit(entries)


def check_figures(judgements: int) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as folder:
        path = Path(folder) / "ledger.db"
        with closing(Ledger(f"sqlite:///{path}")) as ledger:
            write_judged(ledger, judgements)
        command = [sys.executable, "-m", "bench.record", "--check", str(path)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        size = path.stat().st_size
    what = f"{judgements:,} judgements"
    return [
        Figure(what=f"ledger check, {what}: names", value=found["names_s"], unit="s CPU"),
        Figure(what=f"ledger check, {what}: chain", value=found["chain_s"], unit="s CPU"),
        Figure(what=f"ledger check, {what}: peak memory", value=found["peak_mb"], unit="MB"),
        Figure(what=f"ledger, {what}", value=size / 1e6, unit="MB"),
    ]


def checked(path: Path) -> dict[str, float]:
    """For a process of its own, whose peak memory it tells."""
    with closing(Ledger(f"sqlite:///{path}", create=False)) as ledger:
        begun = time.process_time()
        problems = upkeep.check(ledger)
        named = time.process_time()
        problems += chain.check(ledger).problems
        done = time.process_time()
    if problems:
        raise SystemExit(f"The ledger is not sound: {problems[:3]}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak_bytes = peak if sys.platform == "darwin" else peak * 1024
    return {"names_s": named - begun, "chain_s": done - named, "peak_mb": peak_bytes / 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--checked", type=int, default=50_000, help="judgements in the ledger that is checked")
    parser.add_argument("--check", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.check:
        print(json.dumps(checked(given.check)))
        return
    print_table([*cost_figures(given.rounds), *check_figures(given.checked)])


if __name__ == "__main__":
    main()
