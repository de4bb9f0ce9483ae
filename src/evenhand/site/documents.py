"""What the API says of boards, battles, people and the owner's lists: the shapes of its documents."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from evenhand.site.accounts.store import AccessKind, Fault, Role
from evenhand.site.openapi import Versioned


class BoardListed(TypedDict):
    board: str
    benchmark: str
    data: str
    sample: bool
    judge: str
    protocol: str
    readout: str
    variant: str | None
    trials: int


class BoardsDocument(Versioned):
    boards: list[BoardListed]


class JudgesOfVariant(Versioned):
    """As `evenhand judges --json` prints them; an estimate `x` of a judge comes with `x_lower`, `x_upper`, `x_n`."""

    variant: str
    about: str
    judges: list[dict[str, Any]]
    take: str | None
    conclusion: str
    notes: list[str]


class JudgesDocument(Versioned):
    variants: list[JudgesOfVariant]


class BoardModel(TypedDict):
    """A row. An estimate `x` comes with `x_lower`, `x_upper`, `x_n`, and `x_reason` where it has no value."""

    model: str
    name: NotRequired[str]
    rating: float | None
    rating_lower: float | None
    rating_upper: float | None
    rating_n: float | None
    rating_reason: NotRequired[str]
    unbounded: NotRequired[str]
    median: float | None
    rank: int | None
    rank_lower: int | None
    rank_upper: int | None
    rank_own_lower: int | None
    rank_own_upper: int | None
    tier: int | None
    win_rate: float | None
    win_rate_lower: float | None
    win_rate_upper: float | None
    win_rate_n: float | None
    win_rate_reason: NotRequired[str]
    wins: float
    losses: float
    ties: float
    component: int | None
    provisional: bool
    note: str | None
    placed: dict[str, Any] | None
    mean_win_rate: float | None
    mean_win_rate_lower: float | None
    mean_win_rate_upper: float | None
    mean_win_rate_n: float | None
    mean_win_rate_reason: NotRequired[str]
    win_rate_creation: float | None
    win_rate_creation_lower: float | None
    win_rate_creation_upper: float | None
    win_rate_creation_n: float | None
    win_rate_creation_reason: NotRequired[str]
    win_rate_visit: float | None
    win_rate_visit_lower: float | None
    win_rate_visit_upper: float | None
    win_rate_visit_n: float | None
    win_rate_visit_reason: NotRequired[str]
    elo: float | None
    answers_shown: int | None
    writes_verdicts: int | None
    gives_orders: int | None
    verdict_items: list[str] | None
    order_items: list[str] | None
    missing: int | None
    missing_share: float | None
    missing_more_than_others: bool | None
    lost: int | None
    lost_of: int | None
    lost_more_than_others: bool | None


class BoardDocument(Versioned):
    """As `evenhand rank --json` prints it; docs/reference/json.md has the fields within."""

    method: str
    unit: str
    settings: dict[str, Any]
    source: str | None
    source_sha256: str | None
    columns: dict[str, str | None] | None
    benchmark: str | None
    sample: bool
    judge: str | None
    protocol: str | None
    readout: str | None
    see: str | None
    votes: int
    battles: float
    items: int | None
    clusters: dict[str, Any]
    people: dict[str, Any] | None
    soft: dict[str, Any] | None
    jury: dict[str, Any] | None
    models: list[BoardModel]
    equal_length: NotRequired[bool]
    version: NotRequired[int]
    """Of what is released, where something is withheld; 0 before anything is."""
    people_left_out: NotRequired[int]
    """By the owner; where people judged."""
    unclustered: list[dict[str, Any]] | None
    order_effect: dict[str, Any] | None
    length_effect: dict[str, Any] | None
    ordinal: dict[str, Any] | None
    matrix: dict[str, Any] | None
    cycles: dict[str, Any] | None
    bands: dict[str, Any] | None
    tipping_point: dict[str, Any] | None
    davidson: dict[str, Any] | None
    fit: list[dict[str, Any]] | None
    neighbours: list[dict[str, Any]]
    coverage: dict[str, Any] | None
    reliability: dict[str, Any] | None
    notes: list[str]
    audit: NotRequired[dict[str, Any] | None]


class BattleListed(TypedDict):
    item: str
    label: str
    opponent: str
    result: str


class BattlesDocument(Versioned):
    model: str
    total: int
    page: int
    battles: list[BattleListed]


class BattleAnswer(TypedDict):
    model: str
    response: str
    says_to_judge: list[str]


class ShowingListed(TypedDict):
    models: list[str]
    rater: str
    winner: str | None
    verdict: str
    replies: list[str]
    replicate: int
    at: float | None


class BattleDocument(Versioned):
    item: str
    instruction: str
    category: str | None
    caption: str | None
    reference: str | None
    images: list[str | None]
    withheld: bool
    answers: list[BattleAnswer]
    showings: list[ShowingListed]


class PersonListed(TypedDict):
    person: str
    role: Role
    name: str | None
    at: float


class PersonDocument(Versioned, PersonListed):
    pass


class PeopleDocument(Versioned):
    people: list[PersonListed]


class TokenDocument(Versioned):
    id: str
    key: str
    token: str


class KeyListed(TypedDict):
    key: str
    kind: AccessKind
    note: str
    expires: float


class KeysDocument(Versioned):
    keys: list[KeyListed]


class InvitationListed(TypedDict):
    id: str
    invitation: str
    role: Role
    note: str
    uses_left: int
    expires: float
    state: Fault | Literal["open"]


class InvitationsDocument(Versioned):
    invitations: list[InvitationListed]


class InvitationDocument(Versioned):
    id: str
    invitation: str
    link: str


class LinkDocument(Versioned):
    link: str
    expires: float


class BenchmarkListed(TypedDict):
    benchmark: str
    data: str
    open: bool


class BenchmarksDocument(Versioned):
    benchmarks: list[BenchmarkListed]


class LogEntry(TypedDict):
    seq: int
    at: float
    what: str
    person: str | None
    address: str
    detail: str


class LogDocument(Versioned):
    events: list[LogEntry]
