"""A protocol as a document."""

from typing import Any

from evenhand.domain.identity import Json
from evenhand.prompts import Template
from evenhand.protocols.protocol import Protocol


def facts(protocol: Protocol) -> dict[str, Json]:
    return {
        "protocol": protocol.name,
        "kind": protocol.kind,
        "levels": protocol.levels,
        "source": protocol.source,
        "slots": sorted(protocol.slots),
        "see": {"default": protocol.seeing.default, "allowed": list(protocol.seeing.allowed)},
        "settings": protocol.settings.as_json(),
        "readouts": ["free", "constrained"] if protocol.constrained else ["free"],
        "prompt_hash": protocol.prompt_hash,
        "reader": protocol.reader,
    }


def turns(protocol: Protocol) -> list[dict[str, Any]]:
    return [
        {
            "role": turn.role,
            "text": _with_slots(turn.template),
            "constrained": _with_slots(turn.constrained) if turn.constrained else None,
        }
        for turn in protocol.turns
    ]


def _with_slots(template: Template) -> str:
    return template.fill({slot: "{{" + slot + "}}" for slot in template.slots})
