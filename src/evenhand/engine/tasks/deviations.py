"""What the user chose otherwise than the paper states: sentences that stay with every judgement."""

from evenhand.domain.rater import Settings
from evenhand.domain.trial import Condition
from evenhand.protocols.protocol import Protocol

BY_CHOICE = "By choice"
"""Begins each of the sentences, unlike those about settings that a provider refused."""


def deviations(protocol: Protocol, condition: Condition, settings: Settings) -> tuple[str, ...]:
    found: list[str] = []
    for name in protocol.published:
        if name == "see":
            published, chosen = protocol.seeing.default, condition.see
        elif name == "image_detail":
            published, chosen = protocol.seeing.detail, condition.image_detail
        else:
            published, chosen = getattr(protocol.settings, name), getattr(settings, name)
        if chosen != published and not _beside_the_point(name, condition):
            found.append(f"{BY_CHOICE}, {name} is {_said(chosen)}, not {_said(published)}.")
    return (*found, *_additions(protocol, condition)) if protocol.published else tuple(found)


def _additions(protocol: Protocol, condition: Condition) -> list[str]:
    """What no paper does."""
    added: list[str] = []
    if condition.fenced:
        added.append(f"{BY_CHOICE}, the answers stand in a fence with a nonce, not as published.")
    if condition.readout == "token" and not protocol.rule.token:
        second = ", and nothing is extracted" if protocol.extraction else ""
        added.append(f"{BY_CHOICE}, only a closing line with a token is read{second}, not as published.")
    if condition.max_image_edge is not None and condition.see in ("images", "both"):
        added.append(
            f"{BY_CHOICE}, images are at most {condition.max_image_edge} pixels wide and high, not as in the data."
        )
    return added


def _beside_the_point(name: str, condition: Condition) -> bool:
    """Whether nothing that is sent depends on it."""
    if name == "image_detail":
        return condition.see not in ("images", "both")
    return name == "max_tokens" and condition.readout == "constrained"


def _said(value: object) -> str:
    if value is None:
        return "as the endpoint has it"
    return f"{value:g}" if isinstance(value, float) else str(value)
