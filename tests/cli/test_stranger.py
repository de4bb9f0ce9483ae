"""A folder that came from a stranger: whatever its files say, a plain command in it writes, sends and runs nothing."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.images.addresses import FetchedAddress, ImageAddresses
from evenhand.images.places import ADDRESSES, NotesFile
from tests.benchmarks.files import RED
from tests.cli.stranger import DEAF, EVENHAND, Victim
from tests.e2e.workplace import stats
from tests.refusals import says
from tests.scripted_server import server_process
from tests.site.test_serve import free_port
from tests.warm import LONG

KEY = "sk-a-key-of-the-users-own-000000"
JUDGE = ("judge", "visit-bench-sample", "--judge", "openai/m", "--pairs", "random", "--battles", "1", "--json")


@pytest.fixture
def victim(tmp_path: Path) -> Victim:
    return Victim.at(tmp_path)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with server_process() as base_url:
        yield base_url


RANK = ("rank", "battles.csv")
SAMPLE = ("sample", "visit-bench-sample")
CHOSEN = "which a folder may not choose for you"

ATTACKS = [
    # What is written.
    ("evenhand.toml", 'out = "{home}/precious"\nform = "md"', ("report",), "'out'", "--out"),
    ("evenhand.toml", 'out = "report.html"', ("report",), "'out'", "--out"),
    ("evenhand.toml", "force = true", ("export", "--responses", "--out", "a.csv"), "'force'", "--force"),
    ("evenhand.toml", '"plot" = ["{home}/precious"]', RANK, "'plot'", "--plot"),
    ("evenhand.toml", 'plot = "x.svg"', ("correlate", "battles.csv"), "'plot'", "--plot"),
    (".env", "EVENHAND_OUT={home}/precious", ("report",), "'EVENHAND_OUT'", "--out"),
    (".env", "export EVENHAND_FORCE=1", SAMPLE, "'EVENHAND_FORCE'", "--force"),
    (".env", "\ufeffEVENHAND_PLOT='x.svg'", RANK, "'EVENHAND_PLOT'", "--plot"),
    ("evenhand.toml", "\ufeffreplace = true", JUDGE, "'replace'", "--replace"),
    # What is sent, and where.
    ("evenhand.toml", 'judge_api_key_env = "SECRET_OF_ANOTHER"', JUDGE, "'judge-api-key-env'", "--judge-api-key-env"),
    ("evenhand.toml", 'judge-base-url = "{url}"', JUDGE, "'judge-base-url'", "--judge-base-url"),
    ("evenhand.toml", 'base_url = "{url}"', JUDGE, "'base-url'", "--base-url"),
    (".env", "EVENHAND_JUDGE_BASE_URL={url}", JUDGE, "'EVENHAND_JUDGE_BASE_URL'", "--judge-base-url"),
    (".env", "OPENAI_BASE_URL={url}", JUDGE, "OPENAI_BASE_URL", "Set OPENAI_BASE_URL"),
    (".env", "OPENAI_API_BASE={url}", ("doctor", "--model", "openai/m"), "OPENAI_API_BASE", "Set OPENAI_API_BASE"),
    (".env", "https_proxy={url}", JUDGE, "https_proxy", "Set https_proxy"),
    (".env", "ALL_PROXY={url}", JUDGE, "ALL_PROXY", "Set ALL_PROXY"),
    ("evenhand.toml", "extra-body = '{{\"user\": \"x\"}}'", JUDGE, "'extra-body'", "--extra-body"),
    ("evenhand.toml", 'endpoint-name = "x"', JUDGE, "'endpoint-name'", "--endpoint-name"),
    ("evenhand.toml", 'extractor = "openai/x"', JUDGE, "'extractor'", "--extractor"),
    (".env", "EVENHAND_TOKEN=of-the-stranger", ("submit", DEAF, "--status", "1"), "'EVENHAND_TOKEN'", "--token"),
    ("evenhand.toml", 'host = "0.0.0.0"', ("serve",), "'host'", "--host"),
    ("evenhand.toml", "allow-private = true", ("worker", "--once"), "'allow-private'", "--allow-private"),
    # What a worker that `serve` starts would refuse is told by `serve`.
    ("evenhand.toml", 'extra_body = "{{}}"', ("serve",), "'extra-body'", "--extra-body"),
    # What is spent.
    ("evenhand.toml", 'price = "input=0,output=0"', (*JUDGE, "--max-cost", "1"), "'price'", "--price"),
    ("evenhand.toml", "replicates = 1000", JUDGE, "'replicates'", "--replicates"),
    ("evenhand.toml", "timeout = 0.01", JUDGE, "'timeout'", "--timeout"),
    ("evenhand.toml", "max-connections = 1024", JUDGE, "more than the usual 64", "--max-connections"),
    ("evenhand.toml", "max-retries = 99", JUDGE, "more than the usual 6", "--max-retries"),
    # What is read and loaded.
    ("evenhand.toml", 'data = "{home}/precious"', JUDGE, "lies outside this folder", "--data"),
    ("evenhand.toml", 'data = "link"', JUDGE, "lies outside this folder", "--data"),
    ("evenhand.toml", 'responses = ["../home/precious"]', JUDGE, "lies outside this folder", "--responses"),
    ("evenhand.toml", 'protocol = "../home"', JUDGE, "lies outside this folder", "--protocol"),
    ("evenhand.toml", 'benchmark = "~/items.jsonl"', ("audit", "--judge", "openai/m"), "outside", "--benchmark"),
    ("evenhand.toml", 'judge = "local/w.gguf"', ("judge", "visit-bench-sample"), "a file of weights", "--judge"),
    ("evenhand.toml", 'detector = "d.onnx"', ("describe", "visit-bench-sample"), "'detector'", "--detector"),
    (".env", "EVENHAND_CACHE=weights", ("models", "fetch", "local/smollm2"), "EVENHAND_CACHE", "Set EVENHAND_CACHE"),
    # Where the ledger lies.
    ("evenhand.toml", 'store = "postgresql://u:p@127.0.0.1:9/x"', ("runs",), "no SQLite file in this", "--store"),
    ("evenhand.toml", 'store = "sqlite:///{home}/ledger.db"', ("runs",), "lies outside this folder", "--store"),
    ("evenhand.toml", 'store = "sqlite:///../ledger.db"', JUDGE, "lies outside this folder", "--store"),
    ("evenhand.toml", 'store = "sqlite:///link"', JUDGE, "lies outside this folder", "--store"),
    ("evenhand.toml", 'store = "sqlite:///linked/l.db"', JUDGE, "lies outside this folder", "--store"),
    ("evenhand.toml", 'store = "sqlite:///file:x?uri=true&mode=rwc"', JUDGE, "no SQLite file in this", "--store"),
    ("evenhand.toml", 'store = "sqlite+pysqlite:///x.db"', JUDGE, "no SQLite file in this", "--store"),
    (".env", "EVENHAND_STORE=sqlite:///%2e%2e/x.db", ("runs",), "no SQLite file in this", "--store"),
    (".env", "EVENHAND_STORE='sqlite:////etc/ledger.db'", ("ledger", "info"), "lies outside", "--store"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "text", "command", "names", "allows"), ATTACKS)
def test_what_a_folder_may_not_choose_is_refused_with_what_would_allow_it(
    victim: Victim, server: str, file: str, text: str, command: tuple[str, ...], names: str, allows: str
) -> None:
    (victim.folder / "battles.csv").write_text("model_a,model_b,winner\na,b,model_a\nb,a,model_a\n")
    (victim.folder / "link").symlink_to(victim.precious)
    (victim.folder / "linked").symlink_to(victim.home)
    (victim.folder / file).write_text(text.format(home=victim.home, url=server) + "\n")
    before = stats(server)["requests"]
    said = victim.refused(*command, OPENAI_API_KEY=KEY)
    says(said, "EH-FOLDER-UNTRUSTED", file, names, allows, "--trust-folder")
    assert stats(server)["requests"] == before
    assert [path.name for path in victim.home.iterdir()] == ["precious"]
    there = {path.name for path in victim.folder.iterdir()} - {".evenhand"}  # an empty ledger at its usual place
    assert there == {"battles.csv", "link", "linked", file}


def test_a_key_of_the_folder_is_not_used_for_what_is_asked(victim: Victim, server: str) -> None:
    """Whose account it is sees what was asked."""
    (victim.folder / ".env").write_text("OPENAI_API_KEY=sk-of-the-stranger-00000000\n")
    asked = (*JUDGE, "--judge-base-url", server)
    for flags in ((), ("--judge-api-key-env", "OPENAI_API_KEY")):
        says(victim.refused(*asked, *flags), "EH-FOLDER-UNTRUSTED", ".env", "sets OPENAI_API_KEY")
    assert victim.run(*asked, "--trust-folder").returncode == 0
    assert "is not read without --trust-folder" in victim.run("doctor").stdout


def test_a_model_that_the_folder_names_gets_no_key_at_an_address_that_the_user_typed(
    victim: Victim, server: str
) -> None:
    """The provider in its name would choose which of the user's keys is sent."""
    (victim.folder / "evenhand.toml").write_text('judge = "anthropic/m"\n')
    asked = ("judge", "visit-bench-sample", "--pairs", "random", "--battles", "1", "--judge-base-url", server)
    before = stats(server)["requests"]
    said = victim.refused(*asked, ANTHROPIC_API_KEY=KEY)
    says(said, "EH-FOLDER-UNTRUSTED", "anthropic/m", "ANTHROPIC_API_KEY")
    assert stats(server)["requests"] == before
    assert victim.run(*asked, "--judge", "anthropic/m", ANTHROPIC_API_KEY=KEY).returncode == 0
    assert victim.run(*asked, "--trust-folder", ANTHROPIC_API_KEY=KEY).returncode == 0


def test_a_key_that_the_user_named_goes_to_no_provider_that_the_folder_names(victim: Victim) -> None:
    (victim.folder / "evenhand.toml").write_text('judge = "openrouter/m"\n')
    asked = ("judge", "visit-bench-sample", "--pairs", "random", "--battles", "1", "--dry-run")
    key = ("--judge-api-key-env", "SECRET_OF_ANOTHER")
    says(victim.refused(*asked, *key), "EH-FOLDER-UNTRUSTED", "openrouter/m", "SECRET_OF_ANOTHER")
    assert victim.run(*asked, *key, "--judge", "openrouter/m").returncode == 0
    assert victim.run(*asked, *key, "--judge-base-url", DEAF).returncode == 0


def test_a_file_of_items_that_only_the_folder_names_is_shown_no_image_from_elsewhere(victim: Victim) -> None:
    """What it names would be sent to a model."""
    photo = victim.home / "photo.png"
    photo.write_bytes(RED)
    (victim.folder / "items.csv").write_text(f"item,instruction,images\n1,What?,{photo}\n2,Why?,../home/photo.png\n")
    rows = [f"{item},{model},It is {model}." for item in (1, 2) for model in ("a", "b")]
    (victim.folder / "answers.csv").write_text("\n".join(["item,model,response", *rows]) + "\n")
    (victim.folder / "evenhand.toml").write_text('benchmark = "items.csv"\nresponses = ["answers.csv"]\n')
    asked = ("audit", "--judge", "openai/m", "--dry-run")
    says(victim.refused(*asked, OPENAI_API_KEY=KEY), "EH-DATA-IMAGE", str(photo), "../home/photo.png", "leads out")
    assert victim.run(*asked, "--benchmark", "items.csv", OPENAI_API_KEY=KEY).returncode == 0
    assert victim.run(*asked, "--trust-folder", OPENAI_API_KEY=KEY).returncode == 0
    assert victim.run(*asked, OPENAI_API_KEY=KEY, EVENHAND_BENCHMARK="items.csv").returncode == 0


def test_a_folder_cannot_vouch_for_itself(victim: Victim, server: str) -> None:
    toml, dotenv = victim.folder / "evenhand.toml", victim.folder / ".env"
    toml.write_text(f'judge-base-url = "{server}"\ntrust-folder = true\n')
    says(victim.refused(*JUDGE, OPENAI_API_KEY=KEY), "EH-FOLDER-UNTRUSTED", "evenhand.toml", "'trust-folder'")
    toml.unlink()
    dotenv.write_text(f"EVENHAND_JUDGE_BASE_URL={server}\nEVENHAND_TRUST_FOLDER=1\n")
    said = victim.refused(*JUDGE, OPENAI_API_KEY=KEY)
    says(said, "EH-FOLDER-UNTRUSTED", ".env", "trust itself", "--trust-folder")
    assert victim.run(*JUDGE, "--trust-folder", OPENAI_API_KEY=KEY).returncode == 0
    assert victim.run(*JUDGE, OPENAI_API_KEY=KEY, EVENHAND_TRUST_FOLDER="1").returncode == 0


def test_a_folder_that_is_trusted_may_write_where_it_says(victim: Victim) -> None:
    (victim.folder / "evenhand.toml").write_text('out = "asked.jsonl"\n')
    victim.refused(*SAMPLE)
    assert victim.run(*SAMPLE, "--trust-folder").returncode == 0
    assert (victim.folder / "asked.jsonl").exists()
    assert victim.run(*SAMPLE, "--out", "typed.jsonl").returncode == 0  # the user's own word stands before the folder's
    assert (victim.folder / "typed.jsonl").exists()


def test_what_a_folder_may_set_it_sets(victim: Victim) -> None:
    (victim.folder / "evenhand.toml").write_text(
        'judge = "openai/m"\npairs = "random"\nbattles = 3\nmax-connections = 2\nmax_cost = 1\nformat = "md"\n'
        'store = "sqlite:///sub/../own.db"\ndry-run = true\njson = true\n'
    )
    ran = victim.run("judge", "visit-bench-sample", "--price", "input=1,output=1", OPENAI_API_KEY=KEY)
    assert json.loads(ran.stdout)["trials"] == 6


def test_secrets_of_the_environment_are_not_filled_into_what_a_folder_sets(victim: Victim) -> None:
    (victim.folder / ".env").write_text("EVENHAND_JUDGE=nope/${SECRET_OF_ANOTHER}\n")
    said = victim.refused("judge", "visit-bench-sample")
    says(said, "EH-PROVIDER-UNKNOWN", "'nope'")
    assert "sk-of-another" not in said
    (victim.folder / ".env").write_text("EVENHAND_JUDGE=${SECRET_OF_ANOTHER}/m\n")
    says(victim.refused("judge", "visit-bench-sample"), "EH-PROVIDER-UNKNOWN", "'${SECRET_OF_ANOTHER}'")


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("OUT = 'x'", "'OUT'"),
        ("nonsense = 1", "'nonsense'"),
        ("[report]\nout = 'x'", "table [report]"),
        ("report.out = 'x'", "table [report]"),
        ("out = {x = 1}", "table [out]"),
        ("seed = 1\nseed = 2", "cannot be read"),
        ("judge-base-url = 'a'\njudge_base_url = 'b'", "'judge-base-url' twice"),
        ("form = 'md'\nformat = 'csv'", "'format' twice"),
        ("models = [['a']]", "'models'"),
        ("seed = 1979-05-27", "'seed'"),
        ("x = '" + "x" * (1 << 20) + "'", "1,048,576 bytes"),
        ("\x00", "cannot be read"),
        ("report" + ".out" * 20_000 + " = 1", "more than 50 parts"),
        ("seed = " + "[" * 9999, "too deep"),
        ("seed = " + "9" * 5000, "Exceeds the limit"),
        ("seed = 0x" + "f" * 5000, "larger number"),
    ],
)
def test_a_file_of_settings_that_is_none_is_told(victim: Victim, text: str, fact: str) -> None:
    (victim.folder / "evenhand.toml").write_text(text)
    said = victim.refused("judge", "visit-bench-sample", "--judge", "openai/m", "--dry-run")
    says(said, "EH-SETTINGS", "evenhand.toml", fact)


def test_an_unknown_variable_of_ours_is_named_and_what_is_not_ours_is_nothing_to_us(victim: Victim) -> None:
    (victim.folder / ".env").write_text("EVENHAND_OUTT=x\n")
    says(victim.refused("runs"), "EH-SETTINGS", ".env", "EVENHAND_OUTT", "'EVENHAND_OUT'")
    marker = victim.home / "ran"
    (victim.folder / "sitecustomize.py").write_text(f"open({str(marker)!r}, 'w')\n")
    (victim.folder / ".env").write_text(
        f"PYTHONPATH={victim.folder}\nPYTHONSTARTUP=sitecustomize.py\nSSL_CERT_FILE=x.pem\nLD_PRELOAD=x.so\nHOME=.\n"
    )
    assert victim.run("protocols").returncode == 0
    assert not marker.exists()


def test_what_is_no_file_is_not_waited_for(victim: Victim) -> None:
    os.mkfifo(victim.folder / ".env")
    assert victim.run("protocols").returncode == 0
    (victim.folder / ".env").unlink()
    (victim.folder / ".env").mkdir()  # many keep a virtual environment under this name
    assert victim.run("protocols").returncode == 0
    toml = victim.folder / "evenhand.toml"
    os.mkfifo(toml)
    says(victim.refused("protocols"), "EH-SETTINGS", "evenhand.toml is not a file")
    toml.unlink()
    toml.mkdir()
    says(victim.refused("protocols"), "EH-SETTINGS", "evenhand.toml is a folder")
    toml.rmdir()
    toml.symlink_to("/dev/zero")
    says(victim.refused("protocols"), "EH-SETTINGS", "evenhand.toml is not a file")


def test_files_of_the_folders_above_are_not_read(victim: Victim) -> None:
    (victim.folder / "evenhand.toml").write_text("nonsense = 1\n")
    (victim.folder / ".env").write_text("EVENHAND_NONSENSE=1\n")
    below = Victim(folder=victim.folder / "below", home=victim.home)
    below.folder.mkdir()
    assert below.run("protocols").returncode == 0


@pytest.mark.parametrize("link", [".evenhand", ".evenhand/ledger.db", ".evenhand/ledger.db-wal"])
def test_a_link_where_the_ledger_usually_lies_does_not_lead_out(victim: Victim, link: str) -> None:
    path = victim.folder / link
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(victim.precious if "db" in link else victim.home)
    said = victim.refused("sample", "visit-bench-sample")
    says(said, "EH-FOLDER-UNTRUSTED", "sqlite:///.evenhand/ledger.db", "--store", "--trust-folder")
    assert [one.name for one in victim.home.iterdir()] == ["precious"]


@pytest.mark.parametrize("words", [(), ("--trust-folder",), ("--store", "sqlite:///.evenhand/ledger.db")])
@pytest.mark.parametrize("link", ["images", "submitted"])
def test_a_link_in_the_place_of_a_folder_beside_the_ledger_leads_nobody_out(
    victim: Victim, link: str, words: tuple[str, ...]
) -> None:
    (victim.folder / ".evenhand").mkdir()
    (victim.folder / ".evenhand" / link).symlink_to(victim.home)
    ran = victim.run("sample", "visit-bench-sample", *words)
    assert (ran.returncode, ran.stdout) == (1, "")
    says(ran.refused, "EH-LINK", f".evenhand/{link}", victim.home)
    assert [one.name for one in victim.home.iterdir()] == ["precious"]


@pytest.mark.parametrize("store", ["", 'store = "sqlite:///.evenhand/ledger.db"'])
def test_a_link_among_the_images_does_not_lead_out(victim: Victim, store: str) -> None:
    (victim.folder / "evenhand.toml").write_text(store)
    images = victim.folder / ".evenhand" / "images"
    images.mkdir(parents=True)
    for number in range(256):
        (images / f"{number:02x}").symlink_to(victim.home)
    ran = victim.run("sample", "visit-bench-sample")
    assert (ran.returncode, ran.stdout) == (1, "")
    says(ran.refused, "EH-LINK", victim.home)
    assert [one.name for one in victim.home.iterdir()] == ["precious"]


@pytest.mark.slow  # starts a server that starts a worker
def test_modules_in_the_folder_do_not_run_in_the_worker_that_serve_starts(victim: Victim) -> None:
    marker = victim.home / "ran"
    for name in ("evenhand", "click", "runpy"):
        (victim.folder / f"{name}.py").write_text(
            f"import sys\nopen({str(marker)!r}, 'w')\nprint('Error: it ran', file=sys.stderr)\n"
        )
    port = free_port()
    environment = {"PATH": os.environ["PATH"], "HOME": str(victim.home), "TMPDIR": str(victim.home)}
    with subprocess.Popen(
        [EVENHAND, "serve", "--port", str(port)], cwd=victim.folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as serving:  # fmt: skip
        assert serving.stderr is not None
        try:
            heard = next(line for line in serving.stderr if "The worker has no" in line or "Error" in line)
        finally:
            serving.terminate()
    assert "The worker has no" in heard
    assert not marker.exists()


@pytest.mark.parametrize("flags", [(), ("-P",)])
def test_modules_in_the_folder_do_not_run_by_python_m(victim: Victim, flags: tuple[str, ...]) -> None:
    marker = victim.home / "ran"
    for name in ("platformdirs", "click", "typing", "re", "difflib", "email", "tomllib", "sqlalchemy", "csv"):
        (victim.folder / f"{name}.py").write_text(f"open({str(marker)!r}, 'w')\n")
    ran = subprocess.run(
        [sys.executable, *flags, "-m", "evenhand", "report", "--no-such"], cwd=victim.folder, capture_output=True,
        text=True, env={"PATH": os.environ["PATH"], "HOME": str(victim.home)}, timeout=LONG,
    )  # fmt: skip
    assert ran.returncode == 2
    assert ran.stderr.startswith("Usage: evenhand report [OPTIONS]")
    assert not marker.exists()


def test_ones_own_configuration_may_set_what_a_folder_may_not_and_goes_before_it(victim: Victim, server: str) -> None:
    own = victim.home / ".config" / "evenhand" / "evenhand.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f'judge-base-url = "{server}"\nbattles = 2\n')
    (victim.folder / "evenhand.toml").write_text("battles = 5\nmax-cost = 500\n")
    asked = ("judge", "visit-bench-sample", "--judge", "m", "--pairs", "random", "--json")
    ran = victim.run(*asked, "--price", "input=1,output=1")
    assert json.loads(ran.stdout)["planned"] == 4, ran.stderr
    own.write_text("trust-folder = true\n")
    says(victim.refused(*asked), "EH-SETTINGS", own, "trust-folder")
    own.write_text("nonsense = 1\n")
    says(victim.refused(*asked), "EH-SETTINGS", f"{own} sets 'nonsense'")


def test_a_key_goes_over_plain_http_to_another_machine_only_by_the_users_word(victim: Victim, server: str) -> None:
    asked = (*JUDGE, "--judge-base-url", "http://judge.invalid/v1", "--max-retries", "0")
    proxy = server.removesuffix("/v1")
    before = stats(server)["requests"]
    said = victim.refused(*asked, OPENAI_API_KEY=KEY, http_proxy=proxy)
    says(said, "EH-KEY-UNENCRYPTED", "http://judge.invalid", "--insecure-http (EVENHAND_INSECURE_HTTP=1)")
    (victim.folder / "evenhand.toml").write_text("insecure-http = true\n")
    assert "but only you can say that" in victim.refused(*asked, "--trust-folder", OPENAI_API_KEY=KEY)
    (victim.folder / "evenhand.toml").unlink()
    (victim.folder / ".env").write_text("EVENHAND_INSECURE_HTTP=1\n")
    assert "but only you can say that" in victim.refused(*asked, "--trust-folder", OPENAI_API_KEY=KEY)
    (victim.folder / ".env").unlink()
    assert "is not encrypted" in victim.refused(*JUDGE, "--judge-base-url", "http://judge.invalid/v1?key=sk-1")
    assert stats(server)["requests"] == before
    word = {"OPENAI_API_KEY": KEY, "http_proxy": proxy}
    assert victim.run(*asked, "--insecure-http", **word).returncode == 0
    assert victim.run(*asked, EVENHAND_INSECURE_HTTP="1", **word).returncode == 0


def test_where_images_came_from_is_not_noted_through_a_link(victim: Victim) -> None:
    images = victim.folder / ".evenhand" / "images"
    images.mkdir(parents=True)
    notes = NotesFile(images / ADDRESSES)
    addresses = ImageAddresses(notes)
    notes.path.symlink_to(victim.precious)
    with pytest.raises(OSError, match="symbolic links"):
        addresses.add(FetchedAddress(url="http://x.invalid/a.png", digest="0" * 64, at=0.0, licence=None))
    assert victim.precious.read_text() == "mine"
