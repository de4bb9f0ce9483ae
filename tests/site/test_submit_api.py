"""Claims about submissions by scripts: a script does what a team does on the pages, and is refused the same."""

import gzip
import io
import json
import socket
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest

from evenhand.domain.submission import Failed, Refused
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import set_terms
from evenhand.ledger.submissions.store import tell
from evenhand.site.accounts.store import access_keys, end_access
from tests.site.desk import POLICY, TERMS, Desk, Team, opened
from tests.site.house import GENEROUS, SCRIPT, SECONDS, House, form_token, numbers, own_token, refusal_of, served, until

LARGE = 50 * 1024 * 1024


@pytest.fixture
def desk(house: House) -> Desk:
    return opened(house)


@pytest.fixture
def team(desk: Desk) -> Team:
    return desk.team()


class Script:
    def __init__(self, team: Team) -> None:
        self.desk = team.desk
        self.client = team.script

    @property
    def offer(self) -> dict[str, Any]:
        return self.client.get("/api/submit").json()["intakes"][0]

    def begin(self, **fields: str) -> httpx.Response:
        given = {
            "model": "Parrot",
            "version": "2",
            "team": "Birds",
            "link": "",
            "policy_hash": self.offer["policy_hash"],
        }
        return self.client.post(f"/api/submit/{self.desk.intake}", json={**given, **fields})

    def began(self, **fields: str) -> str:
        made = self.begin(**fields)
        assert made.status_code == 201, made.text
        return made.json()["submission"]

    def put(self, submission: str, data: bytes, name: str = "predictions.jsonl", **headers: str) -> httpx.Response:
        path = f"/api/submissions/{submission}/file"
        return self.client.put(path, params={"name": name}, content=data, headers=headers)

    def checked(self, submission: str, data: bytes, name: str = "predictions.jsonl") -> dict[str, Any]:
        answered = self.put(submission, data, name)
        assert answered.status_code == 200, answered.text
        return answered.json()

    def status(self, submission: str) -> dict[str, Any]:
        answered = self.client.get(f"/api/submissions/{submission}")
        assert answered.status_code == 200, answered.text
        return answered.json()


@pytest.fixture
def script(team: Team) -> Script:
    return Script(team)


def test_a_script_submits_follows_and_receives(desk: Desk, script: Script):
    offer = script.offer
    assert {name: offer[name] for name in ("intake", "benchmark", "open", "items", "policy", "per_team", "days")} == {
        "intake": desk.intake, "benchmark": "numbers", "open": True, "items": 6, "policy": POLICY, "per_team": 2,
        "days": 30,
    }  # fmt: skip
    assert offer["title"] == "numbers, judged by openai/judge"
    made = script.begin().json()
    submission = made["submission"]
    assert (made["schema"], made["stage"], made["upload"]) == (1, "draft", None)
    faulty = script.checked(submission, desk.answers(item_1=""))
    assert (faulty["submission"], faulty["faults"]) == (submission, 1)
    assert faulty["check"]["empty"] == {"count": 1, "entries": [{"item": "item 1", "row": 1, "text": ""}]}
    assert (
        script.client.post(f"/api/submissions/{submission}/confirm", json={"upload": faulty["upload"]}).status_code
        == 409
    )
    good = script.checked(submission, desk.answers())
    assert good["faults"] == 0
    assert good["upload"] > faulty["upload"]
    confirmed = script.client.post(f"/api/submissions/{submission}/confirm", json={"upload": good["upload"]})
    assert confirmed.status_code == 200
    assert (confirmed.json()["stage"], confirmed.json()["place"]) == ("confirmed", 1)
    desk.approve(submission)
    waiting = script.status(submission)
    assert (waiting["stage"], waiting["wanted"], waiting["done"], waiting["row"]) == ("approved", None, None, None)
    desk.judge(submission, said=False)
    assert (script.status(submission)["wanted"], script.status(submission)["done"]) == (24, None)
    assert script.client.get(f"/api/submissions/{submission}/receipt").status_code == 404
    desk.judge(submission)
    judged = script.status(submission)
    receipt = script.client.get(f"/api/submissions/{submission}/receipt").json()
    assert (judged["stage"], judged["place"], judged["partial"]) == ("judged", None, False)
    assert judged["row"] == receipt["row"]
    assert judged["upload"]["sha256"] == receipt["file_sha256"]
    battles = script.client.get(f"/api/submissions/{submission}/battles").text.splitlines()
    assert {json.loads(line)["B_model"] for line in battles} | {json.loads(line)["A_model"] for line in battles} > {
        "Parrot 2 (Birds)"
    }
    assert script.client.post(f"/api/submissions/{submission}/publish").json()["published"] is True
    assert script.client.post(f"/api/submissions/{submission}/withdraw").json()["stage"] == "withdrawn"
    (mine,) = script.client.get("/api/submissions").json()["submissions"]
    assert (mine["submission"], mine["model"], mine["stage"]) == (submission, "Parrot", "withdrawn")


def test_another_policy_than_the_one_that_stands_is_refused(desk: Desk, script: Script):
    for accepted in ("", "0" * 64, script.offer["policy_hash"].upper()):
        refused = script.begin(policy_hash=accepted)
        assert refusal_of(refused) == (409, "EH-POLICY-CHANGED")
    set_terms(desk.ledger, desk.intake, replace(TERMS, open=False), by="owner")
    refused = script.begin()
    assert refused.status_code == 409
    assert "takes no submissions" in refused.json()["error"]
    assert script.client.get("/api/submissions").json()["submissions"] == []


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"model": " "}, "model's name is missing"),
        ({"link": "javascript:alert(1)"}, "begins with https://"),
        ({"version": "x" * 101}, "100"),
    ],
)
def test_what_cannot_be_entered_is_a_sentence(script: Script, fields: dict[str, str], words: str):
    refused = script.begin(**fields)
    assert refused.status_code == 422
    assert words in refused.json()["error"]


def test_another_teams_submission_is_not_there_and_the_attempt_is_logged(desk: Desk, script: Script):
    submission = script.began()
    upload = script.checked(submission, desk.answers())["upload"]
    stranger = Script(desk.team("Fish"))
    base = f"/api/submissions/{submission}"
    attempts = [
        ("GET", base, None), ("GET", f"{base}/receipt", None), ("GET", f"{base}/battles", None),
        ("PUT", f"{base}/file?name=a.jsonl", b"{}"), ("POST", f"{base}/confirm", {"upload": upload}),
        ("POST", f"{base}/publish", None), ("POST", f"{base}/withdraw", None),
    ]  # fmt: skip
    errors: set[str] = set()
    for method, path, body in attempts:
        sent = {"content": body} if isinstance(body, bytes) else {"json": body} if body else {}
        answered = stranger.client.request(method, path, **sent)  # pyright: ignore[reportArgumentType]
        assert answered.status_code == 404, path
        errors.add(answered.json()["error"])
    errors.add(stranger.client.get("/api/submissions/0badcafe").json()["error"])
    assert len(errors) == 1
    assert desk.house.logged().count("refused: another's submission") == len(attempts) + 1
    assert desk.stands(submission).stage == "draft"
    assert stranger.client.get("/api/submissions").json()["submissions"] == []


def test_a_session_changes_nothing_without_its_form_token(desk: Desk, team: Team):
    submission = team.began()
    path = f"/api/submissions/{submission}/file?name=a.jsonl"
    assert team.client.put(path, content=desk.answers()).status_code == 403
    token = form_token(team.client.get("/account"))
    assert team.client.put(path, content=desk.answers(), headers={"X-CSRF-Token": token}).status_code == 200
    assert desk.house.visitor().get("/api/submissions").status_code == 401
    guess = desk.house.visitor(Authorization="Bearer guess")
    assert guess.put(path, content=b"x").status_code == 401
    owner = desk.house.signed_in("owner", "Olga")
    owners = {"X-CSRF-Token": own_token(owner)}
    assert owner.put(path, content=desk.answers(), headers=owners).status_code == 403


def test_uploads_of_one_submission_are_counted(desk: Desk, script: Script):
    submission = script.began()
    for _ in range(50):
        script.checked(submission, b"{}")
    refused = script.put(submission, desk.answers())
    assert refused.status_code == 409
    assert "50 files" in refused.json()["error"]


def packed_sheet() -> bytes:
    """A spreadsheet whose one sheet unpacks to a gigabyte."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("xl/sheet1.xml", "w") as sheet:
        for _ in range(64):
            sheet.write(bytes(1 << 20))
    return packed.getvalue()


@pytest.mark.slow
def test_a_bad_file_is_a_sentence_and_the_server_stays_up(desk: Desk, script: Script):
    submission = script.began()
    bomb = packed_sheet()
    answers = desk.answers()
    latin = '{"item": "item 1", "response": "café"}\n'.encode("latin-1")
    cases: list[tuple[str, bytes, str, str]] = [
        ("zip as csv", bomb, "a.csv", "ZIP"),
        ("xlsx", bomb, "a.xlsx", "give a .csv or a .jsonl file"),
        ("gzip as jsonl", gzip.compress(bytes(1 << 24)), "a.jsonl", "gzip"),
        ("binary junk", bytes(range(256)) * 100, "a.jsonl", "NUL"),
        ("utf-16", answers.decode().encode("utf-16"), "a.jsonl", "save it as UTF-8"),
        ("utf-16 without a mark", answers.decode().encode("utf-16-le"), "a.csv", "save it as UTF-8"),
        ("latin-1", latin, "a.jsonl", "is not UTF-8"),
        ("empty", b"", "a.jsonl", "empty"),
        (
            "a row of 50 MB",
            b'{"item": "item 1", "response": "' + b"x" * (LARGE - 100) + b'"}\n',
            "a.jsonl",
            "longer than",
        ),
        ("a cell of 50 MB", b'item,response\r\nitem 1,"' + b"x" * (LARGE - 100), "a.csv", ""),
        ("100,001 rows", b'{"item": "item 1", "response": "one"}\n' * 100_001, "a.jsonl", "more than 100,000 rows"),
        ("deep JSON", b"[" * 1_000_000, "a.jsonl", ""),
        ("an unclosed quote", b'item,response\r\n"item 1,one\r\n' * 1000, "a.csv", ""),
        ("no ending", answers, "predictions", "has no ending"),
    ]
    for what, data, name, words in cases:
        found = script.checked(submission, data, name)
        assert found["faults"] >= 1, what
        sentences = found["check"]["sentences"]
        assert sentences, what
        assert words in " ".join(sentences), (what, sentences)
        assert script.client.get("/api/submit").status_code == 200, what
    assert script.checked(submission, answers)["faults"] == 0


@pytest.mark.slow
def test_100000_rows_are_read_to_the_end(desk: Desk, script: Script):
    submission = script.began()
    rows = b"".join(b'{"item": "item %d", "response": "again"}\n' % (number % 6 + 1) for number in range(100_000))
    found = script.checked(submission, rows)
    assert found["faults"] == 0
    assert "Rows that say the same again" in " ".join(found["check"]["notes"])


def test_answers_to_what_the_data_cannot_ask_are_passed_over_and_counted(desk: Desk, script: Script):
    """As by the command line: a case without an image is in the published file, and so in everybody's answers."""
    answers = desk.answers() + b'{"item": "item 99", "response": "blind"}\n{"item": "x%", "response": "wrong"}\n'
    unknown = script.checked(script.began(), answers)
    assert (unknown["faults"], unknown["check"]["unknown"]["count"]) == (2, 2)
    bench = numbers(desk.ledger)
    desk.ledger.register_benchmark(replace(bench, left_out=frozenset({"item 99", "item 1"})))
    desk.ledger.register_benchmark(bench)
    found = script.checked(script.began(model="Macaw"), answers)
    assert (found["faults"], [one["item"] for one in found["check"]["unknown"]["entries"]]) == (1, ["x%"])
    assert "left out of the data, passed over: 1 (item 99)" in " ".join(found["check"]["notes"])


def test_formula_cells_stay_the_text_they_are(desk: Desk, script: Script):
    submission = script.began()
    cells = ['=HYPERLINK("http://evil.example")', "+1", "-1", "@SUM(A1)", "\t=1", SCRIPT]
    table = "item,response\r\n" + "".join(
        f'{label},"{cell.replace(chr(34), chr(34) * 2)}"\r\n' for label, cell in zip(desk.labels, cells, strict=True)
    )
    found = script.checked(submission, table.encode(), "a.csv")
    assert found["faults"] == 0
    assert "begin like a spreadsheet's formula" in " ".join(found["check"]["notes"])
    upload = desk.stands(submission).upload
    assert upload
    assert desk.ledger.submitted.get(upload.file) == table.encode()


def test_a_packed_body_is_refused_unread(desk: Desk, script: Script):
    submission = script.began()
    refused = script.put(submission, gzip.compress(desk.answers()), **{"Content-Encoding": "gzip"})
    assert refused.status_code == 415
    assert "without a Content-Encoding" in refused.json()["error"]
    assert desk.stands(submission).upload is None


def test_more_than_the_most_is_refused_whether_it_says_so_or_not(desk: Desk, script: Script):
    submission = script.began()

    def unmeasured() -> Iterator[bytes]:
        for _ in range(51):
            yield bytes(1 << 20)

    for data, read in ((bytes(LARGE + 1), True), (bytes(54_000_000), False), (unmeasured(), False)):
        refused = script.client.put(f"/api/submissions/{submission}/file", params={"name": "a.csv"}, content=data)
        assert refused.status_code == 413
        assert "MB" in refused.json()["error"] or "KB" in refused.json()["error"]
        assert read or refused.headers["connection"] == "close"  # what may still come of it is no request
    assert desk.stands(submission).upload is None
    assert script.checked(submission, desk.answers())["faults"] == 0


def test_a_body_cut_short_leaves_nothing_behind(desk: Desk, script: Script, caplog: pytest.LogCaptureFixture):
    submission = script.began()
    address = urlsplit(desk.house.url)
    assert address.hostname
    assert address.port
    token = script.client.headers["Authorization"]
    head = (
        f"PUT /api/submissions/{submission}/file?name=a.jsonl HTTP/1.1\r\nHost: {address.netloc}\r\n"
        f"Authorization: {token}\r\nContent-Length: 1000000\r\n\r\n"
    )
    with socket.create_connection((address.hostname, address.port), timeout=SECONDS) as cut:
        cut.sendall(head.encode() + b"x" * 1000)
    boundary = b'--b\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n'
    whole = script.client.post(
        f"/submissions/{submission}/file", content=boundary, headers={"Content-Type": "multipart/form-data; boundary=b"}
    )
    assert whole.status_code in (400, 403)
    assert script.checked(submission, desk.answers())["faults"] == 0
    assert len(desk.the(submission).events) == 1
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


@pytest.mark.slow
def test_an_upload_that_does_not_come_in_time_is_refused_and_logged(ledger: Ledger):
    with served(ledger) as house:
        team = opened(house).team()
        submission, token = team.began(), team.script.headers["Authorization"]
    with served(ledger, limits=replace(GENEROUS, seconds=1, slowest=1e9)) as house:
        address = urlsplit(house.url)
        head = (
            f"PUT /api/submissions/{submission}/file?name=a.jsonl HTTP/1.1\r\nHost: {address.netloc}\r\n"
            f"Authorization: {token}\r\nContent-Length: 1000000\r\n\r\n"
        )

        def logged() -> bool:
            """Not where we were held up before we had said anything, or before our token was looked at."""
            with socket.create_connection(("127.0.0.1", address.port or 0), timeout=SECONDS) as slow:
                slow.sendall(head.encode() + b"x")
                assert slow.recv(12) in (b"HTTP/1.1 408", b"HTTP/1.1 503")
            return "refused: slow request" in house.logged()

        until(logged, "an upload that begins in time")


@pytest.mark.slow
def test_pages_are_answered_while_large_files_are_checked(script: Script):
    """Four at once, of which two are read at a time; each is kept."""
    submissions = [script.began() for _ in range(4)]
    rows = b"".join(b'{"item": "item %d", "response": "again"}\n' % (number % 6 + 1) for number in range(60_000))
    with ThreadPoolExecutor(4) as senders:
        sent = [senders.submit(script.checked, one, rows) for one in submissions]
        answered = 0
        while not all(one.done() for one in sent):
            assert script.client.get("/submit").status_code == 200
            answered += 1
    assert [one.result()["faults"] for one in sent] == [0, 0, 0, 0]
    assert answered


def test_the_questions_and_the_file_to_fill_in_are_part_of_the_api(desk: Desk):
    visitor = desk.house.visitor()
    described = visitor.get("/openapi.json").json()["paths"]
    for path in ("/api/submit/{intake}/items.{ending}", "/api/submit/{intake}/predictions.{ending}"):
        assert described[path]["get"]["security"] == []
    for name in ("items.jsonl", "items.csv", "predictions.jsonl", "predictions.csv"):
        by_page, by_script = (visitor.get(f"{start}/submit/{desk.intake}/{name}") for start in ("", "/api"))
        assert by_page.status_code == by_script.status_code == 200
        assert by_page.content == by_script.content
        assert name in by_script.headers["content-disposition"]
    assert visitor.get(f"/api/submit/{desk.intake}/items.exe").status_code == 422


def test_the_owner_has_every_submission_its_receipt_and_its_battles_whole(desk: Desk):
    team = desk.team()
    submission = team.confirmed()
    desk.approve(submission)
    desk.judge(submission)
    owner = desk.house.signed_in("owner")
    path = f"/api/submissions/{submission}"
    assert owner.get(path).json() == team.script.get(path).json()
    assert owner.get(f"{path}/receipt").json() == team.script.get(f"{path}/receipt").json()
    whole, theirs = (one.get(f"{path}/battles").text.splitlines() for one in (owner, team.script))
    assert len(whole) > len(theirs) > 0
    for ending in ("", "/receipt", "/battles"):
        assert owner.get(f"/api/submissions/00000000{ending}").status_code == 404
    (listed,) = owner.get("/api/all-submissions").json()["submissions"]
    assert (listed["spent_usd"], listed["failures"], listed["reason"]) == (0.0, [], None)


def test_the_owner_reads_why_a_submission_does_not_go_on(desk: Desk):
    team = desk.team()
    failing, refused = team.confirmed(), team.confirmed(version="3")
    desk.approve(failing)
    tell(desk.ledger, failing, Failed(detail="The judge is away."), person=None)
    tell(desk.ledger, refused, Refused(reason="Copied."), person="owner")
    told = desk.house.signed_in("owner").get("/api/all-submissions").json()["submissions"]
    found = {one["submission"]: one for one in told}
    assert [one["detail"] for one in found[failing]["failures"]] == ["The judge is away."]
    assert found[refused]["reason"] == "Copied."


@pytest.mark.parametrize("token", ["nonsense", "", "ended"])
def test_a_token_that_does_not_hold_is_told_so_at_every_change_and_counted(desk: Desk, token: str):
    team = desk.team()
    if token == "ended":
        script = team.script
        for one in access_keys(desk.ledger, team.id):
            end_access(desk.ledger, person=team.id, key=one.id)
    else:
        script = desk.house.visitor(Authorization=f"Bearer {token}".strip())
    before = desk.house.logged().count("refused: not signed in")
    changes = [
        script.post(f"/api/submit/{desk.intake}", json={}),
        script.post("/api/tokens", json={"note": "x"}),
        script.put("/api/submissions/x/file?name=a.csv", content=b""),
        script.post("/api/submissions/x/withdraw"),
        script.post("/api/invitations", json={"role": "owner"}),
    ]
    assert [refusal_of(one, "token") for one in changes] == [(401, "EH-SIGN-IN")] * len(changes)
    assert desk.house.logged().count("refused: not signed in") == before + len(changes)
