"""Ranks multimodal language models with judges, human or model, and measures whether the judges can be trusted."""

import sys

__version__ = "0.1.0"

# Not typing's: under `python -m` this is run while the current folder could still give a module of that name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from evenhand.api.auditing import audit, audit_async
    from evenhand.api.grading import grade, grade_async
    from evenhand.api.items import ItemChoice
    from evenhand.api.judging import JudgeRun, judge, judge_async
    from evenhand.api.reading import align, bridge, compare, judges, plan_bridge, rank, read_verdicts
    from evenhand.api.reporting import report
    from evenhand.api.scoring import score
    from evenhand.api.sentinel import sentinel, sentinel_async
    from evenhand.api.terms import Terms
    from evenhand.benchmarks.answers.responses_file import ResponseSet, read_responses
    from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
    from evenhand.benchmarks.data_error import BenchmarkError, DataError, ResponsesError
    from evenhand.benchmarks.options.option_set import Selection
    from evenhand.domain.errors import CallFailure, EvenhandError, Misuse
    from evenhand.domain.placing import Newcomer
    from evenhand.domain.rater import Settings
    from evenhand.engine.run.calling import Pacing
    from evenhand.engine.tasks.judging import Matching, Showing
    from evenhand.exchange.battles_file import BattleColumns
    from evenhand.exchange.errors import ExchangeError
    from evenhand.files.outputs import OutputRefused
    from evenhand.format.charts import ChartError
    from evenhand.ledger.store.opening import LedgerError
    from evenhand.ledger.store.record import Ledger, open_ledger
    from evenhand.models.prices import Price
    from evenhand.protocols.catalog import load_protocol
    from evenhand.protocols.protocol import ProtocolError
    from evenhand.reports.board.board import Board
    from evenhand.reports.board.choosing import Choice, MixedError
    from evenhand.reports.board.methods import Scoring
    from evenhand.reports.errors import AlignmentError, RankError
    from evenhand.stats.ratings.scale import Scale
else:
    ModuleType = type(sys)

__all__ = [
    "AlignmentError",
    "BattleColumns",
    "BenchmarkError",
    "Board",
    "CallFailure",
    "ChartError",
    "Choice",
    "DataError",
    "EvenhandError",
    "ExchangeError",
    "ItemChoice",
    "JudgeRun",
    "Ledger",
    "LedgerError",
    "Matching",
    "Misuse",
    "MixedError",
    "Newcomer",
    "OutputRefused",
    "Pacing",
    "Price",
    "ProtocolError",
    "RankError",
    "ResponseSet",
    "ResponsesError",
    "Scale",
    "Scoring",
    "Selection",
    "Settings",
    "Showing",
    "Terms",
    "align",
    "audit",
    "audit_async",
    "bridge",
    "bundled_answers",
    "compare",
    "grade",
    "grade_async",
    "judge",
    "judge_async",
    "judges",
    "load_benchmark",
    "load_protocol",
    "open_ledger",
    "plan_bridge",
    "rank",
    "read_responses",
    "read_verdicts",
    "report",
    "score",
    "sentinel",
    "sentinel_async",
]

_HOMES = {
    "AlignmentError": "evenhand.reports.errors",
    "BattleColumns": "evenhand.exchange.battles_file",
    "BenchmarkError": "evenhand.benchmarks.data_error",
    "Board": "evenhand.reports.board.board",
    "CallFailure": "evenhand.domain.errors",
    "ChartError": "evenhand.format.charts",
    "Choice": "evenhand.reports.board.choosing",
    "DataError": "evenhand.benchmarks.data_error",
    "EvenhandError": "evenhand.domain.errors",
    "ExchangeError": "evenhand.exchange.errors",
    "ItemChoice": "evenhand.api.items",
    "JudgeRun": "evenhand.api.judging",
    "Ledger": "evenhand.ledger.store.record",
    "LedgerError": "evenhand.ledger.store.opening",
    "Matching": "evenhand.engine.tasks.judging",
    "Misuse": "evenhand.domain.errors",
    "MixedError": "evenhand.reports.board.choosing",
    "Newcomer": "evenhand.domain.placing",
    "OutputRefused": "evenhand.files.outputs",
    "Pacing": "evenhand.engine.run.calling",
    "Price": "evenhand.models.prices",
    "ProtocolError": "evenhand.protocols.protocol",
    "RankError": "evenhand.reports.errors",
    "ResponseSet": "evenhand.benchmarks.answers.responses_file",
    "ResponsesError": "evenhand.benchmarks.data_error",
    "Scale": "evenhand.stats.ratings.scale",
    "Scoring": "evenhand.reports.board.methods",
    "Selection": "evenhand.benchmarks.options.option_set",
    "Settings": "evenhand.domain.rater",
    "Showing": "evenhand.engine.tasks.judging",
    "Terms": "evenhand.api.terms",
    "align": "evenhand.api.reading",
    "audit": "evenhand.api.auditing",
    "audit_async": "evenhand.api.auditing",
    "bridge": "evenhand.api.reading",
    "plan_bridge": "evenhand.api.reading",
    "bundled_answers": "evenhand.benchmarks.catalog",
    "compare": "evenhand.api.reading",
    "judges": "evenhand.api.reading",
    "grade": "evenhand.api.grading",
    "grade_async": "evenhand.api.grading",
    "judge": "evenhand.api.judging",
    "judge_async": "evenhand.api.judging",
    "load_benchmark": "evenhand.benchmarks.catalog",
    "load_protocol": "evenhand.protocols.catalog",
    "open_ledger": "evenhand.ledger.store.record",
    "rank": "evenhand.api.reading",
    "read_responses": "evenhand.benchmarks.answers.responses_file",
    "read_verdicts": "evenhand.api.reading",
    "report": "evenhand.api.reporting",
    "score": "evenhand.api.scoring",
    "sentinel": "evenhand.api.sentinel",
    "sentinel_async": "evenhand.api.sentinel",
}


def __getattr__(name: str) -> "Any":
    """Public names are imported when they are first used: `import evenhand` itself costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}")
    import importlib

    found = getattr(importlib.import_module(_HOMES[name]), name)
    return importlib.import_module("evenhand.api.python_words").for_python(found)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """`evenhand.audit` is also a room of this package, and an import of the room would put it in the call's place."""

    @property
    def audit(self) -> "Any":
        return __getattr__("audit")

    @audit.setter
    def audit(self, room: object) -> None:
        """sys.modules holds the room, where `from evenhand.audit import …` finds it."""


sys.modules[__name__].__class__ = _Package
