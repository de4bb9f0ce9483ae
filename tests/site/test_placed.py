"""Claims about a model placed at planned looks on the public pages of a board whose reference is withheld."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select, update

from evenhand.domain.response import REFERENCE
from evenhand.ledger.read.projection import studies
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.placed import placed_model, said_of
from evenhand.reports.board.withheld.dealt import dealt
from evenhand.reports.board.withheld.released import withheld_rows
from evenhand.site.boards.listing import boards_on_record
from evenhand.site.boards.standings import public_battles, released_of
from evenhand.stats.ratings.placing import Placed
from tests.exchange.world import Ran, run, store_in, write_lines
from tests.scripted_server import server_process
from tests.site.house import House, served

pytestmark = pytest.mark.slow

ITEMS = [f"i{number:02}" for number in range(24)]
STRENGTH = {"ada": -1.5, "bel": -0.6, "cal": 0.4, "dot": 1.2, "gus": 0.1}
PLACING = ("--new", "gus", "--pairs", "nearest", "--until", "width=1", "--looks", 4, "--max-calls", 60)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Four models and the reference in all pairs, and one placed on their board."""
    with served(placed_in(tmp_path_factory.mktemp("placed"))) as found:
        yield found


def placed_in(folder: Path, *, later: bool = False) -> Ledger:
    """`later`: the four have met on half of the items when the placing begins, and on the others afterwards."""
    founders = ("ada", "bel", "cal", "dot")
    runs = ((founders, ("--limit", len(ITEMS) // 2) * later), (("gus",), PLACING), (founders, ()))
    with server_process("--judge", "by-strength") as server:
        for models, more in runs if later else runs[:2]:
            done = judge(folder, server, models, *more)
            assert done.code == 0, done.err
    return Ledger(store_in(folder))


def judge(folder: Path, server: str, models: Sequence[str], *more: object) -> Ran:
    rows = [
        {"item": item, "instruction": f"Ask {item}.", "caption": "A square.", "reference": f"Yes {item}: strength=0.2"}
        for item in ITEMS
    ]
    answers = [
        {"item": item, "model": model, "response": f"{model} on {item}: strength={STRENGTH[model]}"}
        for item in ITEMS
        for model in models
    ]
    return run(
        "judge", "visit-bench", "--data", write_lines(folder / "items.jsonl", rows),
        "--responses", write_lines(folder / f"{models[0]}.jsonl", answers),
        "--judge", "vllm/judge", "--judge-base-url", server, "--endpoint-name", "scripted",
        "--store", store_in(folder), *more,
    )  # fmt: skip


def test_a_placed_model_has_its_repeated_interval_where_a_part_is_withheld(house: House) -> None:
    visitor = house.visitor()
    (board,) = visitor.get("/api/boards").json()["boards"]
    document = visitor.get(f"/api/boards/{board['board']}").json()
    assert document["version"] == 1, "only figures of which a part is withheld have versions"
    rows = {row["model"]: row for row in document["models"]}
    gus = rows["gus"]
    assert (gus["placed"]["look"], gus["placed"]["calls"]) == (4, 60)
    assert {row["placed"] for model, row in rows.items() if model != "gus"} == {None}
    assert gus["rating_lower"] < gus["rating"] < gus["rating_upper"]
    page = " ".join(re.sub("<[^>]+>", "", visitor.get(f"/boards/{board['board']}").text).split())
    assert "The interval of gus is the repeated one" in page
    assert "usual interval" not in page


def test_no_look_counts_a_verdict_against_the_reference_that_everybody_might_tell(house: House) -> None:
    """Those are dealt among their items, and a look would weigh each by its own."""
    judged = judged_battles(house.ledger, list(studies(house.ledger)))
    withheld = withheld_rows(judged)
    one, other = judged.results.pair_by_name
    met = [np.flatnonzero(withheld & (one == a) & (other == b)).tolist() for a, b in {*zip(one, other, strict=True)}]
    told = dealt(judged, [rows for rows in met if rows], np.ones_like(withheld), withheld)
    (placing,) = told.placings
    said = said_of(told, placing)
    assert len(said) == 60
    against = {one.shown for one in said if "reference" in one.shown}
    assert 0 < len(against) < 60
    assert {one.shown for one in said if one.score is None} == against
    assert placed_model(told, placing).looks[-1].calls == 60


def exchange(ledger: Ledger) -> None:
    """The verdicts on ada against the reference of two items, on one of which they met before the placing began."""
    made, trials, answers = schema.judgements, schema.trials, schema.responses
    with ledger.writing() as connection:
        of_ada, of_reference = (
            {*connection.execute(select(answers.c.digest).where(answers.c.model == name)).scalars()}
            for name in ("ada", REFERENCE)
        )
        query = select(made.c.seq, made.c.verdict, trials.c.item, trials.c.responses).join(
            trials, trials.c.key == made.c.trial
        )
        met: dict[str, dict[bool, tuple[int, str]]] = defaultdict(dict)
        for seq, verdict, item, responses in connection.execute(query.order_by(made.c.seq)):
            first, second = json.loads(responses)
            if {first in of_ada, second in of_ada} == {first in of_reference, second in of_reference} == {True, False}:
                met[item][first in of_ada] = seq, verdict
        known = [{first: verdict for first, (_, verdict) in one.items()} for one in met.values()]
        half = len(ITEMS) // 2
        early, late = next(
            (one, other) for one in range(half) for other in range(half, len(ITEMS)) if known[one] != known[other]
        )
        rows = [*met.values()]
        for one, other in ((rows[early], rows[late]), (rows[late], rows[early])):
            for first, (seq, _) in one.items():
                connection.execute(update(made).where(made.c.seq == seq).values(verdict=other[first][1]))


def placings_shown(ledger: Ledger) -> list[Placed | None]:
    """What everybody's figures of the placed model are made of, before they are rounded."""
    (board,) = boards_on_record(ledger)
    judged = released_of(ledger, board).shown(public_battles(ledger, board)).judged
    return [look.placed for one in judged.placings for look in placed_model(judged, one).looks]


def test_a_placing_that_began_amid_a_batch_tells_nothing_of_a_part_of_it(tmp_path: Path) -> None:
    """It is the same where verdicts from before and after that are exchanged. The board that all may see is still the
    one that it joined."""
    with closing(placed_in(tmp_path, later=True)) as ledger:
        before = placings_shown(ledger)
        exchange(ledger)
        after = placings_shown(ledger)
        with served(ledger) as house:
            visitor = house.visitor()
            (board,) = visitor.get("/api/boards").json()["boards"]
            rows = {row["model"]: row for row in visitor.get(f"/api/boards/{board['board']}").json()["models"]}
    assert (rows["gus"]["placed"]["calls"], len(before)) == (60, 4)
    assert rows["gus"]["rating_lower"] < rows["gus"]["rating"] < rows["gus"]["rating_upper"]
    assert [one and (one.strength, one.error) for one in before] == [one and (one.strength, one.error) for one in after]


def test_the_owner_sees_a_placing_as_it_was_where_all_replies_are_read_again(tmp_path: Path) -> None:
    """By a newer reader, to whom each says the same: the board that it joined was judged before it began. Nor is more
    asked by the same command."""

    def looks(ledger: Ledger) -> list[tuple[int, float]]:
        judged = judged_battles(ledger, list(studies(ledger)))
        (placing,) = judged.placings
        return [(one.calls, one.placed.strength) for one in placed_model(judged, placing).looks if one.placed]

    with closing(placed_in(tmp_path)) as ledger:
        before = looks(ledger)
        made = schema.judgements
        with ledger.writing() as connection:
            said = connection.execute(select(made).order_by(made.c.seq)).mappings().all()
            again = [{**row, "seq": row["seq"] + len(said), "reader": "newer"} for row in said]
            connection.execute(made.insert(), again)
        assert looks(ledger) == before
        done = judge(tmp_path, "http://127.0.0.1:9/v1", ("gus",), *PLACING)
        assert (done.code, looks(ledger)) == (0, before), done.err
    assert len(before) == 4
