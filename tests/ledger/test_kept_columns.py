"""Claims about columns that are kept: they say what the record says, whatever became of their files meanwhile."""

import hashlib
import itertools
import json
import math
import os
import shutil
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from hypothesis import given, settings
from sqlalchemy import Connection, func, select

from evenhand.domain.identity import Json, draw
from evenhand.domain.judgement import Judgement
from evenhand.domain.trial import Trial
from evenhand.domain.verdict import Preference
from evenhand.ledger.read.answers import response_models, standing_responses, word_counts
from evenhand.ledger.read.asked_again import recorded_rows
from evenhand.ledger.read.columns import new_columns
from evenhand.ledger.read.columns.kept_columns import columns_of
from evenhand.ledger.read.columns.new_columns import Speech, speech_of
from evenhand.ledger.read.projection import studies
from evenhand.ledger.read.scan import Scan, scan
from evenhand.ledger.store import schema
from evenhand.ledger.store.links import ERASED
from evenhand.ledger.store.record import Entries, Ledger
from tests.database import by_hand, ledger_in, url_in
from tests.examples import examples
from tests.ledger.column_reader import READER, digest, rows, words
from tests.ledger.test_columns_of_the_record import (
    ANSWERS,
    BENCHMARK,
    CONDITION,
    ITEMS,
    RATERS,
    Event,
    events,
    put_on_record,
    recorded,
    study_of,
)  # fmt: skip
from tests.warm import ROOT, Forked

(JUDGE,) = RATERS["model"]
STUDIES = tuple(study_of(number, JUDGE) for number in range(3))


def agree(ledger: Ledger, studies: tuple[str, ...]) -> int:
    """How many judgements both hold."""
    kept = columns_of(ledger, studies, fewest=0)
    assert kept is not None
    read = kept.of_studies(studies)
    found = rows(read)
    assert found == rows(scan(ledger, studies, soft=True))
    assert known_of_answers(read) == told_of_answers(ledger, read)
    assert read.whole == (len(found) == all_judgements(ledger))
    standing = standing_responses(ledger, kept.names["items"])
    assert kept.stands is not None
    assert kept.stands.tolist() == [not one or one in standing for one in kept.names["responses"]]
    return len(found)


def known_of_answers(read: Scan) -> tuple[list[tuple[str, str, float]], list[int]]:
    """Model and words of each response, by digest; and the lot of each pair of trials."""
    assert read.answers is not None
    assert read.trials.lot is not None
    words = np.nan_to_num(read.answers.words, nan=-1).tolist()
    answers = zip(read.trials.first.names, read.answers.models, words, strict=True)
    shown = [digest != "" for digest in map(read.trials.second.names.__getitem__, read.trials.second.code.tolist())]
    return list(answers), read.trials.lot[np.array(shown, dtype=np.bool_)].tolist()


def told_of_answers(ledger: Ledger, read: Scan) -> tuple[list[tuple[str, str, float]], list[int]]:
    """The same, asked of the record one by one."""
    digests = [*filter(None, read.trials.first.names)]
    model, length = response_models(ledger, digests), word_counts(ledger, digests)
    answers = [(one, model.get(one, ""), float(length.get(one, -1))) for one in read.trials.first.names]
    trials = zip(*(words(one) for one in (read.trials.item, read.trials.first, read.trials.second)), strict=True)
    lots = [draw(0, item, *sorted((model[one], model[other]))) for item, one, other in trials if other]
    return answers, lots


def all_judgements(ledger: Ledger) -> int:
    with ledger.reading() as connection:
        return connection.execute(select(func.count()).select_from(schema.judgements)).scalar_one()


@pytest.mark.sqlite("each example is a copy of the bytes of a SQLite file")
@settings(max_examples=examples(60))
@given(before=events, after=events)
def test_whatever_comes_they_say_what_the_record_says(before: list[Event], after: list[Event]) -> None:
    with recorded("model", before) as (ledger, found):
        keys = tuple(one.key for one in found)
        agree(ledger, keys)
        agree(ledger, keys[:1])
        put_on_record(ledger, after, RATERS["model"])
        agree(ledger, keys)
        agree(ledger, (STUDIES[2].key,))
        agree(ledger, keys[1:])


NOTED: tuple[dict[str, Json], ...] = ({}, {"protocol": "soft"}, {"replies": ["soft", '"soft": 0.5'], "file": "soft"})
"""As imported verdicts have them."""


def judged(number: int, *, item: int, replicate: int = 0) -> tuple[Trial, Judgement]:
    of = ITEMS[item].digest
    trial = Trial(
        item=of, responses=(ANSWERS[of, "amber"].digest, ANSWERS[of, "cyan"].digest), rater=JUDGE.key,
        condition=CONDITION.key, replicate=replicate,
    )  # fmt: skip
    notes = NOTED[number % len(NOTED)] | ({} if number % 5 == 1 else {"soft": number / 1e4})
    verdict = Preference(value=1, levels=5)
    return trial, Judgement(
        trial=trial.key, verdict=verdict, reader=str(number), calls=(), run="r", at=1 / 3 + number, notes=notes
    )


def write(ledger: Ledger, begin: int, end: int, *, study: int = 0) -> None:
    entries = Entries()
    for number in range(begin, end):
        trial, judgement = judged(number, item=number % 3, replicate=number // 3)
        entries.extend(Entries(trials=[trial], judgements=[judgement], links=[(STUDIES[study].key, trial.key)]))
    ledger.commit(entries)


MANY = 60
A_FILE = 1000
"""Judgements that are worth a file of their own."""


@pytest.fixture
def full(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ledger:
    """With columns kept of all that it holds."""
    monkeypatch.setenv("EVENHAND_COLUMN_CACHE", str(tmp_path / "cache"))
    ledger.register_benchmark(BENCHMARK)
    ledger.add_responses(list(ANSWERS.values()))
    for study in STUDIES:
        ledger.register_study(study, rater=JUDGE, condition=CONDITION, wanted=0)
    write(ledger, 0, MANY)
    assert agree(ledger, (STUDIES[0].key,)) == MANY
    return ledger


def kept_in(folder: Path) -> Path:
    (listed,) = folder.rglob("columns.json")
    return listed.parent


def parts_in(folder: Path) -> set[Path]:
    return {*kept_in(folder).glob("*.columns")}


def test_what_is_kept_is_used_and_only_what_came_since_is_written(
    full: Ledger, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    (first,) = parts_in(tmp_path)
    before = first.stat().st_mtime_ns
    assert agree(full, (STUDIES[0].key,)) == MANY
    assert parts_in(tmp_path) == {first}
    write(full, MANY, MANY + 3)
    assert agree(full, (STUDIES[0].key,)) == MANY + 3
    assert parts_in(tmp_path) == {first}, "so few are not worth a file"
    write(full, MANY + 3, MANY + A_FILE)
    assert agree(full, (STUDIES[0].key,)) == MANY + A_FILE
    assert len(parts_in(tmp_path)) == 2
    assert first.stat().st_mtime_ns == before
    assert agree(full, (STUDIES[0].key,)) == MANY + A_FILE
    assert not caplog.messages


@pytest.mark.slow
def test_many_files_become_one(full: Ledger, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    end = MANY
    for _ in range(8):
        write(full, end, end := end + A_FILE)
        assert agree(full, (STUDIES[0].key,)) == end
    listed = (kept_in(tmp_path) / "columns.json").read_bytes()
    assert listed.count(b"sha256") < 8
    assert agree(full, (STUDIES[0].key,)) == end
    assert not caplog.messages


def test_files_that_became_one_stay_for_who_still_reads_them(
    full: Ledger, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (first,) = parts_in(tmp_path)
    os.utime(first, (1, 1))
    monkeypatch.setattr("evenhand.ledger.read.columns.kept_columns._MANY", 2)
    write(full, MANY, MANY + A_FILE)
    agree(full, (STUDIES[0].key,))
    assert first in parts_in(tmp_path)
    os.utime(first, (1, 1))
    write(full, MANY + A_FILE, MANY + 2 * A_FILE)
    agree(full, (STUDIES[0].key,))
    assert first not in parts_in(tmp_path)


def test_a_study_that_takes_up_what_was_judged_and_what_was_not(full: Ledger) -> None:
    asked = [judged(number, item=number % 3, replicate=number // 3)[0] for number in range(40)]
    later = [judged(MANY + number, item=number % 3, replicate=MANY + number) for number in range(5)]
    entries = Entries(trials=[trial for trial, _ in later])
    entries.links.extend((STUDIES[1].key, trial.key) for trial in [*asked, *(trial for trial, _ in later)])
    full.commit(entries)
    assert agree(full, (STUDIES[1].key,)) == 40
    assert agree(full, (STUDIES[0].key, STUDIES[1].key)) == MANY
    full.commit(Entries(judgements=[judgement for _, judgement in later[:2]]))
    assert agree(full, (STUDIES[1].key,)) == 42
    full.commit(Entries(links=[(STUDIES[2].key, trial.key) for trial, _ in later]))
    assert agree(full, (STUDIES[2].key,)) == 2
    full.commit(Entries(judgements=[judgement for _, judgement in later[2:]]))
    assert agree(full, (STUDIES[1].key,)) == 45
    assert agree(full, (STUDIES[2].key,)) == 5


@pytest.mark.parametrize("among", [4, 60])
def test_what_comes_in_some_of_many_studies(full: Ledger, among: int) -> None:
    many = (*STUDIES, *(study_of(number, JUDGE) for number in range(len(STUDIES), among)))
    for study in many:
        full.register_study(study, rater=JUDGE, condition=CONDITION, wanted=0)
    (asked, _), last = judged(0, item=0), many[-1].key
    full.commit(Entries(links=[(last, asked.key)]))
    assert agree(full, (last,)) == 1
    came = [judged(MANY + number, item=0, replicate=MANY + number) for number in range(2)]
    for number, (trial, judgement) in enumerate(came, start=1):
        links = [(one, trial.key) for one in (STUDIES[0].key, last)]
        full.commit(Entries(trials=[trial], judgements=[judgement], links=links))
        assert agree(full, (last,)) == 1 + number
        assert agree(full, (STUDIES[0].key,)) == MANY + number
    assert agree(full, (STUDIES[1].key, last)) == 3


@pytest.mark.parametrize("few", [1, 1000])
def test_answers_of_a_trial_that_is_judged_late_stand_as_they_stood(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, few: int
) -> None:
    monkeypatch.setenv("EVENHAND_COLUMN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(new_columns, "_FEW", few)  # from so many on all trials are looked through
    ledger.register_benchmark(BENCHMARK)
    ledger.add_responses(list(ANSWERS.values()))
    study = STUDIES[0]
    ledger.register_study(study, rater=JUDGE, condition=CONDITION, wanted=0)

    def write_of_one_item(begin: int, end: int) -> None:
        made = [judged(number, item=0, replicate=number) for number in range(begin, end)]
        entries = Entries(trials=[trial for trial, _ in made], judgements=[judgement for _, judgement in made])
        entries.links.extend((study.key, trial.key) for trial, _ in made)
        ledger.commit(entries)

    write_of_one_item(0, A_FILE)
    assert agree(ledger, (study.key,)) == A_FILE
    late = [judged(item, item=item) for item in (1, 2)]
    ledger.commit(Entries(trials=[trial for trial, _ in late], links=[(study.key, trial.key) for trial, _ in late]))
    for number, (_, judgement) in enumerate(late, start=1):
        write_of_one_item(number * A_FILE, (number + 1) * A_FILE)
        assert agree(ledger, (study.key,)) == number + (number + 1) * A_FILE - 1
        ledger.commit(Entries(judgements=[judgement]))
        assert agree(ledger, (study.key,)) == number + (number + 1) * A_FILE


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("file", ["columns.json", "*.columns"])
@pytest.mark.parametrize("damage", [flipped, cut, emptied, lambda path: path.write_bytes(b"no\nthing")])
def test_damaged_files_are_made_anew_with_a_word(
    full: Ledger, caplog: pytest.LogCaptureFixture, tmp_path: Path, file: str, damage: Callable[[Path], None]
) -> None:
    (path,) = kept_in(tmp_path).glob(file)
    damage(path)
    assert agree(full, (STUDIES[0].key,)) == MANY
    assert len(caplog.messages) == 1
    assert "made anew" in caplog.messages[0]
    assert agree(full, (STUDIES[0].key,)) == MANY
    assert len(caplog.messages) == 1, "what was made anew is whole"


def test_a_list_that_counts_otherwise_is_damaged(
    full: Ledger, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    path = kept_in(tmp_path) / "columns.json"
    path.write_bytes(path.read_bytes().replace(b'"unjudged":{}', b'"unjudged":{"a":1}'))
    assert agree(full, (STUDIES[0].key,)) == MANY
    assert "damaged" in caplog.messages[0]


def test_damaged_keys_are_found_when_something_new_needs_them(
    full: Ledger, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    (path,) = parts_in(tmp_path)
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)
    assert agree(full, (STUDIES[0].key,)) == MANY
    assert not caplog.messages
    write(full, MANY, MANY + 1)
    assert agree(full, (STUDIES[0].key,)) == MANY + 1
    assert "damaged" in caplog.messages[0]


def test_an_answer_whose_text_was_erased_has_no_known_length(full: Ledger, tmp_path: Path) -> None:
    digest = ANSWERS[ITEMS[0].digest, "amber"].digest
    with by_hand(tmp_path) as hand:
        hand.execute(f"UPDATE responses SET text = '{ERASED}{64 * 'a'}' WHERE digest = '{digest}'")
    shutil.rmtree(kept_in(tmp_path))
    agree(full, (STUDIES[0].key,))
    assert digest not in word_counts(full, [digest])
    found = recorded_rows(full, [one for one in studies(full) if one.key == STUDIES[0].key])
    assert {math.isnan(row.longer) for shown, row in found.items() if digest in shown} == {True}
    assert {math.isnan(row.longer) for shown, row in found.items() if digest not in shown} == {False}


def test_an_answer_that_was_replaced_after_the_columns_were_written(full: Ledger, tmp_path: Path) -> None:
    of = ITEMS[0].digest
    replaced = [ANSWERS[of, "amber"].digest]

    def fallen() -> list[str]:
        kept = columns_of(full, (STUDIES[0].key,), fewest=0)
        assert kept is not None
        assert kept.stands is not None
        names = kept.names["responses"]
        return [name for name, stands in zip(names, kept.stands.tolist(), strict=True) if not stands]

    assert fallen() == []
    full.add_responses([replace(ANSWERS[of, "amber"], text="Rather this")], replace=True)
    assert fallen() == replaced
    write(full, MANY, MANY + A_FILE)
    assert fallen() == replaced
    assert fallen() == replaced, "as it is kept"
    other = [ANSWERS[ITEMS[1].digest, "cyan"].digest]
    full.add_responses([replace(ANSWERS[ITEMS[1].digest, "cyan"], text="Rather that")], replace=True)
    assert sorted(fallen()) == sorted(replaced + other), "of another item, beside what is known"
    full.add_responses([ANSWERS[of, "amber"]], replace=True)
    assert fallen() == other
    write(full, MANY + A_FILE, MANY + 2 * A_FILE)
    assert fallen() == other
    with by_hand(tmp_path) as hand:
        hand.execute("DELETE FROM response_choices WHERE seq = (SELECT max(seq) FROM response_choices)")
    assert sorted(fallen()) == sorted(replaced + other), "what was taken away by hand is counted"


def test_a_judgement_that_was_taken_away_by_hand(
    full: Ledger, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    with by_hand(tmp_path) as hand:
        hand.execute("DELETE FROM judgements WHERE seq = 7")
    assert agree(full, (STUDIES[0].key,)) == MANY - 1
    assert "do not hold the judgements" in caplog.messages[0]


def test_a_judgement_that_was_taken_away_by_hand_before_another_came(
    full: Ledger, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """There are as many as before then."""
    with by_hand(tmp_path) as hand:
        hand.execute("DELETE FROM study_trials WHERE trial IN (SELECT trial FROM judgements WHERE seq = 7)")
        hand.execute("DELETE FROM judgements WHERE seq = 7")
    write(full, MANY, MANY + 1)
    assert agree(full, (STUDIES[0].key,)) == MANY
    assert "do not hold the judgements" in caplog.messages[0]


def test_a_link_that_was_taken_away_by_hand(full: Ledger, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    first, other = (study.key for study in STUDIES[:2])
    with by_hand(tmp_path) as hand:
        hand.execute("DELETE FROM study_trials WHERE trial = (SELECT min(trial) FROM study_trials)")
    assert agree(full, (first,)) == MANY - 1
    assert "hold links of a study that the record does not" in caplog.text
    asked, _ = judged(0, item=0)
    with by_hand(tmp_path) as hand:
        hand.execute("DELETE FROM study_trials WHERE trial = (SELECT min(trial) FROM study_trials)")
    full.commit(Entries(links=[(other, asked.key)]))
    assert agree(full, (other,)) == 1
    assert agree(full, (first,)) == MANY - 2


def test_trials_of_one_response_and_of_three_among_pairs(full: Ledger, tmp_path: Path) -> None:
    """As long side by side as two pairs."""
    of = ITEMS[0].digest
    some = [one.digest for one in ANSWERS.values() if one.item == of][:3]
    assert len(some) == 3
    entries = Entries()
    for number, shown in enumerate((some[:1], some, some[:2])):
        trial = Trial(item=of, responses=tuple(shown), rater=JUDGE.key, condition=CONDITION.key, replicate=MANY)
        judgement = replace(judged(number, item=0)[1], trial=trial.key)
        entries.extend(Entries(trials=[trial], judgements=[judgement], links=[(STUDIES[1].key, trial.key)]))
    full.commit(entries)
    shutil.rmtree(kept_in(tmp_path))
    assert agree(full, (STUDIES[0].key, STUDIES[1].key)) == MANY + 3
    assert agree(full, (STUDIES[1].key,)) == 3


ALTERED = (
    "UPDATE judgements SET at = seq / 3.0",
    "UPDATE judgements SET at = seq / 3.0 WHERE seq > 800",
    """UPDATE judgements SET notes = '{"soft":0.25,"forced":true}' WHERE seq IN (3, 900)""",
    "UPDATE judgements SET verdict = NULL, reason = 'timeout' WHERE seq % 7 = 0",
    "UPDATE judgements SET verdict = NULL, reason = 'time\nout' WHERE seq = 40",
    "UPDATE judgements SET seq = seq + 700 WHERE seq > 530",
    "UPDATE judgements SET seq = seq + 30000 WHERE seq > 700",
    "UPDATE trials SET rater = 'another' WHERE replicate % 5 = 0",
    "UPDATE trials SET condition = 'another', replicate = 7 WHERE replicate > 300",
    "UPDATE trials SET item = upper(substr(item, 1, 63)) WHERE replicate = 3",
)
"""By hand, on any database; PostgreSQL puts what is altered behind all else."""
BY_ROWS = (
    "UPDATE trials SET rowid = rowid + 700 WHERE rowid > 530",
    "UPDATE trials SET rowid = 5000 - rowid",
    "UPDATE trials SET rowid = rowid + 30000 WHERE rowid % 3 = 0",
)


@pytest.mark.parametrize(
    "altered",
    [
        (),
        *((one,) for one in ALTERED),
        *(pytest.param((one,), marks=pytest.mark.sqlite("only SQLite lets rows be numbered")) for one in BY_ROWS),
    ],
    ids=str,
)
def test_all_that_is_on_record_is_read_at_once(
    full: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, altered: tuple[str, ...]
) -> None:
    """Whatever differs from row to row, and wherever rows are."""

    def in_short_texts(connection: Connection) -> Speech | None:
        speech = speech_of(connection)
        return None if speech is None else replace(speech, at_once=300, trials_at_once=300 if speech.in_turn else 7)

    monkeypatch.setattr(new_columns, "speech_of", in_short_texts)
    write(full, MANY, end := 1100)
    with by_hand(tmp_path) as hand:
        for change in ("UPDATE judgements SET notes = '{}', at = 0.1", *altered):
            hand.execute(change)
    shutil.rmtree(kept_in(tmp_path))
    kept = columns_of(full, (STUDIES[0].key,), fewest=0)
    assert kept is not None
    found = rows(kept.of_studies((STUDIES[0].key,)))
    assert len(found) == end
    assert found == rows(scan(full, (STUDIES[0].key,), soft=True))


def test_judgements_that_are_alike_are_read_as_one_text(
    full: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def row_by_row(*_: object) -> NoReturn:
        raise AssertionError("It was read row by row.")

    with by_hand(tmp_path) as hand:
        hand.execute("UPDATE judgements SET notes = '{}'")
        hand.execute("UPDATE trials SET replicate = 0")
    shutil.rmtree(kept_in(tmp_path))
    monkeypatch.setattr(new_columns, "_judged_one_by_one", row_by_row)
    monkeypatch.setattr(new_columns, "_row_by_row", row_by_row)
    kept = columns_of(full, (STUDIES[0].key,), fewest=0)
    assert kept is not None
    assert rows(kept.of_studies((STUDIES[0].key,))) == rows(scan(full, (STUDIES[0].key,), soft=True))


def test_judgements_of_writers_who_commit_side_by_side(
    full: Ledger, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """On a server the newest number may be seen before a lower one is."""
    with by_hand(tmp_path) as hand:
        hand.execute(f"UPDATE judgements SET seq = seq + 1000 WHERE seq = {MANY}")
    shutil.rmtree(kept_in(tmp_path))
    assert agree(full, (STUDIES[0].key,)) == MANY
    write(full, MANY, MANY + 5)
    assert agree(full, (STUDIES[0].key,)) == MANY + 5
    assert not caplog.messages, "none of it is made anew"


def test_a_file_that_is_gone(full: Ledger, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    for path in parts_in(tmp_path):
        path.unlink()
    assert agree(full, (STUDIES[0].key,)) == MANY
    assert len(caplog.messages) == 1


def test_a_list_that_is_gone_or_was_not_yet_written(
    full: Ledger, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    (kept_in(tmp_path) / "columns.json").unlink()
    assert agree(full, (STUDIES[0].key,)) == MANY
    assert not caplog.messages


@pytest.mark.parametrize("file", ["columns.json", "*.columns"])
def test_files_that_somebody_else_may_have_written_are_not_read(
    full: Ledger, caplog: pytest.LogCaptureFixture, tmp_path: Path, file: str
) -> None:
    (path,) = kept_in(tmp_path).glob(file)
    path.chmod(0o620)
    assert agree(full, (STUDIES[0].key,)) == MANY
    assert "another user's" in caplog.messages[0]
    assert agree(full, (STUDIES[0].key,)) == MANY
    assert len(caplog.messages) == 1, "what was made anew is this user's alone"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_files_of_another_user_are_not_read(full: Ledger, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    for path in (kept_in(tmp_path), *kept_in(tmp_path).iterdir()):
        os.chown(path, 65534, 65534)
    assert agree(full, (STUDIES[0].key,)) == MANY
    assert "another user's" in caplog.messages[0]


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"version":4}', None])
def test_a_list_of_another_form_is_damaged(
    full: Ledger, caplog: pytest.LogCaptureFixture, tmp_path: Path, body: bytes | None
) -> None:
    path = kept_in(tmp_path) / "columns.json"
    said = json.loads(path.read_bytes().split(b"\n", 1)[1])
    body = body or json.dumps({**said, "parts": []}).encode()
    path.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    assert agree(full, (STUDIES[0].key,)) == MANY
    assert "damaged" in caplog.messages[0]


def test_columns_of_another_version(full: Ledger, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    path = kept_in(tmp_path) / "columns.json"
    said = json.loads(path.read_bytes().split(b"\n", 1)[1])
    body = json.dumps({**said, "version": said["version"] - 1}).encode()
    path.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    assert agree(full, (STUDIES[0].key,)) == MANY
    assert "another version" in caplog.messages[0]


def test_columns_of_another_ledger(full: Ledger, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    with ledger_in(tmp_path / "other") as other:
        other.register_benchmark(BENCHMARK)
        other.add_responses(list(ANSWERS.values()))
        other.register_study(STUDIES[0], rater=JUDGE, condition=CONDITION, wanted=0)
        write(other, 5, 25)
        (ours,) = parts_in(tmp_path)
        kept = ours.parent
        agree(other, (STUDIES[0].key,))
        (theirs,) = {path.parent for path in kept.parent.rglob("columns.json")} - {kept}
        shutil.rmtree(theirs)
        shutil.copytree(kept, theirs)
        assert agree(other, (STUDIES[0].key,)) == 20
    assert "another ledger" in caplog.messages[0]


@pytest.mark.sqlite("a ledger's file is put back")
def test_a_ledger_that_was_put_back_and_went_another_way(
    full: Ledger, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    full.close()
    for path in tmp_path.glob("ledger.db*"):
        shutil.copy(path, tmp_path / f"kept-{path.name}")
    write(full, MANY, MANY + A_FILE)
    assert agree(full, (STUDIES[0].key,)) == MANY + A_FILE
    full.close()
    for path in tmp_path.glob("ledger.db*"):
        path.unlink()
    for path in tmp_path.glob("kept-ledger.db*"):
        path.rename(tmp_path / path.name.removeprefix("kept-"))
    with Ledger(f"sqlite:///{tmp_path}/ledger.db", create=False) as back:
        write(back, 2 * MANY, 3 * MANY)
        assert agree(back, (STUDIES[0].key,)) == 2 * MANY
    assert "does not hold" in caplog.messages[0]


def test_several_at_once_all_say_what_the_record_says(full: Ledger, caplog: pytest.LogCaptureFixture) -> None:
    def one(number: int) -> int:
        if number % 4 == 0:
            write(full, MANY + 400 * number, MANY + 400 * (number + 1))
        kept = columns_of(full, (STUDIES[0].key,), fewest=0)
        assert kept is not None
        return kept.judgements

    with ThreadPoolExecutor(4) as pool:
        assert all(number >= MANY for number in pool.map(one, range(12)))
    assert agree(full, (STUDIES[0].key,)) == MANY + 1200
    assert not caplog.messages


def reader_of(folder: Path) -> Forked:
    """A process that has the ledger open and reads, by the columns in this folder, when it is told to."""
    env = {**os.environ, "EVENHAND_COLUMN_CACHE": str(folder)}
    started = Forked(READER, [url_in(folder.parent), STUDIES[0].key, str(folder)], cwd=ROOT, env=env)
    assert started.stdout.readline() == "here\n"
    return started


def told(reader: Forked, what: str = "read") -> str:
    """What it says; nothing where it was killed."""
    reader.stdin.write(f"{what}\n")
    reader.stdin.flush()
    return reader.stdout.readline()


def ended(reader: Forked) -> int:
    done = reader.communicate(None)
    assert "made anew" not in done.stderr
    assert "Traceback" not in done.stderr
    return done.returncode


def plainly(ledger: Ledger, first: int) -> str:
    """What a reader says of so many judgements, read without columns."""
    found = rows(scan(ledger, (STUDIES[0].key,), soft=True))[:first]
    return f"{len(found)} {digest(found)}\n"


def test_two_processes_that_write_at_once_both_say_what_the_record_says(full: Ledger, tmp_path: Path) -> None:
    """Each of them finds enough that is new to write it; a writer goes on while they read."""
    readers = [reader_of(tmp_path / "cache") for _ in range(2)]
    end = MANY
    for _ in range(3):
        write(full, end, end := end + A_FILE)
        with ThreadPoolExecutor(2) as pool:
            saying = [pool.submit(told, reader) for reader in readers]
            write(full, end, end := end + 50)
            said = [one.result() for one in saying]
        numbers = [int(one.split()[0]) for one in said]
        assert {*numbers} <= {end - 50, end}
        assert said == [plainly(full, number) for number in numbers]
        assert agree(full, (STUDIES[0].key,)) == end
    assert [ended(reader) for reader in readers] == [0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("begun", ["anew", "with some", "with what another left"])
def test_a_process_that_is_killed_before_any_step_on_the_files_leaves_what_the_record_says(
    full: Ledger, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path, begun: str
) -> None:
    for path in parts_in(tmp_path) if begun == "with what another left" else ():
        shutil.copy(path, path.with_name("0.columns"))
        os.utime(path.with_name("0.columns"), (1, 1))
    write(full, MANY, end := MANY + A_FILE)
    step = 0
    for step in itertools.count(1):
        cache = tmp_path / f"cache-{step}"
        if begun != "anew":
            shutil.copytree(tmp_path / "cache", cache)
        reader = reader_of(cache)
        said, code = told(reader, f"step {step}"), ended(reader)
        monkeypatch.setenv("EVENHAND_COLUMN_CACHE", str(cache))
        assert agree(full, (STUDIES[0].key,)) == end
        assert agree(full, (STUDIES[0].key,)) == end, "of what was kept meanwhile"
        assert not caplog.messages
        if code == 0:
            assert said == plainly(full, end)
            break
        assert (said, code) == ("", -signal.SIGKILL)
    assert step > 10, "so many steps there are at least"


@pytest.mark.parametrize(("length", "files"), [(1, 0), (20_000, 0), (1, 1), (200, 1)])
def test_a_process_that_is_killed_while_it_writes_a_file_leaves_what_the_record_says(
    full: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
    length: int,
    files: int,
) -> None:
    write(full, MANY, end := MANY + A_FILE)
    cache = tmp_path / "killed"
    shutil.copytree(tmp_path / "cache", cache)
    reader = reader_of(cache)
    assert (told(reader, f"bytes {length} {files}"), ended(reader)) == ("", -signal.SIGXFSZ)
    (left,) = cache.rglob("*.unfinished")
    assert left.stat().st_size == length
    monkeypatch.setenv("EVENHAND_COLUMN_CACHE", str(cache))
    assert agree(full, (STUDIES[0].key,)) == end
    os.utime(left, (1, 1))
    write(full, end, end + A_FILE)
    assert agree(full, (STUDIES[0].key,)) == end + A_FILE
    assert not left.exists(), "nobody is at it any more"
    assert not caplog.messages


def test_a_cache_that_cannot_be_written_is_no_reason_not_to_read(full: Ledger, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_bytes(b"no folder")
    assert agree(full, (STUDIES[0].key,)) == MANY


def test_what_nobody_has_used_for_long_goes(full: Ledger, tmp_path: Path) -> None:
    kept = kept_in(tmp_path)
    old, mixed, new, named = (kept.parent / name for name in ("0" * 32, "1" * 32, "2" * 32, "letters"))
    for one in (old, mixed, new, named):
        shutil.copytree(kept, one)
    (mixed / "letter.txt").write_text("Dear Ann")
    for one in (old, mixed, named):
        os.utime(one / "columns.json", (1, 1))
    write(full, MANY, MANY + A_FILE)
    agree(full, (STUDIES[0].key,))
    assert {path.name for path in kept.parent.iterdir()} == {kept.name, mixed.name, new.name, "letters"}
    assert [path.name for path in mixed.iterdir()] == ["letter.txt"]
    assert (named / "columns.json").exists()


def test_small_studies_are_read_from_the_record(full: Ledger) -> None:
    assert columns_of(full, (STUDIES[0].key,), fewest=MANY) is not None
    assert columns_of(full, (STUDIES[0].key,), fewest=MANY + 1) is None
    assert columns_of(full, (STUDIES[0].key,)) is None
