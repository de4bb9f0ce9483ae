"""What an owner changes in a study for people that runs: its board, its end, a place given back, answers replaced."""

import json
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, or_, select, update

from evenhand.domain.identity import canonical_json
from evenhand.domain.trial import Trial
from evenhand.ledger.read.answers import response_models, standing_responses
from evenhand.ledger.store import schema
from evenhand.ledger.store.links import changing
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.statements import insert_all
from evenhand.site.accounts.store import Person
from evenhand.site.people.comparisons import answered
from evenhand.site.people.forms import conduct_of
from evenhand.site.people.plan import PeopleStudyError
from evenhand.site.people.saying import hold
from evenhand.site.people.studies import PeopleStudy, hold_study, share_of

Setting: TypeAlias = Literal["closed", "shown", "aside"]
"""Takes no more judgements; its board is shown while it runs; does not count on the shared board."""


def set_people_study(ledger: Ledger, study: str, setting: Setting, *, on: bool) -> bool:
    """Whether there is such a study."""
    table = schema.people_studies
    with ledger.writing() as connection:
        asked = update(table).where(table.c.id == study).values({setting: time.time() if on else None})
        with changing(connection, table, table.c.id == study):
            return connection.execute(asked).rowcount == 1


def ask_otherwise(ledger: Ledger, study: str, question: str) -> bool:
    """Changes a study's question, and says whether it did: only while nobody has a place, as what people were asked is
    on record word for word. Empty: the form's own."""
    table, places = schema.people_studies, schema.people_places
    with ledger.writing() as connection:
        taken = select(places.c.id).where(places.c.study == study, places.c.person.is_not(None))
        row = connection.execute(select(table.c.asked).where(table.c.id == study).with_for_update()).first()
        if row is None or connection.execute(taken).first() is not None:
            return False
        asked: dict[str, Any] = json.loads(row.asked)
        asked.pop("question", None)
        fresh = canonical_json({**asked, **({"question": question} if question else {})})
        connection.execute(update(table).where(table.c.id == study).values(asked=fresh))
    return True


def finished_studies(ledger: Ledger) -> set[str]:
    """Those in which everything that was asked is judged."""
    table, places, tasks = schema.people_studies, schema.people_places, schema.people_tasks
    waiting = select(places.c.study).join(tasks, tasks.c.place == places.c.id).where(~answered())
    query = select(table.c.id).where(table.c.id.not_in(waiting))
    with ledger.reading() as connection:
        return set(connection.execute(query).scalars())


def give_back(ledger: Ledger, place: str, person: Person) -> int:
    """Frees what a person has not judged for somebody else, and returns how much; what they judged stays theirs.

    Raises PeopleStudyError where the place is not this person's, or nothing of it is left.
    """
    table = schema.people_places
    of_place = select(table).where(table.c.id == place)
    with ledger.writing() as connection:
        found = connection.execute(of_place).first()
        study = None if found is None else hold_study(connection, found.study)
        hold(connection, place)
        row = connection.execute(of_place).first()
        if study is None or row is None or row.person != person.id or row.record is None:
            raise PeopleStudyError("This place is not that person's.")
        before = connection.execute(_TASKS, {"place_": place}).all()
        kept = [one for one in before if one.judged]
        if len(kept) == len(before):
            raise PeopleStudyError("Everything of this place is judged; nothing is left to give to somebody else.")
        ledger.insert_new(connection, schema.given_back, [{"study": row.record, "at": time.time()}])
        if not (counting := [one for one in kept if one.kind is None]):
            _leave(connection, place)
        else:
            record = _smaller_share(ledger, connection, study, person, counting, replicate=row.replicate)
            _new_place(connection, row, before)
            _numbered(connection, place, kept)
            with changing(connection, table, table.c.id == place):
                connection.execute(update(table).where(table.c.id == place).values(record=record))
            outcome = canonical_json({"known": 0, "called": len(kept), "failed": {}})
            ledger.insert_new(connection, schema.run_ends, [{"run": row.run, "outcome": outcome, "at": time.time()}])
    return len(before) - len(kept)


_one, _other = schema.responses.alias(), schema.responses.alias()
_TASKS = (
    select(schema.people_tasks, answered().label("judged"), _one.c.model, _other.c.model.label("other"))
    .join(_one, _one.c.digest == schema.people_tasks.c.first)
    .join(_other, _other.c.digest == schema.people_tasks.c.second)
    .where(schema.people_tasks.c.place == bindparam("place_"))
    .order_by(schema.people_tasks.c.number)
)


def _smaller_share(
    ledger: Ledger,
    connection: Connection,
    study: PeopleStudy,
    person: Person,
    kept: Sequence[Row[Any]],
    *,
    replicate: int,
) -> str:
    """Key of what they judged as a Study of its own, so that nobody waits for what was given back."""
    showings = tuple((one.item, one.model, one.other) for one in kept)
    record, condition = share_of(study, person, showings, replicate=replicate), study.form.condition
    ledger.register_study_within(connection, record, rater=person.rater, condition=condition, wanted=len(kept))
    ledger.insert_new(connection, schema.study_trials, [{"study": record.key, "trial": one.trial} for one in kept])
    return record.key


def _leave(connection: Connection, place: str) -> None:
    """A place of which nothing that counts was judged is nobody's again."""
    table, tasks = schema.people_places, schema.people_tasks
    nobody = dict.fromkeys(("person", "replicate", "record", "run", "at", "checks", "read"))
    with changing(connection, table, table.c.id == place):
        connection.execute(update(table).where(table.c.id == place).values(nobody))
    connection.execute(update(tasks).where(tasks.c.place == place).values(_UNTOUCHED))


_UNTOUCHED = {"trial": None, "comment": None, "flag": None}
"""Of a task that nobody has."""


def _new_place(connection: Connection, old: Row[Any], before: Sequence[Row[Any]]) -> None:
    """With what was left, in its order and free for anybody. Whoever takes it is trained too, and asked nothing again
    that somebody else was asked first."""
    table, tasks = schema.people_places, schema.people_tasks
    last = connection.execute(select(func.max(table.c.number)).where(table.c.study == old.study)).scalar_one()
    fresh = {"id": secrets.token_hex(8), "study": old.study, "number": last + 1, "person": None}
    insert_all(connection, table, [fresh])
    left = [one for one in before if not one.judged]
    open_pairs = {_pair(one) for one in left if one.kind is None}
    trained = [one for one in before if one.kind == "training" and one.judged]
    goes = [one for one in left if one.kind != "repeat" or _pair(one) in open_pairs]
    copied = ("item", "first", "second", "kind", "expected", "why", "probability")
    rows = [
        {"place": fresh["id"], "number": number, **{name: getattr(one, name) for name in copied}, **_UNTOUCHED}
        for number, one in enumerate([*trained, *goes], start=1)
    ]
    gone = delete(tasks).where(tasks.c.place == old.id, tasks.c.number == bindparam("number_"))
    connection.execute(gone, [{"number_": one.number} for one in left])
    connection.execute(insert(tasks), rows)


def _pair(task: Row[Any]) -> tuple[str, frozenset[str]]:
    return task.item, frozenset((task.first, task.second))


def _numbered(connection: Connection, place: str, kept: Iterable[Row[Any]]) -> None:
    """From 1 on: each number is at most what it was, and the lower ones are free by then."""
    tasks = schema.people_tasks
    for number, one in enumerate(kept, start=1):
        where = (tasks.c.place == place, tasks.c.number == one.number)
        connection.execute(update(tasks).where(*where).values(number=number))


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """Tasks that show an answer which stands for its model no more; boards leave out verdicts on them."""

    tasks: int
    judged: int
    """Of them."""


def replaced_answers(ledger: Ledger, study: str) -> Replaced:
    found = _outdated(ledger, study)
    return Replaced(tasks=len(found), judged=sum(row.judged for row in found))


def renew_answers(ledger: Ledger, study: str) -> int:
    """Lets every such task show the answers that stand now, and returns how many; those judged are open again.

    What was said of the answers before stays on record.
    """
    outdated = _outdated(ledger, study)
    models = response_models(ledger, {digest for row in outdated for digest in (row.first, row.second)})
    standing = {
        (one.item, one.model): one.digest for one in ledger.responses_to(sorted({row.item for row in outdated}))
    }
    tasks, renewed = schema.people_tasks, 0
    with ledger.writing() as connection:
        for row in outdated:
            shown = tuple(standing.get((row.item, models[digest])) for digest in (row.first, row.second))
            if None in shown:
                continue
            first, second = shown
            assert first is not None
            assert second is not None
            # Numbers change when a place is divided meanwhile.
            same = (tasks.c.item == row.item, tasks.c.first == row.first, tasks.c.second == row.second)
            where = (tasks.c.place == row.place, tasks.c.number == row.number, *same)
            fresh = {"first": first, "second": second, "trial": _trial_key(row, (first, second))}
            renewed += connection.execute(update(tasks).where(*where).values(fresh)).rowcount
    return renewed


def _trial_key(row: Row[Any], responses: tuple[str, str]) -> str | None:
    """None where nobody has the place yet."""
    if row.rater is None:
        return None
    condition = conduct_of(row.asked).form(row.form).condition.key
    return Trial(item=row.item, responses=responses, rater=row.rater, condition=condition, replicate=row.replicate).key


def _outdated(ledger: Ledger, study: str) -> list[Row[Any]]:
    """Training and gold items are of the answers that their owner knew: of others nobody has said which is better."""
    table, places, tasks = schema.people_studies, schema.people_places, schema.people_tasks
    query = (
        select(
            tasks, table.c.form, table.c.asked, places.c.replicate, schema.studies.c.rater, answered().label("judged")
        )
        .join(places, places.c.id == tasks.c.place)
        .join(table, table.c.id == places.c.study)
        .outerjoin(schema.studies, schema.studies.c.key == places.c.record)
        .where(places.c.study == study, or_(tasks.c.kind.is_(None), tasks.c.kind == "repeat"))
        .order_by(tasks.c.place, tasks.c.number)
    )
    with ledger.reading() as connection:
        found = connection.execute(query).all()
    standing = standing_responses(ledger, {row.item for row in found})
    return [row for row in found if not {row.first, row.second} <= standing]
