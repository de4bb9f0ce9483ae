"""A protocol as a document."""

from typing import Any

from evenhand.domain.estimate import whole
from evenhand.domain.identity import Json
from evenhand.prompts import Template
from evenhand.protocols.patterns import Pattern
from evenhand.protocols.protocol import Protocol


def facts(protocol: Protocol) -> dict[str, Json]:
    return {
        "protocol": protocol.name,
        "kind": protocol.kind,
        "levels": protocol.levels,
        "source": protocol.source,
        "slots": sorted(protocol.slots),
        "optional": sorted(protocol.optional),
        "extraction": protocol.extraction.name if protocol.extraction else None,
        "see": {"default": protocol.seeing.default, "allowed": list(protocol.seeing.allowed)},
        "settings": protocol.settings.as_json(),
        "published": list(protocol.published),
        "against": protocol.against,
        "readouts": ["token" if protocol.rule.token else "free", *(["constrained"] if protocol.constrained else [])],
        "prompt_hash": protocol.prompt_hash,
        "reader": protocol.reader,
        "reading": _reading(protocol),
        "constrained": _constrained(protocol),
    }


def _reading(protocol: Protocol) -> dict[str, Json]:
    rule = protocol.rule
    return {
        "pattern": _source(rule.pattern),
        "unmarked": _source(rule.unmarked) if rule.unmarked else None,
        "take": rule.take,
        "ignore_case": rule.ignore_case,
        "ignore_space": rule.ignore_space,
        "token": rule.token,
        "range": list(rule.range) if rule.range else None,
        "values": {text: whole(value) for text, value in rule.values.items()},
    }


def _source(pattern: Pattern) -> str:
    return str(getattr(pattern.regexp, "pattern", pattern.regexp))


def _constrained(protocol: Protocol) -> Json:
    offered = protocol.constrained
    return {"begin": offered.begin, "answers": dict(offered.answers)} if offered else None


def reading_lines(protocol: Protocol) -> list[str]:
    """The reading rule for people."""
    reading, offered = _reading(protocol), protocol.constrained
    lines = [f"pattern      {reading['pattern']}"]
    lines += [f"unmarked     {reading['unmarked']}"] if reading["unmarked"] else []
    lines += [f"take         {reading['take']}: {_TAKES[protocol.rule.take]}"]
    lines += ["token        only what follows the trial's token on its line is read"] if protocol.rule.token else []
    ignored = [word for word in ("case", "space") if reading[f"ignore_{word}"]]
    lines += [f"ignored      {', '.join(ignored)}"] if ignored else []
    lines += [f"range        {protocol.rule.range[0]:g} to {protocol.rule.range[1]:g}"] if protocol.rule.range else []
    for_first = ", for the response shown first" if protocol.kind == "preference" else ""
    if protocol.rule.values:
        values = ", ".join(f"{text} is {_number(protocol, value)}" for text, value in protocol.rule.values.items())
        lines.append(f"values       {values}{for_first}")
    if offered:
        answers = ", ".join(f"{text!r} is {_number(protocol, value)}" for text, value in offered.answers.items())
        lines.append(f"constrained  {offered.begin!r} goes on with one of: {answers}{for_first}")
    return lines


_TAKES = {
    "last": "the last decision in the reply counts",
    "agree": "decisions that differ are no verdict",
}


def _number(protocol: Protocol, value: float) -> str:
    return f"{value:+g}" if protocol.kind == "preference" else f"{value:g}"


def turns(protocol: Protocol) -> list[dict[str, Any]]:
    return [
        {
            "role": turn.role,
            "text": _with_slots(turn.template),
            "constrained": _with_slots(turn.constrained) if turn.constrained else None,
            "where": {slot: _with_slots(template) for slot, template in turn.where.items()},
        }
        for turn in protocol.turns
    ]


def _with_slots(template: Template) -> str:
    return template.fill({slot: "{{" + slot + "}}" for slot in template.slots})
