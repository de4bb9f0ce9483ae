"""What planning costs: trials already known, a million trials, and the way to `evenhand --help`.

`python -m bench.planning`: CPU seconds and peak memory; nothing is asked of any model.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from bench.figures import Figure, median_figure, print_table
from bench.generated import Generated, endpoint_at, generated
from evenhand.domain.call import Reply, Request, Usage
from evenhand.domain.judgement import Judgement
from evenhand.domain.verdict import Preference
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext, Pacing
from evenhand.engine.run.quote import Quote, dry_run
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.session import run_study
from evenhand.engine.tasks.judging import PreparedStudy
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.models.prices import PriceList

KNOWN_ITEMS, KNOWN_MODELS = 834, 4  # 834 items x 6 pairs x 2 orders = 10,008 trials
MANY_ITEMS, MANY_MODELS = 1000, 33  # 1000 items x 528 pairs x 2 orders = 1,056,000 trials
_ENDPOINT = endpoint_at("http://127.0.0.1:9/v1")
_REPLY = Reply(
    text="Step 1: Response B leaves part of the question open.\n\nOverall, Response A is better.",
    usage=Usage(input=800, output=25),
)


class Nobody:
    """A model client for runs that must ask nothing."""

    async def complete(self, request: Request) -> Reply:
        raise AssertionError(f"A trial that is known was asked again: {request.key}")

    async def close(self) -> None:
        pass


def filled(ledger: Ledger, study: Generated) -> PreparedStudy:
    """The study with every trial judged, as a run leaves the ledger."""
    prepared = study.prepared(ledger, endpoint=_ENDPOINT)
    asking = prepared.asking
    ledger.register_benchmark(study.benchmark)
    ledger.add_responses(study.responses)
    ledger.register_study(prepared.study, rater=asking.rater, condition=asking.condition, wanted=prepared.wanted)
    trials = prepared.trials()
    while some := list(islice(trials, 100)):
        entries = Entries(study=prepared.study.key, trials=some)
        for trial in some:
            request = asking.request(trial)
            entries.add_call(request, _REPLY, run="bench", at=0.0, cost_usd=None)
            entries.judgements.append(
                Judgement(
                    trial=trial.key,
                    verdict=Preference(value=1, levels=2),
                    reader=asking.protocol.reader,
                    calls=(request.key,),
                    run="bench",
                    at=0.0,
                )
            )
        ledger.commit(entries)
    return prepared


def known_trials(*, rounds: int) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as folder:
        ledger = Ledger(f"sqlite:///{Path(folder)}/ledger.db")
        prepared = filled(ledger, generated(items=KNOWN_ITEMS, models=KNOWN_MODELS))
        plans = [_plan_seconds(ledger, prepared) for _ in range(rounds)]
        runs = [_run_seconds(ledger, prepared) for _ in range(rounds)]
        ledger.close()
    size = f"{prepared.wanted:,} known judgements"
    return [
        median_figure(f"{size}: planned", plans, unit="s CPU", at_most=1),
        median_figure(f"{size}: whole run that skips them", runs, unit="s CPU", at_most=1),
    ]


def _plan_seconds(ledger: Ledger, prepared: PreparedStudy) -> float:
    begun = time.process_time()
    known = sum(len(chunk.known) for chunk in prepared.plan(ledger))
    spent = time.process_time() - begun
    assert known == prepared.wanted
    return spent


def _run_seconds(ledger: Ledger, prepared: PreparedStudy) -> float:
    begun = time.process_time()
    asyncio.run(_run_over_known(ledger, prepared))
    return time.process_time() - begun


async def _run_over_known(ledger: Ledger, prepared: PreparedStudy) -> None:
    quote = Quote(_ENDPOINT, PriceList(), ledger.images.get)
    context = CallContext(client=Nobody(), pricing=quote, budget=Budget(None), pacing=Pacing())
    ended = await run_study(prepared, ledger=ledger, context=context, stop=StopSign())
    assert ended.error is None
    assert ended.tally.known == prepared.wanted


def plan_a_million() -> dict[str, float]:
    """A dry run over more than a million trials; for a process of its own, whose peak memory it tells."""
    study = generated(items=MANY_ITEMS, models=MANY_MODELS)
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as folder:
        ledger = Ledger(f"sqlite:///{Path(folder)}/ledger.db")
        begun, wall = time.process_time(), time.perf_counter()
        prepared = study.prepared(ledger, endpoint=_ENDPOINT)
        quoted = dry_run(prepared.plan(ledger), Quote(_ENDPOINT, PriceList(), ledger.images.get), ledger)
        cpu, seconds = time.process_time() - begun, time.perf_counter() - wall
        ledger.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak_bytes = peak if sys.platform == "darwin" else peak * 1024
    return {"trials": quoted.trials, "cpu_s": cpu, "wall_s": seconds, "peak_mb": peak_bytes / 1e6}


def many_trials() -> list[Figure]:
    command = [sys.executable, "-m", "bench.planning", "--plan-a-million"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    size = f"{int(found['trials']):,} trials"
    seconds = f"{found['wall_s']:.0f} s by the clock"
    return [
        Figure(what=f"{size} planned (dry run): peak memory", value=found["peak_mb"], unit="MB", at_most=300),
        Figure(what=f"{size} planned (dry run): time", value=found["cpu_s"], unit="s CPU", note=seconds),
    ]


def help_page(*, rounds: int) -> list[Figure]:
    script = str(Path(sys.executable).with_name("evenhand"))
    helped: list[float] = []
    passed: list[float] = []
    for _ in range(rounds):
        helped.append(_child_cpu([script, "--help"]))
        passed.append(_child_cpu([sys.executable, "-c", "pass"]))
    ratios = [one / other for one, other in zip(helped, passed, strict=True)]
    return [
        median_figure("evenhand --help", helped, unit="s CPU", at_most=0.3),
        median_figure("evenhand --help: ratio to python -c pass", ratios),
    ]


def _child_cpu(command: Sequence[str]) -> float:
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} failed ({child.returncode}).")
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--plan-a-million", action="store_true", help="that alone, in this process, as JSON")
    chosen = parser.parse_args()
    if chosen.plan_a_million:
        print(json.dumps(plan_a_million()))
        return
    print_table([*known_trials(rounds=chosen.rounds), *help_page(rounds=chosen.rounds), *many_trials()])


if __name__ == "__main__":
    main()
