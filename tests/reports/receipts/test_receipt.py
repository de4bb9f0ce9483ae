"""Claims about a receipt: what it says of a row, what it holds of what is behind it, and what it keeps to itself."""

import copy
import hashlib
import hmac
import json
import shutil
import sqlite3
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest

from evenhand.cli.server.submission_work import receipt_of
from evenhand.domain.estimate import Estimate
from evenhand.domain.rater import Rater
from evenhand.domain.response import REFERENCE
from evenhand.domain.submission import Judged, SubmissionTerms, Withdrawn
from evenhand.format.number_ranges import from_ranges
from evenhand.ledger.read.board_versions import NewVersion, VerdictBatch, add_version, released_so_far
from evenhand.ledger.read.projection import studies
from evenhand.ledger.read.public_benchmarks import close_benchmark, open_benchmark
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import BoardIdentity, intakes_on_record, open_intake
from evenhand.ledger.submissions.store import Submission, find_submission, tell
from evenhand.reports.board.board import BoardRow
from evenhand.reports.board.ranking import rank
from evenhand.reports.receipts.check import verify
from evenhand.reports.receipts.reading import read_receipt
from evenhand.reports.receipts.receipt import ReceiptSubject, make_receipt, told_by_the_record
from evenhand.reports.receipts.row import Telling, moved
from evenhand.site.boards.listing import boards_on_record
from evenhand.site.boards.standings import released_of
from tests.refusals import refused, tells
from tests.reports.receipts.receipt_scene import (
    BENCHMARK,
    CAPTION,
    ITEMS,
    JUDGE,
    OTHER_TEAM,
    PLAYERS,
    TRUTH,
    WORDS,
    House,
    Receipted,
    Shown,
    another_joins,
    copied,
    receipted,
)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(folder=tmp_path)
    yield made
    made.ledger.close()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bool], Receipted]:
    """Everybody meets everybody on all six items, and the judge takes whom it thinks better, but on item i0 and against
    the reference alone whom it sees first. Its ledger is closed and only copied."""

    @cache
    def made(withheld: bool) -> Receipted:
        house = House(folder=tmp_path_factory.mktemp("made"), battles=18, reference_battles=6, opened=not withheld)

        def takes(shown: Shown) -> str:
            first = shown.item == "i0" and REFERENCE in (shown.first, shown.second)
            return shown.first if first else house.better(shown)

        found = receipted(house, takes=takes)
        house.ledger.close()
        return found

    return made


@pytest.fixture
def complete(
    finished: Callable[[bool], Receipted], tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Receipted]:
    """Of its own. Nothing is withheld, unless asked for."""
    found = copied(finished(getattr(request, "param", False)), tmp_path / "copied")
    with closing(Ledger(found.house.url)) as found.house.ledger:
        yield found


def of(receipt: Any, *path: str) -> Any:
    for name in path:
        receipt = receipt[name]
    return receipt


def test_the_row_is_worked_out_by_hand(complete: Receipted):
    """The model beats blue (12 votes), loses to amber (12), and to the reference but where it stands first on i0."""
    row = of(complete.receipt, "row")
    assert row["votes"] == {"played": 36, "wins": 13, "losses": 23, "ties": 0}
    assert row["battles"] == {"played": 18, "wins": 6, "losses": 11, "ties": 1}
    assert (row["win_vs_reference"], row["win_vs_reference_n"]) == (round(1 / 12, 3), 12)
    assert row["coverage"] == {"wanted": 36, "with_verdict": 36, "reasons": {}}
    visit = row["visit"]
    assert (visit["matches"], visit["wins"], visit["losses"], visit["ties"]) == (18, 6, 11, 1)
    assert (visit["win_vs_reference"], visit["win_vs_reference_n"], visit["win_vs_reference_ties"]) == (0, 5, 1)
    # i0 and i3 are counting, i1 and i4 colours, i2 and i5 of no category.
    assert [(one["category"], one["wins"], one["losses"]) for one in row["categories"]] == [
        ("colours", 4, 8),
        ("counting", 5, 7),
    ]
    assert [one["win_rate"] for one in row["categories"]] == [round(4 / 12, 3), round(5 / 12, 3)]


@pytest.mark.parametrize("complete", [True], indirect=True)
def test_of_a_withheld_reference_the_row_tells_no_skill_and_no_digits_that_nobody_knows(complete: Receipted):
    row = of(complete.receipt, "row")
    assert row["withheld"] is True
    assert (row["win_vs_reference"], row["win_vs_reference_n"]) == (0.1, 12), "six items may be told together"
    # Against amber and blue alone: what is left of a skill would else be two battles.
    assert [(one["category"], one["wins"], one["losses"]) for one in row["categories"]] == [
        ("colours", 4, 4),
        ("counting", 4, 4),
    ]
    assert row["rating"] % 10 == 0
    row_check = {
        one.name: one
        for one in verify(complete.house.ledger, read_receipt(json.dumps(complete.receipt).encode())).checks
    }
    assert row_check["row"].ok, row_check["row"].differs


@pytest.mark.parametrize("complete", [True], indirect=True)
def test_receipts_of_before_withheld_verdicts_were_dealt_or_released_agree_too(complete: Receipted):
    ledger, sent = complete.house.ledger, read_receipt(json.dumps(complete.receipt).encode())
    earliest, earlier = (
        told_by_the_record(ledger, sent.subject, sent.as_of, studies(ledger), telling=Telling(deal=deal))
        for deal in (False, True)
    )
    flags = [{"dealt", "released"} & {*of(one, "row")} for one in (earliest, earlier, complete.receipt)]
    assert flags == [set(), {"dealt"}, {"dealt", "released"}]
    for older in (earliest, earlier):
        found = verify(ledger, read_receipt(json.dumps({**complete.receipt, **older}).encode()))
        assert next(one for one in found.checks if one.name == "row").ok


def test_what_of_others_is_not_released_yet_counts_in_no_receipt(tmp_path: Path):
    """Of amber and the reference five items are on the board and a sixth waits; whoever wins it, the receipt says the
    same, also when it is checked after the sixth was released."""
    house = House(folder=tmp_path / "before", battles=18, reference_battles=6, opened=False)
    founding = house.judged(PLAYERS, takes=lambda shown: _first_of_one_item(house, shown), items=ITEMS[:5])
    (board,) = boards_on_record(house.ledger)
    released_of(house.ledger, board)
    terms = SubmissionTerms(policy="None.")
    mine = house.approved(open_intake(house.ledger, BENCHMARK.name, house.board(founding), terms, by="owner"))
    house.ledger.close()
    won, lost = (_with_a_sixth(house, tmp_path / who, mine, who) for who in ("amber", REFERENCE))
    assert won == lost
    assert {one["model"] for one in won["moved"]} == {*PLAYERS}


def _first_of_one_item(house: House, shown: Shown) -> str:
    return shown.first if shown.item == ITEMS[0].label else house.better(shown)


def _with_a_sixth(house: House, folder: Path, mine: Submission, last: str) -> Any:
    """What the receipt tells of a model that joins after `last` won amber's sixth battle against the reference."""
    shutil.copytree(house.folder, folder)
    there = copy.copy(house)
    there.folder = folder
    amber = {"amber", REFERENCE}

    def takes(shown: Shown) -> str:
        waits = shown.item == ITEMS[5].label and {shown.first, shown.second} == amber
        return last if waits else _first_of_one_item(house, shown)

    with closing(Ledger(there.url)) as ledger:
        there.ledger = ledger
        there.judged(PLAYERS, takes=takes, items=ITEMS[5:])
        placing = there.judged([*PLAYERS, mine.label], new=mine.label, takes=takes)
        receipt = make_receipt(ledger, there.subject(placing, mine.id))
        results = judged_battles(ledger, studies(ledger)).results
        rows = zip(results.seq.tolist(), results.each(), strict=True)
        sixth = tuple(seq for seq, (item, two, _) in rows if item == ITEMS[5].digest and {*two} == amber)
        (board,) = boards_on_record(ledger)
        late = [VerdictBatch(models=("amber", REFERENCE), judgements=sixth)]
        new = NewVersion(board=board.id, judge=board.judged_as, batches=late, judgement=sixth[-1], counted="")
        add_version(ledger, new, seen=of(receipt, "row", "released", "version"))
        assert len(released_so_far(ledger, board.id, board.judged_as).batches) == 4
        found = verify(ledger, read_receipt(json.dumps(receipt).encode()))
        assert next(one for one in found.checks if one.name == "row").ok
    assert of(receipt, "row", "win_vs_reference_n") == 12
    return {"row": of(receipt, "row"), "moved": of(receipt, "moved")}


def test_what_another_benchmark_shows_of_the_reference_counts_in_a_receipt_and_hides_nothing(tmp_path: Path):
    """Two of six items are open elsewhere: the other four are too few. Closed since, the receipt agrees as before."""
    house = House(folder=tmp_path, battles=18, reference_battles=6, opened=False)
    sample = replace(BENCHMARK, name="two of them", items=ITEMS[:2])
    house.ledger.register_benchmark(sample)
    open_benchmark(house.ledger, sample.digest, by=None)
    receipt = receipted(house, takes=house.better).receipt
    assert of(receipt, "row", "win_vs_reference_n") == 4
    assert len(from_ranges(of(receipt, "row", "released", "open"), most=72)) == 3 * 4, "of three models"
    close_benchmark(house.ledger, sample.digest)
    found = verify(house.ledger, read_receipt(json.dumps(receipt).encode()))
    assert found.verified, [one.differs for one in found.checks]
    for broken, field in (
        ({"version": "1", "open": ""}, "version"),
        ({"version": 1, "open": "9-"}, "open"),
        (4, "open"),
    ):
        row = {**of(receipt, "row"), "released": broken}
        found = verify(house.ledger, read_receipt(json.dumps({**receipt, "row": row}).encode()))
        tells(" ".join(next(one.differs for one in found.checks if one.name == "row")), f"row.released.{field}")
    house.ledger.close()


def test_rating_rank_and_the_others_before_and_after_are_those_of_the_boards(complete: Receipted):
    ledger, label = complete.house.ledger, complete.subject.label
    now = {one.model: one for one in rank(judged_battles(ledger, studies(ledger))).models}
    before = {one.model: one for one in rank(judged_battles(ledger, studies(ledger), without=[label])).models}
    # All stand in one component: the mean of the three others is set back to where it was.
    others = ("amber", "blue", REFERENCE)
    shift = sum((now[name].rating.value or 0) - (before[name].rating.value or 0) for name in others) / 3
    assert abs(shift) > 10, "a newcomer below the mean lifts everybody"
    row, mine = of(complete.receipt, "row"), now[label]
    assert mine.rating.value is not None
    assert row["rating"] == pytest.approx(mine.rating.value, abs=0.051)
    assert (row["rank"], row["rank_lower"], row["rank_upper"]) == (mine.rank, mine.rank_lower, mine.rank_upper)
    assert (row["rank"], row["models"]) == (3, 4)
    told = of(complete.receipt, "moved")
    assert {one["model"] for one in told} == {*others}
    for one in told:
        assert one["before"] == pytest.approx(before[one["model"]].rating.value, abs=0.051)
        assert one["after"] == pytest.approx((now[one["model"]].rating.value or 0) - shift, abs=0.051)
    assert sum(one["after"] for one in told) == pytest.approx(sum(one["before"] for one in told), abs=0.31)


def _standing(model: str, rating: float | None, component: int | None = 1) -> BoardRow:
    known = Estimate(value=rating) if rating is not None else Estimate(value=None, reason="no battles")
    return BoardRow(
        model=model, rank=1, rating=known, win_rate=known, wins=1, losses=1, ties=0, component=component
    )  # fmt: skip


def test_a_newcomer_that_only_shifts_the_scale_moves_nobody():
    before = [_standing("a", 1010), _standing("b", 990)]
    after = [_standing("a", 1060), _standing("b", 1040), _standing("new", 900)]
    assert moved(before, after) == [
        {"model": "a", "before": 1010, "after": 1010},
        {"model": "b", "before": 990, "after": 990},
    ]


def test_components_that_a_newcomer_joins_keep_their_means_apart():
    """Before, c and d were never compared with a and b: that they turn out weaker is no movement."""
    before = [_standing("a", 1010), _standing("b", 990), _standing("c", 1005, 2), _standing("d", 995, 2)]
    after = [
        _standing("a", 1112),
        _standing("b", 1088),
        _standing("new", 1000),
        _standing("c", 905),
        _standing("d", 895),
    ]
    assert [(one["model"], one["before"], one["after"]) for one in cast(Any, moved(before, after))] == [
        ("a", 1010, 1012),
        ("b", 990, 988),
        ("c", 1005, 1005),
        ("d", 995, 995),
    ]


def test_who_has_no_rating_before_or_after_has_not_moved():
    before = [_standing("a", 1000), _standing("b", None, None)]
    after = [_standing("a", 950), _standing("b", 1050), _standing("c", 1000), _standing("new", 1000)]
    assert moved(before, after) == [{"model": "a", "before": 1000, "after": 1000}]
    assert moved(after, [_standing("a", None, None)]) == []


def test_it_says_what_was_judged_how(complete: Receipted):
    receipt, study = complete.receipt, complete.placing.study
    condition = complete.placing.asking.condition
    assert of(receipt, "benchmark") == {"name": "visit-bench", "data": study.data}
    assert of(receipt, "judge") == {"name": JUDGE.name, "endpoint": JUDGE.endpoint, "settings": {}, "key": JUDGE.key}
    assert of(receipt, "extractor", "key") == condition.extractor
    assert {name: of(receipt, "asked", name) for name in ("protocol", "prompt_hash", "readout", "see", "key")} == {
        "protocol": "visit_pairwise",
        "prompt_hash": condition.prompt_hash,
        "readout": "free",
        "see": "caption",
        "key": study.condition,
    }
    assert of(receipt, "study", "key") == study.key
    assert of(receipt, "study", "seed") == 5
    assert of(receipt, "record", "readers") == [complete.placing.asking.protocol.reader]
    assert of(receipt, "approved") == {
        "opponents": ["amber", "blue", REFERENCE],
        "battles": 18,
        "reference_battles": 6,
        "seed": 5,
    }
    assert of(receipt, "file_sha256") == complete.subject.file
    assert of(receipt, "made", "at").endswith("Z")


def test_it_holds_no_withheld_word_no_other_team_and_no_price(complete: Receipted):
    other = another_joins(complete)
    again = make_receipt(complete.house.ledger, replace(complete.subject, counted=(other.label,)))
    for receipt in (complete.receipt, again):
        written = json.dumps(receipt)
        for phrase in (CAPTION, TRUTH, WORDS, OTHER_TEAM, "777.125", "usd", "cost", "says so"):
            assert phrase not in written, phrase
    assert other.label in json.dumps(again)
    assert complete.house.ledger.fence_secret().hex() not in json.dumps(again)


def test_the_digests_are_those_of_a_second_reading(complete: Receipted):
    """With nothing but the database's own driver and hashlib."""
    with closing(sqlite3.connect(complete.house.database)) as database:
        replies = {
            key: _hash("reply\n", [text, finish, reasoning, model, offered, bool(forced)]).hex()
            for key, text, finish, reasoning, model, offered, forced in database.execute(
                "SELECT key, text, finish, reasoning, model, offered, forced FROM calls"
            )
        }
        hashes = {
            seq: _hash("", [trial, reader, names, [replies[name] for name in names], verdict, reason])
            for seq, trial, reader, calls, verdict, reason in database.execute(
                "SELECT seq, trial, reader, calls, verdict, reason FROM judgements"
            )
            for names in [json.loads(calls)]
        }
        secret = bytes.fromhex(database.execute("SELECT value FROM meta WHERE name = 'fence_secret'").fetchone()[0])
    record = of(complete.receipt, "record")
    assert (record["board_judgements"], record["row_judgements"]) == ("1-72", "37-72")
    board, row = (b"".join(sorted(one for seq, one in hashes.items() if seq > first)) for first in (0, 36))
    assert record["board_sha256"] == hmac.new(secret, b"receipt digest\n" + board, "sha256").hexdigest()
    assert record["row_sha256"] == hmac.new(secret, b"receipt digest\n" + row, "sha256").hexdigest()
    marks = [hmac.digest(secret, b"receipt\n" + hashes[seq], "sha256")[:3] for seq in sorted(hashes)]
    assert b64decode(record["board_marks"]) == b"".join(marks)


def _hash(kind: str, content: Any) -> bytes:
    written = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{kind}{written}".encode()).digest()


def test_what_was_not_asked_is_missing_from_its_coverage(house: House):
    made = receipted(house, limit=5)
    assert of(made.receipt, "row", "coverage", "wanted") == 20
    assert of(made.receipt, "row", "coverage", "with_verdict") == 5
    assert of(made.receipt, "record", "row_judgements") == "37-41"


def test_a_model_without_a_verdict_has_a_row_without_a_rating(house: House):
    made = receipted(house, limit=0)
    row = of(made.receipt, "row")
    assert (row["rating"], row["rank"], row["votes"]["played"]) == (None, None, 0)
    assert row["rating_reason"]
    assert row["coverage"] == {"wanted": 20, "with_verdict": 0, "reasons": {}}
    assert (of(made.receipt, "record", "row_judgements"), row["categories"], row["visit"]) == ("", [], None)
    assert all(one["before"] == one["after"] for one in of(made.receipt, "moved"))


def test_elo_of_a_row_is_that_of_the_whole_board_and_has_these_fields_alone(complete: Receipted):
    """Receipts that teams hold are worked out again: what is added to other tables must not add to theirs."""
    visit = of(complete.receipt, "row", "visit")
    assert sorted(visit) == [
        "elo", "elo_lower", "elo_n", "elo_rounds", "elo_upper", "losses", "matches", "provisional", "ties",
        "win_vs_reference", "win_vs_reference_lower", "win_vs_reference_n", "win_vs_reference_ties",
        "win_vs_reference_upper", "wins",
    ]  # fmt: skip
    assert sorted(of(complete.receipt, "row", "categories")[0]) == [
        "category", "losses", "ties", "win_rate", "win_rate_lower", "win_rate_n", "win_rate_upper", "wins",
    ]  # fmt: skip


def test_a_model_that_does_not_count_is_on_no_side_of_the_receipt(house: House):
    made = receipted(house)
    other = another_joins(made)
    both = make_receipt(house.ledger, replace(made.subject, counted=(other.label,)))
    without = make_receipt(house.ledger, made.subject)
    assert other.label in {one["model"] for one in of(both, "moved")}
    assert of(both, "counted") == [other.label]
    assert other.label not in {one["model"] for one in of(without, "moved")}
    assert of(without, "counted") == []
    assert of(without, "row") == of(made.receipt, "row")
    assert of(without, "moved") == of(made.receipt, "moved")
    assert of(without, "record", "board_sha256") == of(made.receipt, "record", "board_sha256")
    assert of(both, "record", "board_sha256") != of(made.receipt, "record", "board_sha256")


def judged_as_a_worker_does(house: House, submission: str, study: str) -> dict[str, Any]:
    """Its receipt, which is told."""
    (intake,) = intakes_on_record(house.ledger)
    found = find_submission(house.ledger, submission)
    assert found
    receipt = dict(receipt_of(house.ledger, found, intake, study))
    tell(house.ledger, submission, Judged(receipt=receipt), person=None)
    return receipt


def test_it_names_others_that_count_and_none_that_is_withdrawn_or_being_judged(house: House):
    """A counts, B was withdrawn after C's approval named it as an opponent and they met, D is being judged."""
    made = receipted(house)
    first = made.subject.submission
    (intake,) = intakes_on_record(house.ledger)
    withdrawn, pending = another_joins(made), another_joins(made)
    mine = house.approved(intake.id, opponents=(*PLAYERS, made.subject.label, withdrawn.label))
    placing = house.judged([*PLAYERS, made.subject.label, withdrawn.label, mine.label], new=mine.label)
    tell(house.ledger, withdrawn.id, Withdrawn(), person="p1")
    receipt = judged_as_a_worker_does(house, mine.id, placing.study.key)
    written = json.dumps(receipt)
    assert withdrawn.label in placing.study.models
    assert withdrawn.id not in written
    assert pending.id not in written
    assert receipt["counted"] == [made.subject.label]
    assert receipt["approved"]["opponents"] == [*PLAYERS, made.subject.label]
    sound = verify(house.ledger, read_receipt(written.encode()))
    assert sound.verified, [one.differs for one in sound.checks]
    # What becomes of the others since changes nothing.
    tell(house.ledger, first, Withdrawn(), person="p1")
    tell(house.ledger, pending.id, Judged(receipt={}), person=None)
    assert verify(house.ledger, read_receipt(written.encode())).verified
    lied = {**receipt, "counted": []}
    told = " ".join(sentence for one in verify(house.ledger, read_receipt(json.dumps(lied).encode())).checks
                    for sentence in one.differs)  # fmt: skip
    tells(told, "does not count")


def test_the_address_of_an_endpoint_of_ones_own_is_left_out(tmp_path: Path):
    judge = Rater(kind="model", name="judge", endpoint="http://10.0.0.7:8000/v1")
    house = House(folder=tmp_path, judge=judge)
    made = receipted(house)
    for who in ("judge", "extractor"):
        assert of(made.receipt, who) == {"name": "judge", "endpoint": None, "settings": {}, "key": judge.key}
    assert "10.0.0.7" not in json.dumps(made.receipt)
    assert verify(house.ledger, read_receipt(json.dumps(made.receipt).encode())).verified
    house.ledger.close()


def test_a_study_that_is_not_on_record_has_no_receipt(complete: Receipted):
    subject = complete.subject
    elsewhere = ReceiptSubject(
        submission=subject.submission,
        label=subject.label,
        file=subject.file,
        entered=subject.entered,
        board=BoardIdentity(data=subject.board.data, rater=subject.board.rater, condition="other"),
        study=subject.study,
        approved=subject.approved,
    )
    with refused(LedgerError, subject.label):
        make_receipt(complete.house.ledger, elsewhere)


def test_the_reference_names_every_field(complete: Receipted):
    text = (Path(__file__).parents[3] / "docs/reference/receipt.md").read_text(encoding="utf-8")
    receipt = complete.receipt
    parts = ("submission", "approved", "asked", "study", "record", "made")
    named = {*receipt, *(name for part in parts for name in of(receipt, part)), *of(receipt, "row")}
    bounds = ("_lower", "_upper", "_n", "_reason")
    assert [name for name in sorted(named) if f"`{name}`" not in text and not name.endswith(bounds)] == []
