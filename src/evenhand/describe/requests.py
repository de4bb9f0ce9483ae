"""How varied the requests of a benchmark are: its roles and instructions, as in Creation-MMBench's Fig. 10b."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.describe.pictures import Counted, commonest, counted_json
from evenhand.domain.identity import Json
from evenhand.domain.item import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    instructions: int
    """Different ones."""
    with_role: int
    """Items that give the model a role to play."""
    roles: Counted
    """Different ones with their items, the commonest first."""

    def as_json(self) -> dict[str, Json]:
        return {
            "different_instructions": self.instructions,
            "with_role": self.with_role,
            "different_roles": len(self.roles),
            "roles": counted_json("role", "items", self.roles),
        }


def instruction_of(item: Item) -> str:
    """What is asked for, without the role and the requirements around it where the data tells them apart."""
    return (item.brief and item.brief.instruction) or item.instruction


def requests(items: Sequence[Item]) -> Requests:
    """Texts that differ only in capitals, spaces and the full stop at the end are one."""
    roles = [_plain(item.brief.role) for item in items if item.brief and item.brief.role]
    spelt: dict[str, str] = {}
    for role in roles:
        spelt.setdefault(role.casefold(), role)
    return Requests(
        instructions=len({_plain(instruction_of(item)).casefold() for item in items}),
        with_role=len(roles),
        roles=commonest(spelt[role.casefold()] for role in roles),
    )


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(".")
