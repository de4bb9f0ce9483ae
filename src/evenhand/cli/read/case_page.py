"""One item whole, as papers print a case: what is asked, by which criteria, every answer, every judge's words."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import click

from evenhand.benchmarks.creation_mmbench.queries import assembled_query
from evenhand.cli.environment import WrongUse
from evenhand.cli.read.showing import (
    indented,
    lacking,
    print_heading,
    print_lines,
    way_of_asking,
)
from evenhand.cli.saying import typeable
from evenhand.domain.item import Item
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.study import PURPOSES
from evenhand.domain.verdict import NoVerdict
from evenhand.engine.tasks.text_only import is_description
from evenhand.format.near_names import hint
from evenhand.format.printable import printable
from evenhand.format.verdict_words import by_name
from evenhand.images import ImageError, inspect
from evenhand.ledger.read.projection import StudyOnRecord, benchmarks, items_of, studies
from evenhand.ledger.store.record import Ledger
from evenhand.reports.case import CaseRecord, read_cases

_PARTS = {"role": "Role", "background": "Background", "instruction": "Instruction", "requirement": "Requirements"}


def case_document(ledger: Ledger, benchmark: str | None, label: str, *, models: Collection[str] = ()) -> dict[str, Any]:
    """`models`: only these, and whom they met. Raises WrongUse where no item, or several, are meant."""
    found = _find(ledger, benchmark, label)
    item = found.item
    record = read_cases(
        ledger,
        found.studies,
        items=[item.digest],
        wanted=lambda one: not models or not set(models).isdisjoint(one.models),
    )
    held = [
        one
        for one in ledger.responses_to([item.digest], variant=None)
        if not models or one.model in models or one.model == REFERENCE or is_description(one.variant)
    ]
    said = sorted({one.digest: one for one in (*held, *record.answers.values())}.values(), key=_place)
    _refuse_unknown(models, said)
    answers = [one for one in said if not is_description(one.variant)]
    return {
        "benchmark": found.benchmark,
        "data": found.data,
        "other_data_files": found.others,
        "item": item.label,
        "content": item.content(),
        "images": [_image(name, ledger, found.data) for name in item.images],
        "answers": [
            {**document, "altered_from": _altered_from(one, answers)}
            for one, document in zip(answers, record.answer_documents(answers), strict=True)
        ],
        "descriptions": [
            {"model": one.model, "variant": one.variant, "text": one.text}
            for one in said
            if is_description(one.variant)
        ],
        "trials": _trials(record),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    benchmark: str
    data: str
    others: int
    """How many other data files under this name have such an item."""
    item: Item
    studies: tuple[StudyOnRecord, ...]


def _find(ledger: Ledger, benchmark: str | None, label: str) -> _Found:
    """The item in the data of the newest study that holds it, else in the newest data."""
    made = studies(ledger, benchmark=benchmark, purposes=PURPOSES, everything=True)
    # Two benchmarks may share their data: then only the studies tell the second one's name.
    names_of = {(one.name, one.data) for one in benchmarks(ledger)} | {(one.benchmark, one.data) for one in made}
    known = [pair for pair in sorted(names_of) if benchmark in (None, pair[0])]
    if not known:
        raise WrongUse(
            f"The ledger holds nothing of {benchmark}." if benchmark else "The ledger holds no benchmark.",
            code="EH-CHOOSE-NOTHING",
        )
    items = {data: {item.label: item for item in items_of(ledger, data)} for _, data in known}
    names = sorted({name for name, data in known if label in items[data]})
    if not names:
        labels = {name for of_data in items.values() for name in of_data}
        raise WrongUse(f"There is no item '{label}'; {hint(label, labels)}")
    if len(names) > 1:
        raise WrongUse(
            f"Several benchmarks have an item '{label}'; choose one with --benchmark: {', '.join(names)}.",
            code="EH-CHOOSE-SEVERAL",
        )
    places = [one.data for one in benchmarks(ledger) if label in items.get(one.data, {})]
    chosen = [one for one in made if one.data in places]
    data = chosen[-1].data if chosen else places[-1]
    return _Found(
        benchmark=names[0],
        data=data,
        others=len(places) - 1,
        item=items[data][label],
        studies=tuple(one for one in chosen if one.data == data),
    )


def _place(answer: Response) -> tuple[bool, str, bool, str, str]:
    """What an audit made of the answers last; before it the variants apart, in each the reference first."""
    return answer.made_from is not None, answer.variant, answer.model != REFERENCE, answer.model, answer.text


def _altered_from(answer: Response, answers: Sequence[Response]) -> str | None:
    """The model whose answer an audit altered to make this one."""
    return next((one.model for one in answers if one.digest == answer.made_from), None)


def _refuse_unknown(models: Collection[str], said: Sequence[Response]) -> None:
    here = {one.model for one in said}
    for model in models:
        if model not in here:
            raise WrongUse(
                f"No answers of '{model}' to this item are on record; {hint(model, here)}", code="EH-CHOOSE-NOTHING"
            )


def _image(name: str, ledger: Ledger, data: str) -> dict[str, Any]:
    """What is known of an image; its size is null where it is not available, its licence where the data states none."""
    addresses = ledger.images.addresses
    digest = addresses.digests().get(name, name)
    said = {
        "name": name,
        "licence": addresses.licences(data).get(name),
        "origin": addresses.origins(data).get(name),
    }
    try:
        info = inspect(ledger.images.get(digest))
    except ImageError:
        return {**said, "sha256": None, "media_type": None, "width": None, "height": None, "bytes": None}
    return {
        **said,
        "sha256": info.digest,
        "media_type": info.media_type,
        "width": info.width,
        "height": info.height,
        "bytes": info.bytes,
    }


def _trials(record: CaseRecord) -> list[dict[str, Any]]:
    return [
        {
            **record.line(one),
            "variant": max(record.answers[digest].variant for digest in one.trial.responses),
            "replicate": one.trial.replicate,
            "by_name": None if isinstance(verdict, NoVerdict) else by_name(verdict, one.models),
            "replies": [call.call.reply.text for call in record.replies(one)],
        }
        for one in record.showings
        for verdict in [one.judgement.verdict]
    ]


def print_case(document: Mapping[str, Any]) -> None:
    content = document["content"]
    print_heading(f"{document['benchmark']}, item {document['item']}")
    if document["other_data_files"]:
        click.echo(
            typeable(
                f"Other data under this name has an item {document['item']} too; this is of the newest study, data "
                f"{document['data'][:12]}. `evenhand runs` lists runs; `evenhand show RUN` shows another's."
            )
        )
    kinds = [content[name] for name in ("category", "task") if content[name]]
    if kinds:
        click.echo(printable(" · ".join(kinds)))
    _print_question(content)
    _print_images(document["images"])
    _print_texts({"Caption": content["caption"]})
    _print_texts(dict(content["criteria"]))
    _print_texts({"Ground truth": content["ground_truth"]})
    for one in document["descriptions"]:
        _print_texts({f"Images as {one['model']} describes them ({one['variant']})": one["text"]})
    for one in document["answers"]:
        known = ", ".join([*filter(None, [one["variant"]]), *one["flags"], *one["says_to_judge"]])
        whose = f"{one['model']}, made of {one['altered_from']}'s" if one["altered_from"] else one["model"]
        _print_texts({f"Answer of {whose}{f' ({known})' if known else ''}": one["response"]})
    for meeting, trials in _meetings(document["trials"]):
        print_heading(meeting.heading)
        click.echo(indented(meeting.judge, by=0))
        for trial in trials:
            _print_verdict(trial)
    print_lines(document)


def _print_texts(texts: Mapping[str, str | None]) -> None:
    for heading, words in texts.items():
        if words and words.strip():
            print_heading(heading)
            click.echo(indented(words))


def _print_question(content: Mapping[str, Any]) -> None:
    """In its parts, as the paper prints a case; whole too where it is not just the parts put together."""
    brief = cast(Mapping[str, str | None], content.get("brief") or {})
    _print_texts({heading: brief.get(name) for name, heading in _PARTS.items()})
    if not brief or assembled_query(brief).split() != content["instruction"].split():
        _print_texts({"Question": content["instruction"]})


def _print_images(images: Sequence[Mapping[str, Any]]) -> None:
    if images:
        print_heading("Images")
    for number, one in enumerate(images, start=1):
        name = one["name"] if "://" in one["name"] else one["name"][:16]
        if one["sha256"] is None:
            known = "not available"
        else:
            kind = one["media_type"].removeprefix("image/").upper()
            known = f"{one['width']} × {one['height']} pixels, {kind}, {one['bytes'] / 1000:.1f} kB"
        terms = [f"licence {one['licence']}" if one["licence"] else None, one["origin"] and f"from {one['origin']}"]
        click.echo(indented(printable(f"{number}  {name}  {', '.join(filter(None, [known, *terms]))}")))


@dataclass(frozen=True, slots=True)
class _Meeting:
    """Two models before one judge under one protocol."""

    heading: str
    judge: str


def _meetings(trials: Iterable[Mapping[str, Any]]) -> Iterator[tuple[_Meeting, list[Mapping[str, Any]]]]:
    """By name, with their showings, which are in the order of the record."""
    found: dict[_Meeting, list[Mapping[str, Any]]] = {}
    for one in trials:
        pair = sorted(one["models"], key=lambda model: (model == REFERENCE, model))
        variant = f", {one['variant']}" if one["variant"] else ""
        how = f"{one['judge']} {way_of_asking(one)}"
        meeting = _Meeting(heading=f"{' against '.join(pair)}{variant}", judge=how)
        found.setdefault(meeting, []).append(one)
    yield from sorted(found.items(), key=lambda one: (one[0].heading, one[0].judge))


def _print_verdict(trial: Mapping[str, Any]) -> None:
    words = trial["by_name"] or lacking(trial)
    click.secho(indented(f"{trial['models'][0]} first: {words}"), bold=True)
    for number, reply in enumerate(trial["replies"], start=1):
        if number > 1:
            click.echo(indented("The extractor:", by=4))
        click.echo(indented(reply, by=4))
