"""What a judge was asked, word for word, on one case of each protocol."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from evenhand.ledger.read.lookup import calls_on_record
from evenhand.ledger.read.projection import judged
from evenhand.reports.page.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamplePrompt:
    protocol: str
    item: str
    models: tuple[str, ...]
    """In the order shown."""
    messages: tuple[tuple[str, str], ...]
    """Role and words; an image stands as its digest."""


def example_prompts(report: Report) -> Iterator[ExamplePrompt]:
    """None of a protocol under which no model was asked."""
    for studies in (report.studies.board, report.studies.graded):
        items = list(dict.fromkeys(case.item for case in report.cases.cases[:1]))
        for one in judged(report.ledger, studies, items=items) if studies else ():
            calls = calls_on_record(report.ledger, dict.fromkeys(one.judgement.calls[:1]))
            if calls:
                yield ExamplePrompt(
                    protocol=studies[0].condition.protocol,
                    item=one.label,
                    models=one.models,
                    messages=tuple((role, _words(parts)) for role, parts in calls[0].request["messages"]),
                )
                break


def _words(parts: list[Any]) -> str:
    return "\n".join(
        part if isinstance(part, str) else f"[image {cast(dict[str, str], part)['image'][:16]}]" for part in parts
    )
