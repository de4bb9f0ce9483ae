"""Ranks multimodal language models with judges, human or model, and measures whether the judges can be trusted."""

__version__ = "0.1.0"

# Not typing's: under `python -m` this is run while the current folder could still give a module of that name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
    from evenhand.benchmarks.responses_file import read_responses
    from evenhand.domain.rater import Settings
    from evenhand.engine.judging import Matching, Showing
    from evenhand.engine.public import JudgeRun, Terms, judge
    from evenhand.exchange.battles_file import BattleColumns
    from evenhand.ledger.record import Ledger, open_ledger
    from evenhand.protocols.catalog import load_protocol
    from evenhand.ratings.scale import Scale
    from evenhand.reports.board import Board
    from evenhand.reports.choosing import Choice
    from evenhand.reports.methods import Scoring
    from evenhand.reports.ranking import rank

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
    "load_benchmark",
    "load_protocol",
    "open_ledger",
    "rank",
    "read_responses",
]

_HOMES = {
    "BattleColumns": "evenhand.exchange.battles_file",
    "Board": "evenhand.reports.board",
    "Choice": "evenhand.reports.choosing",
    "JudgeRun": "evenhand.engine.public",
    "Ledger": "evenhand.ledger.record",
    "Matching": "evenhand.engine.judging",
    "Scale": "evenhand.ratings.scale",
    "Scoring": "evenhand.reports.methods",
    "Settings": "evenhand.domain.rater",
    "Showing": "evenhand.engine.judging",
    "Terms": "evenhand.engine.public",
    "bundled_answers": "evenhand.benchmarks.catalog",
    "judge": "evenhand.engine.public",
    "load_benchmark": "evenhand.benchmarks.catalog",
    "load_protocol": "evenhand.protocols.catalog",
    "open_ledger": "evenhand.ledger.record",
    "rank": "evenhand.reports.ranking",
    "read_responses": "evenhand.benchmarks.responses_file",
}


def __getattr__(name: str) -> "Any":
    """Public names are imported when they are first used: `import evenhand` itself costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
