"""A board and a judge that is asked again month by month, on a ledger, with the judge's replies made up in place."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.verdict import NoVerdict, Preference, Verdict
from evenhand.engine.session import register
from evenhand.engine.tasks.as_judged import Spoken
from evenhand.engine.tasks.asking_again import draw_rows, prepare_again
from evenhand.engine.tasks.judging import Matching, PreparedStudy, Showing, prepare
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.protocols.catalog import load_protocol
from evenhand.reports.judges.sentinel import SentinelReport, sentinel_report
from tests.cli.changing_judge import prefers_first

PROTOCOL = load_protocol("visit_pairwise")
JUDGE = Rater(kind="model", name="openai/j", endpoint="openai", settings=PROTOCOL.settings)


@dataclass(kw_only=True)
class Watched:
    ledger: Ledger
    seed: int
    items: int
    models: int
    shift: float = 0.0
    """In logits, to the longer answer; of what is asked from now on."""
    silent: bool = False
    """No reply of what is asked from now on holds a verdict."""

    def __post_init__(self) -> None:
        self._calls = count()
        items = tuple(
            Item(label=f"q{number}", instruction=f"Ask {number}.", caption="A square.") for number in range(self.items)
        )
        benchmark = Benchmark(name="watched", items=items, licence="", citation="", protocols=())
        self._responses = [
            Response(
                item=item.digest,
                model=f"model-{place}",
                text=f"world {self.seed} model-{place} on {number}{' word' * ((3 * place + 7 * number) % 11)}",
            )
            for number, item in enumerate(items)
            for place in range(self.models)
        ]
        self._benchmark = benchmark
        self.ledger.register_benchmark(benchmark)
        self._judge()

    def _judge(self) -> None:
        """All answers against all, as far as it is not on record."""
        self.ledger.add_responses(self._responses)
        self._texts = {one.digest: one.text for one in self._responses}
        self.put(
            prepare(
                self._benchmark,
                self._responses,
                items=self._benchmark.items,
                judge=JUDGE,
                model="j",
                showing=Showing(protocol=PROTOCOL),
                matching=Matching(),
                fence_secret=self.ledger.fence_secret(),
            )
        )

    def join(self, item: str, model: str) -> None:
        """A model that answers this item alone."""
        self._responses.append(Response(item=item, model=model, text=f"world {self.seed} {model}"))
        self._judge()

    @property
    def board(self) -> list[StudyOnRecord]:
        return studies(self.ledger)

    def put(self, prepared: PreparedStudy) -> None:
        """Its trials on record, each with what the judge says of it now."""
        register(prepared, self.ledger)
        run = self.ledger.begin_run("a test", {}, study=prepared.study.key, version="0")
        wanted = list(prepared.trials())
        done = self.ledger.decided((one.key for one in wanted), reader=PROTOCOL.reader)
        trials = [one for one in wanted if one.key not in done]
        judgements = [
            Judgement(
                trial=one.key,
                verdict=self._says(*(self._texts[digest] for digest in one.responses)),
                reader=PROTOCOL.reader,
                calls=(),
                run=run,
                at=time.time(),
            )
            for one in trials
        ]
        self.ledger.commit(Entries(study=prepared.study.key, trials=trials, judgements=judgements))

    def _says(self, first: str, second: str) -> Verdict | NoVerdict:
        if self.silent:
            return NoVerdict(reason="unreadable")
        call = f"world {self.seed} call {next(self._calls)}"
        return Preference(value=1 if prefers_first(first, second, shift=self.shift, call=call) else -1, levels=2)

    def look(self, name: str, rows: int = 100) -> None:
        board = self.board
        drawn = draw_rows(self.ledger, board, look=name, rows=rows)
        spoken = Spoken(judge="j", extractor="j")
        _, prepared = prepare_again(self.ledger, board, drawn, look=name, protocol=PROTOCOL, spoken=spoken)
        self.put(prepared)

    def report(self) -> SentinelReport:
        return sentinel_report(self.ledger, self.board)


def watched(folder: Path, *, seed: int = 0, items: int = 10, models: int = 4) -> Watched:
    return Watched(ledger=Ledger(f"sqlite:///{folder}/watched-{seed}.db"), seed=seed, items=items, models=models)


def months(number: int) -> Iterator[str]:
    return (f"month {one:02}" for one in range(1, number + 1))
