"""Ranks multimodal language models with judges, human or model, and measures whether the judges can be trusted."""

__version__ = "0.1.0"

# Not typing's: under `python -m` this is run while the current folder could still give a module of that name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from evenhand.api.judging import JudgeRun, Terms, judge, judge_async
    from evenhand.benchmarks.answers.responses_file import read_responses
    from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
    from evenhand.domain.rater import Settings
    from evenhand.engine.tasks.judging import Matching, Showing
    from evenhand.exchange.battles_file import BattleColumns
    from evenhand.ledger.store.record import Ledger, open_ledger
    from evenhand.protocols.catalog import load_protocol
    from evenhand.reports.board.board import Board
    from evenhand.reports.board.choosing import Choice
    from evenhand.reports.board.methods import Scoring
    from evenhand.reports.board.ranking import rank
    from evenhand.stats.ratings.scale import Scale

__all__ = [
    "BattleColumns",
    "Board",
    "Choice",
    "JudgeRun",
    "Ledger",
    "Matching",
    "Scale",
    "Scoring",
    "Settings",
    "Showing",
    "Terms",
    "bundled_answers",
    "judge",
    "judge_async",
    "load_benchmark",
    "load_protocol",
    "open_ledger",
    "rank",
    "read_responses",
]

_HOMES = {
    "BattleColumns": "evenhand.exchange.battles_file",
    "Board": "evenhand.reports.board.board",
    "Choice": "evenhand.reports.board.choosing",
    "JudgeRun": "evenhand.api.judging",
    "Ledger": "evenhand.ledger.store.record",
    "Matching": "evenhand.engine.tasks.judging",
    "Scale": "evenhand.stats.ratings.scale",
    "Scoring": "evenhand.reports.board.methods",
    "Settings": "evenhand.domain.rater",
    "Showing": "evenhand.engine.tasks.judging",
    "Terms": "evenhand.api.judging",
    "bundled_answers": "evenhand.benchmarks.catalog",
    "judge": "evenhand.api.judging",
    "judge_async": "evenhand.api.judging",
    "load_benchmark": "evenhand.benchmarks.catalog",
    "load_protocol": "evenhand.protocols.catalog",
    "open_ledger": "evenhand.ledger.store.record",
    "rank": "evenhand.reports.board.ranking",
    "read_responses": "evenhand.benchmarks.answers.responses_file",
}


def __getattr__(name: str) -> "Any":
    """Public names are imported when they are first used: `import evenhand` itself costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
