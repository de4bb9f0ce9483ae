"""A submission's receipt: what was judged how, what the row is, and hashes of all that is behind it.

It names no caption, no reference and no word of the judge, no other team, no submission that does not count on the
board, no address of an endpoint and no price: it is given to the team.
"""

import base64
import hashlib
import hmac
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from evenhand import __version__
from evenhand.domain.identity import Json, canonical_json
from evenhand.domain.rater import Rater
from evenhand.domain.study import Study
from evenhand.domain.submission import Approved, Entered
from evenhand.domain.trial import Condition
from evenhand.format.number_ranges import as_ranges
from evenhand.ledger.read.as_of import AsOf
from evenhand.ledger.read.fingerprints import answer_choices, answer_numbers, judgement_numbers, traces
from evenhand.ledger.read.lookup import find_study
from evenhand.ledger.read.newest import newest
from evenhand.ledger.read.projection import StudyOnRecord, benchmarks, items_of, studies
from evenhand.ledger.read.public_benchmarks import opened_benchmarks
from evenhand.ledger.read.votes import JudgedBattles, judged_battles
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import BoardIdentity
from evenhand.ledger.submissions.store import submitted_models
from evenhand.ledger.upkeep.chain import head
from evenhand.ledger.upkeep.signing import sign
from evenhand.reports.board.withheld.released import (
    ReleasedBoard,
    cells_of,
    open_items,
    released_with,
    withheld_rows,
)
from evenhand.reports.papers.scores.visit_bench import ELO_ROUNDS
from evenhand.reports.receipts.ladder import LadderPlace, ladder_row
from evenhand.reports.receipts.row import AsReleased, Telling, coverage_of, moved, placed, row_of, rows_with

KIND = "evenhand-receipt"
SCHEMA = 1
MARK = 3
"""Bytes of each judgement's mark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptSubject:
    submission: str
    label: str
    """The model's name on record."""
    file: str
    """SHA-256 of the submitted file."""
    entered: Entered
    board: BoardIdentity
    study: str
    """Key of the study that places it, or of the first of several."""
    approved: Approved
    counted: tuple[str, ...] = ()
    """Labels of other submissions that count on the board; the receipt names none that does not."""
    ladder: LadderPlace | None = None
    """Where the row is a ladder's; None where it is the board's."""


def make_receipt(ledger: Ledger, subject: ReceiptSubject, as_of: AsOf | None = None) -> dict[str, Json]:
    """As the record stood then, or stands now. Raises LedgerError where the study is not on record."""
    if as_of is None:
        found = newest(ledger)
        as_of = AsOf(judgement=found.judgement, answer=found.answer)
    chosen = [one for one in studies(ledger) if _belongs(one, subject)]
    document: dict[str, Json] = {
        "schema": SCHEMA,
        "kind": KIND,
        **said_of(subject, uncounted(ledger, subject)),
        **told_by_the_record(ledger, subject, as_of, chosen, telling=_telling(ledger, subject, as_of, chosen)),
        "made": {"at": _utc(datetime.now(UTC)), "evenhand": __version__},
        "chain": head(ledger).unnumbered.as_json(),
    }
    document["signature"] = sign(ledger, signed_content(document))
    return {**document, "seal": seal(ledger, document)}


def signed_content(document: Mapping[str, Json]) -> bytes:
    """All but signature and seal."""
    content = {name: value for name, value in document.items() if name not in ("seal", "signature")}
    return canonical_json(content).encode("ascii")


def uncounted(ledger: Ledger, subject: ReceiptSubject) -> frozenset[str]:
    """Labels of the submissions without which the board is: withdrawn, not judged at the time, or come since."""
    return frozenset(submitted_models(ledger).keys() - {subject.label, *subject.counted})


def said_of(subject: ReceiptSubject, unnamed: Collection[str]) -> dict[str, Json]:
    """What team and owner said, which the numbers of the record do not tell; without models that are `unnamed`."""
    approved = asdict(subject.approved)
    del approved["budget"], approved["despite"]  # nobody's business but the owner's
    if not subject.approved.nearest:
        del approved["until"], approved["looks"], approved["max_calls"]
    return {
        "submission": {"id": subject.submission, "label": subject.label, **asdict(subject.entered)},
        "file_sha256": subject.file,
        "approved": {**approved, "opponents": _named(subject.approved.opponents, unnamed)},
    }


def told_by_the_record(
    ledger: Ledger,
    subject: ReceiptSubject,
    as_of: AsOf,
    chosen: Sequence[StudyOnRecord],
    *,
    elo_rounds: int = ELO_ROUNDS,
    telling: Telling | None = None,
    placings: bool = True,
) -> dict[str, Json]:
    """All that can be worked out again from the record as of these numbers. `chosen`: the studies of the board.

    `elo_rounds`: resamples behind Elo's interval. `telling`: how of the reference, where it is withheld. `placings`:
    whether models placed at looks planned beforehand have the interval of those; receipts of earlier versions gave them
    the usual one. Raises LedgerError where the study is not on record.
    """
    study = find_study(ledger, subject.study)
    if study is None or not chosen:
        raise LedgerError(f"The study {subject.study[:12]} that places {subject.label} is not on record.")
    items = {item.digest: item for item in items_of(ledger, subject.board.data)}
    without = uncounted(ledger, subject)
    judged = _as_placed(judged_battles(ledger, chosen, without=without, as_of=as_of), placings=placings)
    said: dict[str, Json] = {
        "benchmark": {"name": chosen[0].benchmark, "data": subject.board.data},
        "judge": _rater(chosen[0].rater),
        "asked": _condition(chosen[0].condition),
        "extractor": None if chosen[0].extractor is None else _rater(chosen[0].extractor),
        "variant": subject.board.variant,
        "counted": sorted(_playing(judged) & {*subject.counted}),
        "study": _study(study, without),
        "board_studies": sorted(one.key for one in chosen),
        "record": _record(ledger, judged, subject.label, as_of),
        **({"placed": sorted(one.plan.new for one in judged.placings)} if judged.placings else {}),
    }
    if subject.ladder is not None:
        row = ladder_row(ledger, subject.label, subject.ladder, chosen, as_of)
        return {**said, "ranking": {}, "row": row, "moved": []}
    others = judged.without([subject.label])
    after, before = (
        placed(subject.label, one if telling is None else telling.told(ledger, one, _released_as(subject)), items)
        for one in (judged, others)
    )
    return {
        **said,
        "ranking": {name: value for name, value in after.board.settings.items() if name != "version"},
        "row": {
            **row_of(after, elo_rounds=elo_rounds, telling=telling),
            "coverage": coverage_of(judged, subject.label).as_json(),
        },
        "moved": moved(before.board.models, after.board.models, withheld=telling is not None),
    }


def _as_placed(judged: JudgedBattles, *, placings: bool) -> JudgedBattles:
    return judged if placings else replace(judged, placings=())


def _withholds(ledger: Ledger, subject: ReceiptSubject) -> bool:
    """Whether something of the benchmark is not for everybody."""
    data = subject.board.data
    return data not in opened_benchmarks(ledger) and not any(
        one.sample for one in benchmarks(ledger) if one.data == data
    )


def _telling(ledger: Ledger, subject: ReceiptSubject, as_of: AsOf, chosen: Sequence[StudyOnRecord]) -> Telling | None:
    """What the receipt tells is released by it, so that no other one, and no board, tells a part of it; a ladder's row
    tells nothing of that kind."""
    if subject.ladder is not None or not chosen or not _withholds(ledger, subject):
        return None
    judged = judged_battles(ledger, chosen, without=uncounted(ledger, subject), as_of=as_of)
    free = open_items(ledger, subject.board.data)
    cells = cells_of(ledger, subject.board.data)
    version = released_with(ledger, _released_as(subject), judged, cells=cells, open_items=free)
    open_rows = withheld_rows(judged) & ~withheld_rows(judged, free)
    return Telling(released=AsReleased(version=version, open=frozenset(judged.results.seq[open_rows].tolist())))


def _released_as(subject: ReceiptSubject) -> ReleasedBoard:
    board = subject.board
    return ReleasedBoard.judged_by(
        f"receipt {subject.submission}", judge=board.rater, condition=board.condition, variant=board.variant
    )


def seal(ledger: Ledger, document: Mapping[str, Json]) -> str:
    """Of all but the seal itself; only who has the ledger can make one, so that none fits a receipt that was edited."""
    content = canonical_json({name: value for name, value in document.items() if name != "seal"})
    return _keyed(ledger.fence_secret(), content.encode("ascii")).hex()


def digest(ledger: Ledger, hashes: Iterable[bytes]) -> str:
    """Of the hashes of judgements, sorted, keyed with the ledger's secret: who knows all that a judge was shown could
    else try out which of its few words, and so which verdicts, are behind it."""
    return hmac.new(ledger.fence_secret(), b"receipt digest\n" + _sorted(hashes), hashlib.sha256).hexdigest()


def is_digest(ledger: Ledger, said: object, hashes: Collection[bytes]) -> bool:
    """Also as receipts of earlier versions have it, which took no secret."""
    return said in (digest(ledger, hashes), hashlib.sha256(_sorted(hashes)).hexdigest())


def _sorted(hashes: Iterable[bytes]) -> bytes:
    return b"".join(sorted(hashes))


def marks(ledger: Ledger, hashes: Mapping[int, bytes]) -> dict[int, bytes]:
    """Of each judgement a few bytes that tell which one was changed; without the ledger's secret they tell nothing."""
    secret = ledger.fence_secret()
    return {number: _keyed(secret, one)[:MARK] for number, one in hashes.items()}


def answers_seal(ledger: Ledger, *, until: int) -> str:
    """Of which answers stood, in their order; only who has the ledger can make one."""
    keyed = hmac.new(ledger.fence_secret(), b"receipt answers\n", hashlib.sha256)
    for choice in answer_choices(ledger, until=until):
        keyed.update(canonical_json(list(choice)).encode("ascii") + b"\n")
    return keyed.hexdigest()


def _keyed(secret: bytes, content: bytes) -> bytes:
    return hmac.new(secret, b"receipt\n" + content, hashlib.sha256).digest()


def _belongs(one: StudyOnRecord, subject: ReceiptSubject) -> bool:
    """To the board: those of its identity that have a verdict, and in any case the one that places the model."""
    identity = BoardIdentity(data=one.data, rater=one.rater.key, condition=one.condition.key, variant=one.variant)
    return identity == subject.board and (one.decided or one.key == subject.study)


def _record(ledger: Ledger, judged: JudgedBattles, label: str, as_of: AsOf) -> dict[str, Json]:
    numbers: list[int] = judged.results.seq.tolist()
    row: set[int] = {*judged.results.rows(rows_with(judged.results, label)).seq.tolist()}
    hashes: dict[int, bytes] = {}
    readers: set[str] = set()
    for trace in traces(ledger, numbers):
        hashes[trace.seq] = trace.hash
        if trace.seq in row:
            readers.add(trace.reader)
    marked = marks(ledger, hashes)
    return {
        "judgement": as_of.judgement,
        "answer": as_of.answer,
        "judgements": as_ranges(judgement_numbers(ledger, until=as_of.judgement)),
        "answers": as_ranges(answer_numbers(ledger, until=as_of.answer)),
        "answers_seal": answers_seal(ledger, until=as_of.answer),
        "readers": sorted(readers),
        "row_judgements": as_ranges(sorted(row)),
        "row_sha256": digest(ledger, (hashes[number] for number in row)),
        "board_judgements": as_ranges(sorted(hashes)),
        "board_sha256": digest(ledger, hashes.values()),
        "board_marks": base64.b64encode(b"".join(marked[number] for number in sorted(marked))).decode("ascii"),
    }


def _playing(judged: JudgedBattles) -> set[str]:
    """The models that were judged, or are to be."""
    return {*judged.results.models, *(model for one in judged.not_asked for model in one.models)}


def _named(models: Iterable[str], unnamed: Collection[str]) -> list[Json]:
    return [model for model in models if model not in unnamed]


def _rater(rater: Rater) -> dict[str, Json]:
    # An address of the owner's own is nobody's business; the key holds its hash.
    endpoint = None if "://" in rater.endpoint else rater.endpoint
    return {"name": rater.name, "endpoint": endpoint, "settings": rater.settings.as_json(), "key": rater.key}


def _condition(condition: Condition) -> dict[str, Json]:
    names = ("protocol", "prompt_hash", "readout", "see", "fenced", "image_detail", "max_image_edge", "key")
    return {name: getattr(condition, name) for name in names}


def _study(study: Study, unnamed: Collection[str]) -> dict[str, Json]:
    names = ("key", "pairing", "new", "battles", "reference_battles", "orders", "replicates", "seed", "answers")
    fields: dict[str, Json] = {name: getattr(study, name) for name in names}
    looks = {} if study.looks is None else {"looks": study.looks.shared.as_json()}
    return {**fields, "models": _named(study.models, unnamed), "items": len(study.items), **looks}


def _utc(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
