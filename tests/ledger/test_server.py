"""Claims about the address of a PostgreSQL ledger: what passes through, what is told, and what never is."""

import json
import re
import shlex
import socket
import threading
import time
import traceback
from collections.abc import Generator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from evenhand.ledger.store.opening import NOT_REPEATED, LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.upkeep.check import check, info
from evenhand.reports.board.trust.audit_hint import store_flag
from tests.cli.shell import Shell
from tests.database import PostgreSQL, the_server
from tests.refusals import refused, tells
from tests.reports.report_scene import numbered
from tests.reports.test_report_cases import amber_always
from tests.warm import LONG

SECRET = "hunter2"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[PostgreSQL]:
    monkeypatch.chdir(tmp_path)
    yield the_server()
    the_server().forget(lambda place: place.is_relative_to(tmp_path))


def with_secrets(url: str) -> str:
    """The same address with all the passwords that one can hold; the server asks for none."""
    return url.replace("eh@", f"eh:{SECRET}@") + f"&password={SECRET}&sslpassword={SECRET}"


def test_no_password_of_an_address_is_told(
    server: PostgreSQL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    url = with_secrets(server.ledger_of(tmp_path / "own"))
    with closing(Ledger(url)) as ledger:
        told = [ledger.where, json.dumps(info(ledger).as_json()), repr(ledger.engine), *store_flag(ledger)]
        assert server.folder.name in ledger.where
        assert [one for one in told if SECRET in one] == []
    out, err = Shell(tmp_path, monkeypatch, capsys).run("ledger", "info", "--store", url)
    assert server.folder.name in out
    assert SECRET not in out + err


def test_a_command_under_a_board_is_whole_where_the_address_has_a_password(
    server: PostgreSQL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """By a variable, which the reader is told of: with the password taken out of it, an address leads nowhere."""
    bare = server.ledger_of(tmp_path / "own")
    with closing(Ledger(bare)) as ledger:
        numbered(2).judged(ledger, amber_always)
    shell = Shell(tmp_path, monkeypatch, capsys)
    out, err = shell.run("rank", "--store", with_secrets(bare))
    (command,) = (line for line in out.splitlines() if line.startswith("  evenhand audit"))
    assert "--store" not in command
    tells(" ".join(out.split()), NOT_REPEATED)
    assert SECRET not in out + err
    out, _ = shell.run("rank", "--store", bare)
    (command,) = (line for line in out.splitlines() if line.startswith("  evenhand audit"))
    assert shlex.split(command)[-2:] == ["--store", bare]
    assert "EVENHAND_STORE" not in out


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("postgresql://ann:{}@127.0.0.1:9/x?sslpassword={}", "EH-LEDGER-SERVER"),
        ("postgresql://ann:{}@/x?host={}/no/folder", "EH-LEDGER-SERVER"),
        ("postgresql://ann:{}@127.0.0.1:9/x?nosuchsetting={}", "EH-LEDGER-SERVER"),
        ("mysql://ann:{}@host/name?password={}", "EH-LEDGER-URL"),
        ("postgresql+nosuchdriver://ann:{}@host/name?password={}", "EH-LEDGER-URL"),
    ],
)
def test_no_password_is_in_what_is_said_of_a_server_that_cannot_be_asked(address: str, code: str):
    hidden = address.format(SECRET, SECRET if "assword={}" in address else "a")
    with pytest.raises(LedgerError) as failed:
        Ledger(hidden)
    assert failed.value.code == code
    assert SECRET not in "".join(traceback.format_exception(failed.value))


@pytest.mark.parametrize("address", ["ann:now@{0}@host/name", "ann:now@host/{0}@name", "ann:now@host/name?{0}@=1"])
def test_no_part_of_a_password_with_an_at_sign_is_taken_for_the_host_and_told(address: str):
    with refused(LedgerError, "%40", code="EH-LEDGER-URL") as failed:
        Ledger(f"postgresql://{address.format(SECRET)}")
    assert SECRET not in "".join(traceback.format_exception(failed.value))


def test_settings_of_libpq_pass_through(server: PostgreSQL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    name = server.ledger_of(tmp_path / "own").partition("@/")[2].partition("?")[0]
    services = tmp_path / "services"
    services.write_text(f"[mine]\nhost={server.folder}\nuser=eh\ndbname={name}\n", encoding="utf-8")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    with closing(Ledger("postgresql:///?service=mine&application_name=ours")) as ledger:
        with ledger.reading() as connection:
            found = connection.exec_driver_sql("SELECT current_database(), current_setting('application_name')").one()
        assert tuple(found) == (name, "ours")
    with refused(LedgerError, "sslmode", "sometimes", code="EH-LEDGER-SERVER"):
        Ledger("postgresql:///?service=mine&sslmode=sometimes").close()


def test_the_short_name_of_the_scheme_is_taken_too(server: PostgreSQL, tmp_path: Path):
    url = server.ledger_of(tmp_path / "own").replace("postgresql:", "postgres:")
    with closing(Ledger(url)) as ledger:
        assert info(ledger).counts["trials"] == 0


@pytest.mark.parametrize("writes", [True, False])
def test_what_only_reads_makes_no_ledger_of_an_empty_database(server: PostgreSQL, tmp_path: Path, writes: bool):
    url = server.empty()
    with refused(LedgerError, url.partition("?")[0], "evenhand judge", code="EH-LEDGER-MISSING"):
        Ledger(url, create=False, writes=writes)
    database = url.partition("@/")[2].partition("?")[0]
    assert server.tell("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", database=database) == [(0,)]


def test_a_dry_run_makes_no_ledger_of_an_empty_database(
    server: PostgreSQL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    url = server.empty()
    shell = Shell(tmp_path, monkeypatch, capsys)
    few = ("--pairs", "random", "--battles", "2")
    shell.document("judge", "visit-bench-sample", "--judge", "openai/gpt-4o", *few, "--dry-run", "--store", url)
    database = url.partition("@/")[2].partition("?")[0]
    assert server.tell("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", database=database) == [(0,)]


@pytest.mark.parametrize(
    ("user", "rest", "facts"),
    [
        ("asked", "postgres?", ("no password supplied", "PGPASSWORD")),
        ("asked:wrong", "postgres?", ("password authentication failed", "PGPASSWORD")),
        ("nobody", "postgres?", ("nobody", "a user that the server knows")),
        ("shut_out", "postgres?", ("not permitted to log in", "administrator")),
        ("rejected", "postgres?", ("pg_hba.conf", "administrator")),
        ("eh", "nowhere?", ("nowhere", "createdb")),
        ("eh", "postgres?nosuchsetting=1&", ("nosuchsetting", "question mark")),
        ("eh", "postgres?sslmode=sometimes&", ("sometimes", "question mark")),
    ],
)
def test_who_is_not_let_in_is_told_what_to_do_about_it(
    particular: PostgreSQL, user: str, rest: str, facts: tuple[str, ...]
):
    with refused(LedgerError, *facts, code="EH-LEDGER-SERVER") as failed:
        Ledger(f"postgresql://{user}@/{rest}host={particular.folder}")
    assert "see that it runs" not in str(failed.value)


def test_who_wants_tls_of_a_server_without_it_is_told_of_sslmode(server: PostgreSQL):
    with closing(OlderThanItIs(server)) as between, refused(LedgerError, "sslmode", code="EH-LEDGER-SERVER") as failed:
        Ledger(f"postgresql://eh@127.0.0.1:{between.port}/postgres?sslmode=require&gssencmode=disable")
    assert "another sslmode" in str(failed.value)


def test_a_server_that_is_not_there_is_to_be_looked_after(tmp_path: Path):
    with refused(LedgerError, "see that it runs", code="EH-LEDGER-SERVER"):
        Ledger(f"postgresql://eh@/postgres?host={tmp_path}")


@pytest.fixture
def particular(server: PostgreSQL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[PostgreSQL]:
    """A server that knows three more users: one is asked for a password, one may not log in, one is rejected."""
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    rules = server.folder / "data" / "pg_hba.conf"
    before = rules.read_text(encoding="utf-8")
    server.tell("CREATE ROLE asked LOGIN PASSWORD 'right'")
    server.tell("CREATE ROLE shut_out")
    server.tell("CREATE ROLE rejected LOGIN")
    rules.write_text(f"local all asked scram-sha-256\nlocal all rejected reject\n{before}", encoding="utf-8")
    server.run("pg_ctl", "reload")
    deadline = time.monotonic() + LONG
    while can_log_in(server, "rejected"):  # a server reads its rules again when it comes to it
        assert time.monotonic() < deadline
        time.sleep(0.01)
    yield server
    rules.write_text(before, encoding="utf-8")
    for role in ("asked", "shut_out", "rejected"):
        server.tell(f"DROP ROLE {role}")


def can_log_in(server: PostgreSQL, user: str) -> bool:
    import psycopg

    with suppress(psycopg.OperationalError), psycopg.connect(f"postgresql://{user}@/postgres?host={server.folder}"):
        return True
    return False


class OlderThanItIs:
    """Stands between a program and the server, and says in its stead that it is of version 12."""

    def __init__(self, server: PostgreSQL) -> None:
        self._to = str(server.folder / ".s.PGSQL.5432")
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                there = socket.socket(socket.AF_UNIX)
                there.connect(self._to)
                threading.Thread(target=self._pass, args=(client, there), daemon=True).start()
                threading.Thread(target=self._pass, args=(there, client), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        with one, suppress(OSError):
            while said := one.recv(65536):
                other.sendall(re.sub(rb"server_version\x00\d\d\.", b"server_version\x0012.", said))
            other.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listening.close()


def test_a_server_of_before_version_13_is_refused_and_gets_no_tables(server: PostgreSQL):
    url = server.empty()
    database = url.partition("@/")[2].partition("?")[0]
    with closing(OlderThanItIs(server)) as between:
        older = f"postgresql://eh@127.0.0.1:{between.port}/{database}?sslmode=disable&gssencmode=disable"
        with refused(LedgerError, "PostgreSQL 12", "13 or newer", database, code="EH-LEDGER-SERVER-OLD"):
            Ledger(older)
    assert server.tell("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", database=database) == [(0,)]
    Ledger(url).close()


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        (
            (
                "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
                "CREATE TRIGGER odd BEFORE INSERT ON judgements FOR EACH ROW EXECUTE FUNCTION nothing()",
            ),
            ["a trigger 'odd'"],
        ),
        (("CREATE RULE odd AS ON INSERT TO judgements DO INSTEAD NOTHING",), ["a rule 'odd'"]),
        (
            ("ALTER TABLE judgements RENAME TO others", "CREATE VIEW judgements AS SELECT * FROM others"),
            ["view 'judgements'", "table 'others'", "table 'judgements'"],
        ),
        (("CREATE TABLE extra (x text)", "CREATE INDEX mine ON extra (x)"), ["a table 'extra'", "an index 'mine'"]),
        (("CREATE SCHEMA aside", "CREATE TABLE aside.more () INHERITS (judgements)"), ["added is rows of more"]),
        (("DROP INDEX ix_judgements_trial_reader",), ["index 'ix_judgements_trial_reader'"]),
        (
            ("DROP INDEX ix_runs_at", "CREATE UNIQUE INDEX ix_runs_at ON runs (at) WHERE at > 0"),
            ["added is unique runs btree (at) where", "missing is runs btree (at)"],
        ),
        (("ALTER TABLE runs ADD COLUMN more TEXT",), ["table 'runs' is not as Evenhand made it: added is more text"]),
        (
            ("ALTER TABLE calls ALTER COLUMN cost_usd TYPE real",),
            ["added is cost_usd real; missing is cost_usd double precision"],
        ),
        (
            ("ALTER TABLE judgements ALTER COLUMN at SET DEFAULT 0",),
            ["added is at double precision default 0 not null"],
        ),
        (("ALTER TABLE judgements ADD CHECK (seq < 5)",), ["added is check ((seq < 5))"]),
        (("ALTER TABLE judgements DROP CONSTRAINT judgements_pkey",), ["missing is primary key (seq)"]),
        (("ALTER TABLE judgements SET UNLOGGED",), ["added is unlogged"]),
        (
            ("ALTER TABLE judgements ENABLE ROW LEVEL SECURITY", "CREATE POLICY odd ON judgements USING (seq > 1)"),
            ["added is row security", "a policy 'odd'"],
        ),
        (("CREATE SEQUENCE of_itself",), ["a sequence 'of_itself'"]),
    ],
)
def test_tables_that_are_not_as_they_were_made_are_found(
    server: PostgreSQL, tmp_path: Path, statements: tuple[str, ...], told: list[str]
):
    url = server.ledger_of(tmp_path / "own")
    with closing(Ledger(url)) as ledger:
        assert check(ledger) == []
        for statement in statements:
            server.tell(statement, database=server.ledgers[tmp_path / "own"])
        found = "\n".join(check(ledger))
    assert [words for words in told if words not in found] == []


def test_what_extensions_bring_is_no_stranger(server: PostgreSQL, tmp_path: Path):
    """Servers that others look after have some, with views of their own."""
    url = server.ledger_of(tmp_path / "own")
    if not server.tell("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_stat_statements'"):
        pytest.skip("the server has no extension with a view")
    server.tell("CREATE EXTENSION pg_stat_statements", database=server.ledgers[tmp_path / "own"])
    with closing(Ledger(url)) as ledger:
        assert check(ledger) == []
