"""Claims about the record: all of a commit or none, acknowledged means kept, nothing asked twice."""

import json
import resource
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import event

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.response import Response
from evenhand.domain.verdict import CALL_FAILED, UNDECIDED
from evenhand.images import digest
from evenhand.images.places import ADDRESSES
from evenhand.ledger.read.projection import studies
from evenhand.ledger.store import statements
from evenhand.ledger.store.kept import noted
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import CHUNK, Entries, Ledger
from evenhand.ledger.store.runs import find_run, results_by_others, runs
from evenhand.ledger.upkeep import chain
from evenhand.ledger.upkeep import check as upkeep
from evenhand.site.living.public_export import on_record
from tests.database import AS_WRITTEN, small_disk, url_in
from tests.images.pictures import encoded, photo
from tests.ledger import scene
from tests.ledger.scene import RESPONSES, STUDY, TRIALS
from tests.refusals import refused, tells

PNG = encoded(photo(), "PNG")


def counts(ledger: Ledger) -> dict[str, int]:
    return upkeep.info(ledger).counts


def reopened(folder: Path) -> dict[str, int]:
    ledger = Ledger(url_in(folder), create=False)
    assert upkeep.check(ledger) == []
    held = counts(ledger)
    ledger.close()
    return held


def test_a_commit_that_fails_in_its_last_part_leaves_nothing_of_its_first(ledger: Ledger):
    scene.set_up(ledger)
    before = counts(ledger)
    broken = replace(scene.prefers(TRIALS[0], 1), run=None)
    entries = Entries(
        study=STUDY.key, trials=TRIALS, judgements=[scene.prefers(TRIALS[1], 1), broken], release=[TRIALS[0].key]
    )
    entries.add_call(scene.asked(), scene.REPLY, run="run", at=0.0, cost_usd=0.1)
    with refused(LedgerError, "judgements", "run") as found:
        ledger.commit(entries)
    assert TRIALS[0].key not in str(found.value)
    assert counts(ledger) == before
    assert scene.linked(ledger, STUDY) == 0


def test_a_commit_is_there_for_whoever_opens_the_ledger_next(ledger: Ledger, tmp_path: Path):
    scene.set_up(ledger)
    entries = Entries(study=STUDY.key, trials=TRIALS, judgements=[scene.prefers(trial, -1) for trial in TRIALS])
    entries.add_call(scene.asked(), scene.REPLY, run="run", at=0.0, cost_usd=0.1)
    ledger.commit(entries)
    held = reopened(tmp_path)
    assert (held["trials"], held["judgements"], held["calls"]) == (6, 6, 1)


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path):
    committing = """
scene.set_up(ledger)
for number, trial in enumerate(scene.TRIALS, start=1):
    scene.record(ledger, [trial], [scene.prefers(trial, 1)])
    tell(number)
    sys.stdin.readline()
"""
    process = scene.child(committing, url_in(tmp_path))
    for number in (1, 2, 3):
        assert scene.heard(process) == str(number)
        if number < 3:
            scene.told(process)
    scene.killed(process)
    held = reopened(tmp_path)
    assert (held["trials"], held["judgements"]) == (3, 3)


def test_a_process_killed_within_a_commit_leaves_none_of_it(tmp_path: Path):
    halfway = """
scene.set_up(ledger)
scene.record(ledger, scene.TRIALS[:1], [scene.prefers(scene.TRIALS[0], 1)])
with ledger.writing() as connection:
    ledger.insert_new(connection, scene.schema.trials, [scene.rows.trial_row(t) for t in scene.TRIALS])
    tell("halfway")
    sys.stdin.readline()
"""
    imports = "from evenhand.ledger.store import rows, schema\nscene.rows, scene.schema = rows, schema\n"
    process = scene.child(imports + halfway, url_in(tmp_path))
    assert scene.heard(process) == '"halfway"'
    scene.killed(process)
    assert reopened(tmp_path)["trials"] == 1


def test_the_same_entries_twice_make_one_trial_and_one_call(ledger: Ledger):
    scene.set_up(ledger)
    for words in ("first", "second"):
        entries = Entries(study=STUDY.key, trials=TRIALS)
        entries.add_call(scene.asked(), replace(scene.REPLY, text=words), run="run", at=0.0, cost_usd=None)
        ledger.commit(entries)
    assert (counts(ledger)["trials"], counts(ledger)["calls"], scene.linked(ledger, STUDY)) == (6, 1, 6)
    assert ledger.find_calls([scene.asked().key])[scene.asked().key].reply.text == "first"


def test_a_stored_call_comes_back_whole_with_its_cost_or_without(ledger: Ledger):
    entries = Entries()
    entries.add_call(scene.asked("a"), scene.REPLY, run="run", at=0.0, cost_usd=0.25)
    entries.add_call(scene.asked("b"), scene.Reply(text=""), run="run", at=0.0, cost_usd=None)
    ledger.commit(entries)
    known, free, unknown = (scene.asked(words).key for words in "abc")
    found = ledger.find_calls([known, free, unknown])
    assert set(found) == {known, free}
    assert (found[known].reply, found[known].cost_usd) == (scene.REPLY, 0.25)
    assert (found[free].reply, found[free].cost_usd) == (scene.Reply(text=""), None)


def test_what_is_put_in_many_at_once_comes_back_to_the_letter_and_the_last_bit(ledger: Ledger):
    texts = [
        "",
        "null",
        '"quoted"',
        "back\\slash \\u0041",
        "%s %(rows)s {}",
        "\x00 \ud800 \x01",
        "Zoë 🜂\u2028\n\t",
        "'; --",
    ]
    costs = [None, 0.0, 0.1 + 0.2, 1e-300, 1.7976931348623157e308, 5e-324, 3.0, 12345678.000000002]
    entries = Entries()
    for number, (words, cost) in enumerate(zip(texts, costs, strict=True)):
        reply = replace(
            scene.REPLY, text=words, reasoning=words[::-1], forced=number % 2 == 0, seconds=1 / (number + 3)
        )
        entries.add_call(scene.asked(str(number)), reply, run="run", at=1e9 + 1 / 7, cost_usd=cost)
    ledger.commit(entries)
    found = ledger.find_calls(scene.asked(str(number)).key for number in range(len(texts)))
    for number, (words, cost) in enumerate(zip(texts, costs, strict=True)):
        held = found[scene.asked(str(number)).key]
        assert (held.reply.text, held.reply.reasoning, repr(held.cost_usd)) == (words, words[::-1], repr(cost))
        assert (held.reply.forced, held.reply.seconds) == (number % 2 == 0, 1 / (number + 3))
    assert not chain.check(ledger).problems


@pytest.mark.parametrize("reason", UNDECIDED)
def test_a_reply_without_a_decision_is_a_result(ledger: Ledger, reason: str):
    scene.record(ledger, TRIALS[:1], [scene.without(TRIALS[0], reason)])  # pyright: ignore[reportArgumentType]
    assert ledger.decided(keys(), reader="r1") == {TRIALS[0].key}
    assert ledger.failed(keys()) == set()


@pytest.mark.parametrize("reason", CALL_FAILED)
def test_a_failed_call_is_no_result(ledger: Ledger, reason: str):
    scene.record(ledger, TRIALS[:1], [scene.without(TRIALS[0], reason)])  # pyright: ignore[reportArgumentType]
    assert ledger.decided(keys(), reader="r1") == set()
    assert ledger.failed(keys()) == {TRIALS[0].key}


def test_only_this_readers_results_are_decided(ledger: Ledger):
    scene.record(ledger, TRIALS, [scene.prefers(TRIALS[0], 1), scene.prefers(TRIALS[1], 1, reader="r2")])
    assert ledger.decided(keys(), reader="r1") == {TRIALS[0].key}
    assert ledger.decided(keys(), reader="r2") == {TRIALS[1].key}
    assert ledger.decided(keys(), reader="r3") == set()


def test_more_keys_than_one_statement_takes_are_all_looked_up(ledger: Ledger):
    trials = [replace(TRIALS[0], replicate=number) for number in range(2 * CHUNK + 1)]
    entries = Entries(trials=trials, judgements=[scene.prefers(t, 1) for t in trials])
    requests = [scene.asked(str(number)) for number in range(2 * CHUNK + 1)]
    for request in requests:
        entries.add_call(request, scene.REPLY, run="run", at=0.0, cost_usd=None)
    ledger.commit(entries)
    assert len(ledger.decided((t.key for t in trials), reader="r1")) == len(trials)
    assert len(ledger.find_calls(request.key for request in requests)) == len(requests)


def test_a_study_may_want_trials_that_are_on_record_already(ledger: Ledger):
    second = replace(STUDY, seed=1)
    scene.set_up(ledger, STUDY, second)
    scene.record(ledger, TRIALS, [])
    assert (scene.linked(ledger, STUDY), scene.linked(ledger, second)) == (6, 0)
    ledger.link(second.key, keys()[:4])
    ledger.link(second.key, keys()[2:])
    assert scene.linked(ledger, second) == 6
    assert counts(ledger)["trials"] == 6


def texts(ledger: Ledger, *, variant: str = "") -> dict[str, str]:
    return {r.model: r.text for r in ledger.responses_to([scene.ITEMS[0].digest], variant=variant)}


def test_the_same_answers_again_are_no_news(ledger: Ledger):
    assert ledger.add_responses(RESPONSES) == 6
    assert ledger.add_responses(RESPONSES) == 0
    assert ledger.add_responses([*RESPONSES, *RESPONSES]) == 0


def test_another_answer_is_refused_with_the_item_named_and_nothing_half_added(ledger: Ledger):
    scene.set_up(ledger)
    new = Response(item=scene.ITEMS[0].digest, model="coral", text="I am new")
    other = replace(RESPONSES[0], text="I changed my mind")
    with refused(LedgerError, "'amber'", "item '1'", "1 such", "--replace", code="EH-ON-RECORD"):
        ledger.add_responses([new, other])
    assert texts(ledger) == {"amber": "amber says 1", "blue": "blue says 1"}


def test_another_answer_to_an_item_of_two_benchmarks_is_refused_with_both_of_its_names(ledger: Ledger):
    scene.set_up(ledger)
    second, alone = scene.ITEMS[1], Item(label="b", instruction="Write a poem.")
    given = replace(scene.BENCHMARK, name="later", items=(alone, replace(second, label="c")))
    ledger.add_responses([Response(item=alone.digest, model="amber", text="A poem.")], benchmark=given)
    ledger.register_benchmark(given)
    others = [Response(item=one.digest, model="amber", text="Another.") for one in given.items]
    facts = ("item 'c'", "'2' of the benchmark 'numbers'", "2 such", "--store", "--replace")
    for refusing in (ledger.add_responses, ledger.check_responses):
        with refused(LedgerError, *facts, code="EH-ON-RECORD"):
            refusing(others, benchmark=given)
    with refused(LedgerError, "item 'b'", "1 such", "--replace", code="EH-ON-RECORD") as told:
        ledger.add_responses(others[:1], benchmark=given)
    assert "numbers" not in str(told.value)


def test_two_answers_of_one_model_in_one_go_are_refused_too(ledger: Ledger):
    twice = [RESPONSES[0], replace(RESPONSES[0], text="I changed my mind")]
    with refused(LedgerError, "'amber'", code="EH-ON-RECORD"):
        ledger.add_responses(twice)
    assert texts(ledger) == {}
    assert ledger.add_responses([RESPONSES[0], RESPONSES[0]]) == 1


def test_replacing_lets_the_new_one_stand_and_keeps_the_old_on_record(ledger: Ledger):
    other = replace(RESPONSES[0], text="I changed my mind")
    ledger.add_responses(RESPONSES)
    assert ledger.add_responses([other], replace=True) == 1
    assert texts(ledger)["amber"] == "I changed my mind"
    assert counts(ledger)["responses"] == 7


def test_replacing_forth_and_back_ends_where_it_began(ledger: Ledger):
    other = replace(RESPONSES[0], text="I changed my mind")
    ledger.add_responses(RESPONSES)
    for response, words in ((other, other.text), (RESPONSES[0], RESPONSES[0].text), (other, other.text)):
        assert ledger.add_responses([response], replace=True) == 1
        assert texts(ledger)["amber"] == words
    assert counts(ledger)["responses"] == 7


def test_variants_stand_side_by_side(ledger: Ledger):
    ledger.add_responses(RESPONSES)
    ledger.add_responses([replace(RESPONSES[0], text="without the image", variant="text-only")])
    assert texts(ledger)["amber"] == "amber says 1"
    assert texts(ledger, variant="text-only") == {"amber": "without the image"}


def test_answers_can_be_committed_with_the_calls_they_came_from(ledger: Ledger):
    flagged = replace(RESPONSES[0], flags=("truncated",))
    entries = Entries(responses=[flagged])
    entries.add_call(scene.asked(), scene.REPLY, run="run", at=0.0, cost_usd=None)
    ledger.commit(entries)
    (found,) = ledger.responses_to([scene.ITEMS[0].digest])
    assert (found, found.flags) == (flagged, ("truncated",))


def test_runs_are_listed_newest_first_with_how_they_ended(ledger: Ledger):
    first, second = (ledger.begin_run("judge", {"n": n}, study=STUDY.key, version="1") for n in (1, 2))
    ledger.end_run(first, {"called": 3})
    ledger.end_run(first, {"called": 4})
    newest, oldest = runs(ledger)
    assert [run.id for run in runs(ledger, last=1)] == [second]
    assert (newest.id, newest.outcome, newest.ended_at, newest.settings) == (second, None, None, {"n": 2})
    assert (oldest.id, oldest.outcome, oldest.study) == (first, {"called": 3}, STUDY.key)
    assert find_run(ledger, first[:6]).id == first


@pytest.mark.parametrize(("start", "complaint"), [("", "2 runs"), ("%", "'%'")])
def test_a_run_that_is_not_one_is_a_sentence(ledger: Ledger, start: str, complaint: str):
    for _ in range(2):
        ledger.begin_run("judge", {}, study=None, version="1")
    with refused(LedgerError, complaint, code="EH-RUN-UNKNOWN"):
        find_run(ledger, start)


def test_a_study_registered_twice_is_one(ledger: Ledger):
    scene.set_up(ledger)
    scene.set_up(ledger)
    (study,) = studies(ledger)
    assert (study.rater, study.condition, study.wanted, study.reached) == (scene.JUDGE, scene.CONDITION, 6, 0)


FILLS = """
import resource
scene.set_up(ledger)
tell("set up")
limit = sys.stdin.readline().strip()
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
done = 0
try:
    while done < 2000:
        entries = Entries()
        entries.add_call(scene.asked(f"{done} " + "x" * 5000), scene.REPLY, run="run", at=0.0, cost_usd=None)
        ledger.commit(entries)
        done += 1
except Exception as error:
    tell([done, type(error).__name__, str(error)])
sys.stdin.readline()
"""


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", megabytes=2) as folder:
        yield folder


def filled(folder: Path, limit: str) -> list[object]:
    """What a process that commits until it cannot says: commits done, the error's type and words."""
    import json

    with scene.child(FILLS, url_in(folder)) as process:
        assert scene.heard(process) == '"set up"'
        scene.told(process, limit)
        said = json.loads(scene.heard(process))
        process.communicate("\n")
    return said


@pytest.mark.sqlite("of the disk of SQLite's file; a server's is in test_server_full.py")
def test_a_full_disk_is_a_sentence_and_what_was_committed_is_there(tiny_disk: Path):
    done, kind, words = filled(tiny_disk, "")
    assert kind == "LedgerError"
    assert "is full or cannot be written" in str(words)
    assert "free some space and run the same command again: nothing that was committed is lost." in str(words)
    assert reopened(tiny_disk)["calls"] == done != 0


@pytest.mark.sqlite("of the disk of SQLite's file; a server's is in test_server_full.py")
@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
def test_a_file_that_may_not_grow_is_a_sentence_and_what_was_committed_is_there(tmp_path: Path):
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    done, kind, words = filled(tmp_path, str(1_000_000))
    assert kind == "LedgerError"
    tells(words, "full")
    assert reopened(tmp_path)["calls"] == done != 0


@pytest.mark.sqlite("of the folder beside SQLite's file")
def test_images_that_find_no_place_are_a_sentence_and_no_item_is_registered(ledger: Ledger, tmp_path: Path):
    (tmp_path / "images").write_text("I am no folder")
    with refused(LedgerError, tmp_path / "images"):
        ledger.register_benchmark(replace(scene.BENCHMARK, pictures={digest(PNG): PNG}))
    assert counts(ledger)["items"] == 0


STORES = """
import resource
from dataclasses import replace
from tests.images.pictures import encoded, photo
png = encoded(photo(), "PNG")
resource.setrlimit(resource.RLIMIT_FSIZE, (len(png) // 2, len(png) // 2))
try:
    ledger.register_benchmark(replace(scene.BENCHMARK, pictures={"any": png}))
except Exception as error:
    tell([type(error).__name__, str(error)])
sys.stdin.readline()
"""


@pytest.mark.sqlite("of the folder beside SQLite's file")
@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
def test_an_image_that_the_disk_has_no_room_for_is_the_same_sentence(ledger: Ledger, tmp_path: Path):
    with scene.child(STORES, ledger.url) as process:
        said = scene.heard(process)
        process.communicate("\n")
    kind, words = json.loads(said)
    assert kind == "LedgerError"
    tells(words, tmp_path / "images", "full")


def test_rows_with_names_go_in_by_name_and_judgements_as_they_came(ledger: Ledger):
    """Two runs on PostgreSQL that insert the same rows in different orders would wait for each other for ever."""
    backwards = sorted(TRIALS, key=lambda trial: trial.key, reverse=True)
    entries = Entries(
        study=STUDY.key,
        trials=backwards,
        judgements=[scene.prefers(trial, 1) for trial in backwards],
        release=keys(),
    )
    ledger.commit(entries)
    with ledger.reading() as connection:
        rowids = {
            table: [
                name for (name,) in connection.exec_driver_sql(f"SELECT {column} FROM {table} ORDER BY {AS_WRITTEN}")
            ]
            for table, column in (("trials", "key"), ("study_trials", "trial"), ("judgements", "trial"))
        }
    assert rowids["trials"] == rowids["study_trials"] == sorted(keys())
    assert rowids["judgements"] == sorted(keys(), reverse=True)


def keys() -> list[str]:
    return [trial.key for trial in TRIALS]


def test_two_benchmarks_may_say_otherwise_of_one_image_and_each_is_told_its_own(ledger: Ledger):
    image = "https://e.org/1.png"
    both = [
        Benchmark(
            name=name,
            items=(Item(label="1", instruction=f"Ask {name}.", images=(image,)),),
            licence="CC0",
            citation="",
            protocols=(),
            licences={image: said},
            origins={image: f"From {name}."},
        )
        for name, said in (("one", "CC0"), ("other", "CC BY 4.0"))
    ]
    for one in (*both, *both):
        ledger.register_benchmark(one)
    addresses = ledger.images.addresses
    assert [addresses.licences(one.digest)[image] for one in both] == ["CC0", "CC BY 4.0"]
    assert [addresses.origins(one.digest)[image] for one in both] == ["From one.", "From other."]
    assert [on_record(ledger, one.digest).licences[image] for one in both] == ["CC0", "CC BY 4.0"]
    lines = noted(ledger.places.notes[ADDRESSES])
    assert b"".join(lines).count(b"sha256") == 2, "what was said is not said again"
    ledger.register_benchmark(replace(both[0], licences={image: "CC BY-SA 2.0"}))
    assert addresses.licences(both[0].digest)[image] == "CC BY-SA 2.0", "the same data may be put right"
    assert addresses.licences(both[1].digest)[image] == "CC BY 4.0"


def test_what_is_asked_for_many_keys_is_found_by_an_index_and_not_by_going_through_the_table(tmp_path: Path):
    by_keys = (
        statements.DECIDED, statements.REASONS, statements.ASKED, statements.FAILED,
        statements.CALLS, statements.ANSWERED, statements.CLAIMS, statements.WAITING,
    )  # fmt: skip
    with Ledger(f"sqlite:///{tmp_path}/ledger.db") as ledger, ledger.reading() as connection:
        asked: list[tuple[str, tuple[object, ...]]] = []
        event.listen(connection, "before_cursor_execute", lambda *told: asked.append((told[2], told[3])))
        for statement in by_keys:
            connection.execute(statement, {"keys": ["one", "other"], "reader": ""})
        for query, given in asked[: len(by_keys)]:
            plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}", given)]
            assert not [step for step in plan if step.startswith("SCAN") and "json_each" not in step], query
    assert len(asked) == 2 * len(by_keys)


def test_what_other_runs_have_judged_is_looked_for_among_the_newest_judgements_alone(tmp_path: Path):
    with Ledger(f"sqlite:///{tmp_path}/ledger.db") as ledger, ledger.reading() as connection:
        asked: list[tuple[str, tuple[object, ...]]] = []
        event.listen(ledger.engine, "before_cursor_execute", lambda *told: asked.append((told[2], told[3])))
        results_by_others(ledger, "study", "run", after=5, until=9)
        ((query, given),) = asked
        plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}", given)]
    assert plan[0] == "SEARCH judgements USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"
    assert not [step for step in plan if step.startswith("SCAN")]
