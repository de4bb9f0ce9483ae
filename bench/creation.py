"""Creation-MMBench's 765 cases with their images, two protocols, both orders: peak memory, and CPU beside bare calls.

`python -m bench.creation`: memory is that of `evenhand judge`, from the data file to the last verdict. CPU is measured
within one process, from the study that is prepared to the last verdict; with one model each image is sent twice only,
so checking, decoding and encoding it weigh more than in `bench.judging`.
"""

import argparse
import asyncio
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Figure, median_figure, print_table
from bench.generated import endpoint_at
from bench.judging import IN_FLIGHT, bodies, send_all
from evenhand.benchmarks.answers.responses_file import reference_responses
from evenhand.benchmarks.catalog import load_benchmark
from evenhand.domain.item import Benchmark
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext, Pacing
from evenhand.engine.run.quote import Quote
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.session import run_study
from evenhand.engine.tasks.judging import Matching, PreparedStudy, Showing, prepare
from evenhand.ledger.store.record import Ledger
from evenhand.models.endpoint import Endpoint
from evenhand.models.prices import PriceList
from evenhand.models.wire.openai import OpenAIWire
from evenhand.protocols.catalog import load_protocol
from tests.benchmarks.creation_cases import generated_cases, write_tsv
from tests.scripted_server import Body, Script, ScriptedServer

PROTOCOLS = ("creation_preference", "creation_factuality")
_MEGABYTE = 1e6


def _verdicts(_: Body) -> str:
    """What either protocol can read."""
    return (
        "Assistant A keeps closer to the criteria and to the images.\n"
        "Response A Visual Factuality Score: 8/10\nResponse B Visual Factuality Score: 6.5/10\n"
        "Final Verdict is: [[A>B]]"
    )


async def serve() -> None:
    async with ScriptedServer(Script(judge=_verdicts, keep=False)) as server:
        print(server.base_url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


@contextmanager
def server_process() -> Generator[str]:
    command = [sys.executable, "-m", "bench.creation", "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    data: Path
    answers: Path
    images: int


def written(folder: Path, *, count: int, edge: int, models: int) -> Files:
    """As large as the published data where images are of about 250 KB."""
    cases = generated_cases(count, edge=edge)
    answers = folder / "answers.jsonl"
    words = " ".join(["The light falls on the wall and the child looks up."] * 30)
    answers.write_text(
        "".join(
            json.dumps(
                {"item": str(case.index), "model": f"model-{model}", "response": f"{model} {case.index} {words}"}
            )
            + "\n"
            for case in cases
            for model in range(models)
        ),
        encoding="utf-8",
    )
    return Files(
        data=write_tsv(folder / "cases.tsv", cases), answers=answers, images=sum(len(case.images) for case in cases)
    )


def peak_of_command(files: Files, base_url: str, folder: Path) -> Figure:
    """Of the process that loads the file, sends every call and records every verdict."""
    asked = ("--judge", "openai/gpt-4o", "--judge-base-url", base_url, "--max-connections", str(IN_FLIGHT))
    given = ("--data", str(files.data), "--responses", str(files.answers))
    command = [Path(sys.executable).with_name("evenhand"), "judge", "creation-mmbench", *given, *asked]
    with (folder / "outcome.json").open("w+", encoding="utf-8") as out:
        child = subprocess.Popen([*command, "--json", "--quiet"], cwd=folder, stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        outcome = json.load(out)
    if child.returncode or outcome["verdicts"] != outcome["planned"]:
        raise SystemExit(f"The run did not do what is measured: {outcome}")
    in_bytes = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    note = f"{outcome['planned']} verdicts, {used.ru_utime + used.ru_stime:.1f} s CPU with loading"
    return Figure(what="`evenhand judge`: peak memory", value=in_bytes / _MEGABYTE, unit="MB", at_most=400, note=note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Seconds of CPU for each judgement or call."""

    judged: float
    bare: float


async def judge_all(prepared: PreparedStudy, *, endpoint: Endpoint, ledger: Ledger) -> None:
    """As `evenhand judge --quiet` does it."""
    client = OpenAIWire(
        endpoint,
        environment={},
        pictures=lambda picture: ledger.images.data_url(picture.digest, max_edge=picture.max_edge),
    )
    context = CallContext(
        client=client,
        pricing=Quote(endpoint, PriceList(), ledger.images.get),
        budget=Budget(None),
        pacing=Pacing(max_connections=IN_FLIGHT),
    )
    ended = await run_study(prepared, ledger=ledger, context=context, stop=StopSign())
    tally = ended.tally
    if ended.error or tally.verdicts != prepared.wanted or tally.requests != prepared.wanted:
        raise SystemExit(f"The run did not do what is measured: {ended}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    benchmark: Benchmark
    responses: Sequence[Response]

    @classmethod
    def of(cls, files: Files) -> "Judged":
        benchmark = load_benchmark("creation-mmbench", path=files.data)
        labels = {item.label: item.digest for item in benchmark.items}
        rows = [json.loads(line) for line in files.answers.read_text(encoding="utf-8").splitlines()]
        answers = [Response(item=labels[row["item"]], model=row["model"], text=row["response"]) for row in rows]
        return cls(benchmark=benchmark, responses=[*answers, *reference_responses(benchmark)])

    def prepared(self, ledger: Ledger, endpoint: Endpoint) -> list[PreparedStudy]:
        found: list[PreparedStudy] = []
        for name in PROTOCOLS:
            protocol = load_protocol(name)
            rater = Rater(kind="model", name=endpoint.name, endpoint=endpoint.identity, settings=protocol.settings)
            found.append(
                prepare(
                    self.benchmark,
                    self.responses,
                    items=self.benchmark.items,
                    judge=rater,
                    model=endpoint.model,
                    showing=Showing(protocol=protocol),
                    matching=Matching(pairing="against", against=protocol.against),
                    fence_secret=ledger.fence_secret(),
                )
            )
        return found

    def round(self, endpoint: Endpoint, *, bare_first: bool) -> Round:
        with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as folder:
            ledger = Ledger(f"sqlite:///{folder}/ledger.db")
            ledger.register_benchmark(self.benchmark)
            ledger.add_responses(self.responses)
            steps = [self._bare, self._judged] if bare_first else [self._judged, self._bare]
            spent = {step.__name__: step(endpoint, ledger) for step in steps}
            ledger.close()
        return Round(judged=spent["_judged"], bare=spent["_bare"])

    def _judged(self, endpoint: Endpoint, ledger: Ledger) -> float:
        gc.collect()
        begun = time.process_time()
        all_of_it = self.prepared(ledger, endpoint)
        for prepared in all_of_it:
            asyncio.run(judge_all(prepared, endpoint=endpoint, ledger=ledger))
        return (time.process_time() - begun) / sum(prepared.wanted for prepared in all_of_it)

    def _bare(self, endpoint: Endpoint, ledger: Ledger) -> float:
        gc.collect()
        all_of_it = self.prepared(ledger, endpoint)
        spent = 0.0
        for prepared in all_of_it:
            asked = map(prepared.asking.request, prepared.trials())
            spent += asyncio.run(send_all(bodies(asked, endpoint=endpoint, ledger=ledger), endpoint))
        return spent / sum(prepared.wanted for prepared in all_of_it)


def measured(judged: Judged, endpoint: Endpoint, *, rounds: int) -> list[Figure]:
    judged.round(endpoint, bare_first=True)  # imports, caches and the server's own first steps
    found = [judged.round(endpoint, bare_first=number % 2 == 0) for number in range(rounds)]
    return [
        median_figure("ratio to bare aiohttp", [one.judged / one.bare for one in found], at_most=3),
        median_figure("CPU of a judgement", [one.judged * 1e3 for one in found], unit="ms"),
        median_figure("CPU of a bare call", [one.bare * 1e3 for one in found], unit="ms"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cases", type=int, default=765)
    parser.add_argument("--models", type=int, default=1)
    parser.add_argument("--edge", type=int, default=290, help="pixels of each image; 290 is 250 KB")
    parser.add_argument("--serve", action="store_true", help="be the server that the others ask")
    chosen = parser.parse_args()
    if chosen.serve:
        asyncio.run(serve())
        return
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as name, server_process() as base_url:
        folder = Path(name)
        files = written(folder, count=chosen.cases, edge=chosen.edge, models=chosen.models)
        size = files.data.stat().st_size / _MEGABYTE
        figures = [peak_of_command(files, base_url, folder)]
        figures += measured(Judged.of(files), endpoint_at(base_url), rounds=chosen.rounds)
    shown = f"{chosen.cases} cases, {files.images} images, a file of {size:.0f} MB"
    print(f"{shown}, {chosen.models} models, {IN_FLIGHT} in flight")
    print_table(figures)


if __name__ == "__main__":
    main()
