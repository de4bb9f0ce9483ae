"""What each part of a judgement takes by itself: a lower bound of what `bench.judging` finds, that noise hardly moves.

    python -m bench.judging_parts [--items 60] [--rounds 7] [--images]

One part after the other in one process, without HTTP: each for all judgements in a row, by the CPU time of its thread,
the least of the rounds. In a run they alternate with each other and with the sockets, and find the caches cold; tasks,
futures and threads are in none of them.
"""

import argparse
import gc
import tempfile
import time
from collections import defaultdict
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import orjson

from bench.figures import Figure, print_table
from bench.generated import Prose, endpoint_at
from bench.judging import IN_FLIGHT, LENGTH, completion, write_study
from evenhand.benchmarks.answers.responses_file import read_responses
from evenhand.benchmarks.catalog import load_benchmark
from evenhand.domain.call import Reply
from evenhand.domain.rater import Rater
from evenhand.domain.trial import See, Trial
from evenhand.engine.run.task import Circumstances, Due
from evenhand.engine.session import register
from evenhand.engine.tasks.asking import Asking, ReplyReading
from evenhand.engine.tasks.judging import Matching, Showing, prepare
from evenhand.images import inspection
from evenhand.ledger.store.entries import Entries
from evenhand.ledger.store.record import CHUNK, Ledger
from evenhand.models.wire.body import BodyShape, BodyWriter
from evenhand.models.wire.openai import OpenAIWire
from evenhand.models.wire.transport import Received
from evenhand.protocols.catalog import load_protocol

_ENDPOINT = endpoint_at("http://127.0.0.1:9/v1")


class Parts:
    """Seconds of CPU of this thread by part, a round after the other."""

    def __init__(self) -> None:
        self.spent: dict[str, list[float]] = defaultdict(list)

    @contextmanager
    def part(self, words: str) -> Generator[None]:
        begun = time.thread_time()
        yield
        self.spent[words].append(time.thread_time() - begun)


def judged(room: Path, see: See, parts: Parts) -> int:
    """All of a study once, part by part, into a new ledger; how many judgements."""
    inspection._known.clear()  # pyright: ignore[reportPrivateUsage]  # as in a new process
    with (
        tempfile.TemporaryDirectory(prefix="ledger-", dir=room) as made,
        closing(Ledger(f"sqlite:///{made}/ledger.db")) as ledger,
    ):
        with parts.part("items read, images checked"):
            benchmark = load_benchmark(str(room / "items.jsonl"))
        with parts.part("answers read"):
            answers = read_responses(room / "answers.jsonl", benchmark).responses
        with parts.part("items and answers put on record, images stored"):
            ledger.register_benchmark(benchmark)
            ledger.add_responses(answers, benchmark=benchmark)
        protocol = load_protocol("visit_pairwise")
        judge = Rater(kind="model", name=_ENDPOINT.name, endpoint=_ENDPOINT.identity, settings=protocol.settings)
        prepared = prepare(
            benchmark,
            answers,
            items=benchmark.items,
            judge=judge,
            model=_ENDPOINT.model,
            showing=Showing(protocol=protocol, see=see),
            matching=Matching(),
            fence_secret=ledger.fence_secret(),
        )
        register(prepared, ledger)
        run = ledger.begin_run("judge", {}, study=prepared.study.key, version="bench")
        gc.collect()
        with parts.part("planned"):
            due = [one for chunk in prepared.plan(ledger) for one in chunk.due]
        asking = prepared.asking
        with parts.part("claimed, answers searched for orders to the judge"):
            for start in range(0, len(due), CHUNK):
                asking.claim(ledger, due[start : start + CHUNK], holder="bench")
        writer = BodyWriter(
            _ENDPOINT,
            explicit=frozenset(),
            pictures=lambda one: ledger.images.data_url(one.digest, max_edge=one.max_edge),
        )
        shape = BodyShape.of(_ENDPOINT)
        with parts.part("bodies written, images encoded"):
            for one in due:
                writer.body(one.request, writer.fixed(one.request, shape))
        replies = _replies(asking, due, parts)
        with parts.part("verdicts read"):
            results = [asking.read(one, [reply]) for one, reply in zip(due, replies, strict=True)]
        entries: list[Entries] = []
        with parts.part("entries made"):
            for one, reply, result in zip(due, replies, results, strict=True):
                assert isinstance(result, ReplyReading)
                now = Circumstances(run=run, at=time.time(), cost_usd=None, calls=(one.request.key,))
                entry = Entries(release=[one.key])
                entry.add_call(one.request, reply, run=run, at=now.at, cost_usd=None)
                entry.extend(asking.record(one, result, now))
                entries.append(entry)
        with parts.part("committed"):
            for start in range(0, len(entries), IN_FLIGHT):
                together = Entries(study=prepared.study.key, holder="bench")
                for entry in entries[start : start + IN_FLIGHT]:
                    together.extend(entry)
                ledger.commit(together)
        return len(due)


def _replies(asking: Asking, due: list[Due[Trial]], parts: Parts) -> list[Reply]:
    prose = Prose(2)
    came: list[Received] = []
    for one in due:
        first, second = (asking.responses[digest].text for digest in one.subject.responses)
        decision = f"\n\nOverall, Response {prose.draw.choice('AB')} is better."
        said = prose.of_a_judge(first, second, LENGTH, ending=decision)
        came.append(Received(200, {}, orjson.dumps(completion(said))))
    wire = OpenAIWire(_ENDPOINT, environment={})
    with parts.part("replies' JSON and fields"):
        return [wire.read(one.request, reply) for one, reply in zip(due, came, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=60, help="twelve judgements each")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--images", action="store_true", help="three an item, in place of a caption")
    given = parser.parse_args()
    parts, judgements = Parts(), 0
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as made:
        write_study(Path(made), items=given.items, pictures=given.images)
        for _ in range(given.rounds):
            judgements = judged(Path(made), "images" if given.images else "caption", parts)
    least = {words: 1e6 * min(spent) / judgements for words, spent in parts.spent.items()}
    figures = [Figure(what=words, value=value, unit="\N{MICRO SIGN}s") for words, value in least.items()]
    print_table([*figures, Figure(what="together, of a judgement", value=sum(least.values()), unit="\N{MICRO SIGN}s")])


if __name__ == "__main__":
    main()
