"""The command that would audit a board's judge, with the flags that its answers and its server need."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, cast

from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.opening import holds_password
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import RunOnRecord, runs
from evenhand.reports.board.evidence import EvidenceSource

BUDGET = 500
"""Trials: enough to decide most questions on about twenty items; a hundred decide none."""

JUDGED_IN_PYTHON = "judge (Python)"
_JUDGING = ("judge", JUDGED_IN_PYTHON, "demo")
IN_MEMORY = "in_memory"
"""Of a run whose benchmark no command could name, for it was made in Python."""
_OWN_STORE = "sqlite:///.evenhand/ledger.db"
_OWN_BENCHMARK = "visit-bench-sample"
_KEPT = (
    "data", "reference", "columns", "image_root", "responses", "allow_partial", "models", "variant", "protocol", "see",
    "readout", "fence", "judge_base_url", "judge_api_key_env", "endpoint_name", "extractor", "extractor_base_url",
    "extractor_api_key_env", "temperature", "price",
)  # fmt: skip
"""Settings of a run of judgements that its judge's audit needs too."""


def audit_command(
    ledger: Ledger,
    origin: EvidenceSource,
    *,
    audited: str = "audit",
    program: str = "evenhand",
    handed_on: bool = False,
) -> str:
    """As it would be typed here, in Python where the benchmark was made there.

    `audited`: the command under which audits are on record. `handed_on`: for a page that others may read, who are told
    neither where the ledger is nor in which folders files lie.
    """
    words = [program, "audit", "--judge", origin.judge or ""]
    settings = _judged_with(ledger, origin)
    before = (run.settings.get("budget") for run in runs(ledger, command=audited) if _judge(run) == origin.judge)
    budget = next((budget for budget in before if budget), BUDGET)
    if settings.get(IN_MEMORY):
        where = f", base_url={url!r}" if (url := settings.get("judge_base_url")) else ""
        return f"eh.audit({origin.judge!r}, benchmark=benchmark, responses=responses{where}, budget={budget})"
    words += [*_flags(_normal(settings, origin)), "--budget", str(budget)]
    if handed_on:
        return shlex.join(PurePath(word).name if PurePath(word).is_absolute() else word for word in words)
    return shlex.join([*words, *store_flag(ledger)])


def store_flag(ledger: Ledger) -> list[str]:
    """What a command that is to be typed needs to find this ledger; nothing where it is the usual one, or where its
    address holds a password: a variable names it then."""
    return [] if ledger.url == _OWN_STORE or holds_password(ledger.url) else ["--store", ledger.url]


def _judge(run: RunOnRecord) -> Any:
    return run.settings.get("judge")


def _judged_with(ledger: Ledger, origin: EvidenceSource) -> Mapping[str, Any]:
    """The settings of the board's newest run; of another of the judge's on the benchmark where it has none of its own,
    as what was imported."""
    judged = [run for name in _JUDGING for run in runs(ledger, command=name) if _judge(run) == origin.judge]
    board = (origin.data, origin.variant, origin.rater, origin.condition)
    found = studies(ledger, benchmark=origin.benchmark) if judged else []
    own = {one.key for one in found if (one.data, one.variant, one.rater, one.condition) == board}
    near = (run for run in judged if run.study in own or _is_of_benchmark(run, origin))
    best = min(near, key=lambda run: run.study not in own, default=None)
    return {} if best is None else best.settings


def _is_of_benchmark(run: RunOnRecord, origin: EvidenceSource) -> bool:
    name = str(run.settings.get("benchmark", ""))
    return origin.benchmark in (name, PurePath(name).stem)


def _normal(settings: Mapping[str, Any], origin: EvidenceSource) -> dict[str, Any]:
    """Without what `audit` takes by itself; of several protocols the board's."""
    protocols = settings.get("protocol", [])
    changed = {
        **settings,
        "protocol": protocols if len(protocols) < 2 else [origin.protocol],
        "judge_base_url": settings.get("judge_base_url", settings.get("base_url")),
        "readout": "constrained" if origin.readout == "constrained" else None,
        "fence": _fence(settings, origin),
        "variant": origin.variant,
    }
    benchmark = settings.get("benchmark", origin.benchmark)
    kept = {name: changed[name] for name in _KEPT if changed.get(name)}
    return kept if benchmark == _OWN_BENCHMARK else {"benchmark": benchmark, **kept}


def _fence(settings: Mapping[str, Any], origin: EvidenceSource) -> str | None:
    if origin.condition and origin.condition.fenced:
        return "nonce"
    # A protocol of its own code needs no flag.
    return "token" if origin.readout == "token" and settings.get("fence") == "token" else None


def _flags(settings: Mapping[str, Any]) -> Iterator[str]:
    for name, value in settings.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            yield flag
        else:
            for one in cast("list[Any]", value if isinstance(value, list) else [value]):
                yield from (flag, str(one))
