"""`evenhand submit`: a team's answers go to a server, and what becomes of them comes back."""

import json
import socketserver
from collections.abc import Generator
from pathlib import Path

import pytest
from aiohttp import web

from tests.cli.shell import Shell
from tests.cli.submission_office import BATTLES, POLICY, RECEIPT, TOKEN, Office, intake, open_office
from tests.hosting import hosting
from tests.refusals import Refused, says

ENTERED = ("--model", "Ada", "--version", "1.2", "--team", "Team Zero")
ROW = {
    "rating": 1012.3,
    "rating_lower": 990.1,
    "rating_upper": 1031.0,
    "rank": 3,
    "rank_lower": 2,
    "rank_upper": 5,
    "models": 12,
}


@pytest.fixture
def office() -> Generator[Office]:
    with open_office() as found:
        yield found


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.setenv("EVENHAND_TOKEN", TOKEN)
    return Shell(tmp_path, monkeypatch, capsys)


def good(shell: Shell) -> Path:
    return shell.file("p.jsonl", '{"item": "dog", "response": "A dog."}', '{"item": "cat", "response": "A cat."}')


def submitted(office: Office, **more: object) -> Office:
    office.submission = {"submission": "5ab1", "stage": "approved", **more}
    return office


def test_a_good_file_is_begun_uploaded_and_confirmed(shell: Shell, office: Office) -> None:
    _, said = shell.run("submit", office.url, good(shell), *ENTERED, "--link", "https://e.org/ada", "--accept-policy",
                        "--confirm")  # fmt: skip
    assert office.asked == [
        "GET /api/submissions",
        "GET /api/submit",
        "POST /api/submit/i1",
        "PUT /api/submissions/5ab1/file?name=p.jsonl",
        "POST /api/submissions/5ab1/confirm",
    ]
    assert office.bodies[0] == {
        "model": "Ada",
        "version": "1.2",
        "team": "Team Zero",
        "link": "https://e.org/ada",
        "policy_hash": office.intakes[0]["policy_hash"],
    }
    assert office.uploaded == good(shell).read_bytes()
    assert office.tokens == {f"Bearer {TOKEN}"}
    assert said.splitlines() == [
        "Submission 5ab1 was begun; its policy was accepted.",
        "p.jsonl: answers to 2 of 2 items, no fault.",
        "Submission 5ab1 waits for the owner's approval.",
    ]


def test_without_confirm_nothing_is_confirmed_until_it_is_said(shell: Shell, office: Office) -> None:
    _, said = shell.run("submit", f"{office.url}/", good(shell), *ENTERED, "--accept-policy")
    assert "Nothing is judged yet: confirm it with --status 5ab1 --confirm." in said
    assert office.submission
    assert office.submission["stage"] == "draft"
    _, said = shell.run("submit", office.url, "--status", "5ab1", "--confirm")
    assert office.submission["stage"] == "confirmed"
    assert "waits for the owner's approval" in said


def test_the_document_is_the_servers_with_the_check(shell: Shell, office: Office) -> None:
    found = shell.document("submit", office.url, good(shell), *ENTERED, "--accept-policy", "--confirm")
    assert (found["stage"], found["submission"], found["check"]["answered"]) == ("confirmed", "5ab1", 2)


def test_every_fault_of_a_file_is_told_and_a_corrected_one_takes_its_place(shell: Shell, office: Office) -> None:
    bad = shell.file("bad.csv", "item,response", "dog,A dog.", "dog,A wolf.", "dgo,x")
    found = shell.document("submit", office.url, bad, *ENTERED, "--accept-policy", "--confirm", expect=2)
    assert found["faults"] == 3
    _, said = shell.run("submit", office.url, bad, "--status", "5ab1", "--confirm", expect=2)
    assert said.splitlines() == [
        "bad.csv: answers to 0 of 2 items, 3 faults.",
        "- Items with two different answers: 1: dog (rows 1, 2). Keep one answer for each.",
        "- visit-bench has no such item: 1: dgo (row 3; near: `dog`). Correct or leave them out.",
        "- Items without an answer: 1 of 2 (cat).",
        "- Of 2 items none may be left without a usable answer; give the others too.",
        "- There is no answer that can be judged.",
        "Nothing was confirmed. Correct the file, and send it again with --status 5ab1.",
    ]
    assert not any("confirm" in one for one in office.asked)
    shell.run("submit", office.url, good(shell), "--status", "5ab1", "--confirm")
    assert office.submission
    assert office.submission["stage"] == "confirmed"
    assert sum(one == "POST /api/submit/i1" for one in office.asked) == 1


def test_the_policy_is_shown_and_nothing_sent_until_it_is_accepted(shell: Shell, office: Office) -> None:
    said = shell.refused("submit", office.url, good(shell), *ENTERED)
    assert POLICY in said
    assert "--accept-policy" in said
    assert office.asked == ["GET /api/submissions", "GET /api/submit"]


def test_a_policy_that_is_not_the_hashed_one_is_not_accepted(shell: Shell, office: Office) -> None:
    office.intakes = [intake("i1", policy="Another text.")]
    shell.refuses("EH-POLICY-MISMATCH", of=("submit", office.url, good(shell), *ENTERED, "--accept-policy"))
    assert office.submission is None


def test_one_of_several_boards_is_chosen_by_benchmark_or_id(shell: Shell, office: Office) -> None:
    office.intakes = [intake("i1"), intake("i2"), intake("i3", benchmark="garden"), intake("i4", takes=False)]
    send = ("submit", office.url, good(shell), *ENTERED, "--accept-policy")
    several = ("--benchmark: i1 (visit-bench, judged by gpt-4o), i2",)
    shell.refuses("EH-INTAKE", *several, of=send)
    shell.refuses("EH-INTAKE", of=(*send, "--benchmark", "visit-bench"))
    shell.refuses("EH-INTAKE", "gardn", "mean 'garden'", of=(*send, "--benchmark", "gardn"))
    shell.refuses("EH-INTAKE", "at this moment", of=(*send, "--benchmark", "i4"))
    shell.run(*send, "--benchmark", "garden")
    shell.run(*send, "--benchmark", "i2")
    assert [one for one in office.asked if one.startswith("POST")] == ["POST /api/submit/i3", "POST /api/submit/i2"]
    office.intakes = []
    shell.refuses("EH-INTAKE", of=send)


def test_the_token_is_never_printed_nor_sent_on(shell: Shell, office: Office, tmp_path: Path) -> None:
    with open_office() as elsewhere:
        office.canned = web.Response(status=307, headers={"Location": f"{elsewhere.url}/api/submissions/5ab1"})
        shell.refuses("EH-ADDRESS", "another address", of=("submit", office.url, "--status", "5ab1"))
        assert elsewhere.asked == []
    office.canned = web.json_response({"schema": 1, "error": f"No such token: {TOKEN}. \x1b[2J"}, status=403)
    said = shell.refused("submit", office.url, "--status", "5ab1")
    assert "No such token: [token]. \\x1b[2J" in said
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or TOKEN not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("url", "fact"),
    [
        ("http://e.org", "not encrypted"),
        ("http://127.0.0.1.e.org", "not encrypted"),
        ("ftp://e.org", "begin with https://"),
        ("e.org", "begin with https://"),
        ("https://[::1", "begin with https://"),
        ("https://e.org:99999", "begin with https://"),
        ("https://user:pass@e.org", "no user"),
        ("https://e.org/?next=1", "question mark"),
    ],
)
def test_an_address_that_must_not_have_the_token_is_refused(shell: Shell, url: str, fact: str) -> None:
    said = shell.refused("submit", url, "--status", "5ab1")
    says(said, "EH-ADDRESS", fact)
    assert "pass" not in said


def test_what_the_server_refuses_is_its_sentence(shell: Shell, office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "There is no such submission of yours." in shell.refused("submit", office.url, "--status", "../../x y")
    assert office.asked == ["GET /api/submissions/..%2F..%2Fx%20y"]
    monkeypatch.setenv("EVENHAND_TOKEN", "wrong")
    said = shell.refused("submit", office.url, "--status", "5ab1")
    assert "Sign in, or send a token. Is the token right" in said


@pytest.mark.parametrize(
    ("canned", "exit_code", "code", "fact"),
    [
        (web.Response(status=404, text="<html>"), 2, "EH-SERVER-FOREIGN", "404"),
        (web.Response(status=200, text="<html>"), 2, "EH-SERVER-FOREIGN", "JSON"),
        (web.Response(status=200, text="[1]"), 2, "EH-SERVER-FOREIGN", "JSON"),
        (web.Response(status=200, text="[" * 100_000), 2, "EH-SERVER-FOREIGN", "JSON"),
        (web.json_response({"error": ["x"]}, status=400), 2, "EH-SERVER-FOREIGN", "400"),
        (web.Response(status=500, text="oops"), 1, "EH-SERVER-UNREACHABLE", "(500)"),
        (
            web.json_response({"error": "Too many requests; wait."}, status=429),
            1,
            "EH-SERVER-UNREACHABLE",
            "Too many requests; wait.",
        ),
    ],
)
def test_an_answer_that_is_none_is_a_sentence(
    shell: Shell, office: Office, canned: web.Response, exit_code: int, code: str, fact: str
) -> None:
    office.canned = canned
    shell.refuses(code, fact, of=("submit", office.url, "--status", "5ab1"), expect=exit_code)


def test_a_server_that_is_not_there_is_a_sentence(shell: Shell) -> None:
    with open_office() as gone:
        url = gone.url
    said = shell.refused("submit", url, "--status", "5ab1", expect=1)
    says(said, "EH-SERVER-UNREACHABLE", f"at {url.removeprefix('http://')};")
    assert "Error" not in said.removeprefix("Error: ")


def test_a_server_that_breaks_off_is_a_sentence(shell: Shell) -> None:
    with socketserver.TCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler) as server:
        where = f"127.0.0.1:{server.server_address[1]}"
        with hosting(server):
            said = shell.refused("submit", f"http://{where}", "--status", "5ab1", expect=1)
    says(said, "EH-SERVER-UNREACHABLE", f"{where} did not answer to its end")


def test_a_wrong_token_is_told_before_the_policy_is_shown(
    shell: Shell, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENHAND_TOKEN", "wrong")
    said = shell.refused("submit", office.url, good(shell), *ENTERED)
    assert "Is the token right" in said
    assert POLICY not in said


def test_the_same_file_confirmed_again_counts_once_and_is_said_to(shell: Shell, office: Office) -> None:
    shell.run("submit", office.url, good(shell), *ENTERED, "--accept-policy", "--confirm")
    begun = len(office.asked)
    _, said = shell.run("submit", office.url, good(shell), "--status", "5ab1", "--confirm")
    assert said.splitlines() == [
        "p.jsonl is the file that was confirmed before; it counts once.",
        "Submission 5ab1 waits for the owner's approval.",
    ]
    assert not any(one.startswith("PUT") for one in office.asked[begun:])


def test_another_file_for_what_is_confirmed_says_how_it_stands_and_what_can_be_done(
    shell: Shell, office: Office
) -> None:
    shell.run("submit", office.url, good(shell), *ENTERED, "--accept-policy", "--confirm")
    other = shell.file("other.jsonl", '{"item": "dog", "response": "A wolf."}', '{"item": "cat", "response": "A cat."}')
    again = ("--status", "5ab1", "--confirm")
    shell.refuses("EH-SUBMISSION-STAGE", "5ab1", "another one", of=("submit", office.url, other, *again))
    assert office.submission
    office.submission["stage"] = "withdrawn"
    shell.refuses("EH-SUBMISSION-STAGE", "5ab1 is withdrawn.", of=("submit", office.url, good(shell), *again))


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"stage": "confirmed", "place": 4}, "waits for the owner's approval; its place in the queue is 4."),
        (
            {"stage": "approved", "wanted": 1400, "done": 12, "place": 1},
            "5ab1 is approved, and is being judged; 12 of 1400 trials are judged.",
        ),
        (
            {"stage": "approved", "wanted": 1400, "done": None, "place": 1},
            "5ab1 is approved, and is being judged; 1400 trials are wanted.",
        ),
        ({"stage": "approved", "place": 2}, "is approved, and waits its turn; its place in the queue is 2."),
        ({"stage": "judged", "published": True, "row": None}, "is judged, and published."),
        ({"stage": "stopped", "wanted": 1400, "done": 12}, "has reached its budget; the owner is asked"),
        ({"stage": "refused", "reason": "Too early."}, "was refused by the owner: Too early."),
        ({"stage": "judged", "row": ROW}, "Rating 1012.3 (990.1 to 1031.0), rank 3 (2 to 5) of 12."),
        ({"stage": "judged", "row": {**ROW, "placed": {"soft": True}}}, "of 12. Its soft verdicts said when to end;"),
        (
            {"stage": "judged", "row": {**ROW, "visit": {"elo": 1007.0, "elo_lower": 990.0, "elo_upper": 1019.5}}},
            "of 12. Elo 1007.0 (990.0 to 1019.5), as VisIT-Bench plays it. The receipt has the rest.",
        ),
        (
            {"stage": "judged", "row": {**ROW, "visit": {"elo": 1006, "elo_lower": None, "elo_reason": "did alike"}}},
            "of 12. Elo 1006, as VisIT-Bench plays it, without an interval: all its items are alike. The receipt has",
        ),
        (
            {
                "stage": "judged",
                "row": {
                    **ROW,
                    "rating": None,
                    "rating_lower": 1100.5,
                    "rating_upper": None,
                    "rating_reason": "X won all of its 9 battles: its rating has no upper bound.",
                },
            },
            "No finite rating, above 1100.5, rank 3 (2 to 5) of 12. X won all of its 9 battles: its rating has no "
            "upper bound. The receipt has the rest.",
        ),
        ({"stage": "judged", "row": {"rating": None}}, "No rating yet. The receipt has the rest."),
        ({"stage": "judged", "partial": True, "row": None}, "is judged, in part: its budget was reached."),
        ({"stage": "dancing"}, "is at the stage dancing."),
    ],
)
def test_how_it_stands_is_told_in_words(shell: Shell, office: Office, document: dict[str, object], words: str) -> None:
    submitted(office, **document)
    assert words in " ".join(shell.run("submit", office.url, "--status", "5ab1")[1].split())


def test_it_is_waited_for_and_its_files_are_fetched(shell: Shell, office: Office) -> None:
    submitted(office).stages = [
        {"stage": "approved"},
        None,
        None,
        {"wanted": 4, "done": 1},
        {"stage": "judged", "judged_at": 1.0, "row": ROW},
    ]
    found = shell.document("submit", office.url, "--status", "5ab1", "--wait", "--every", "0", "--receipt", "r.json",
                           "--battles", "b.jsonl")  # fmt: skip
    assert found["stage"] == "judged"
    assert found["row"] == ROW
    assert Path("r.json").read_bytes() == RECEIPT
    assert Path("b.jsonl").read_bytes() == BATTLES
    assert sorted(path.name for path in Path().iterdir()) == ["b.jsonl", "r.json"]
    again = ("submit", office.url, "--status", "5ab1", "--force", "--receipt", "r.json", "--battles", "b.jsonl")
    told = shell.run(*again)[1]
    assert "The receipt is in r.json." in told
    assert "The battles are in b.jsonl." in told


def test_what_battles_its_file_lacks_is_told_beside_it(shell: Shell, office: Office) -> None:
    submitted(office, stage="judged", judged_at=1.0, row=ROW, opponents_gone=1, opponents_away=2)
    told = shell.run("submit", office.url, "--status", "5ab1", "--battles", "b.jsonl")[1]
    assert "Not in it are those against opponents off the board: 1 left since, 2 judged on meanwhile." in told


def test_while_it_is_waited_for_only_news_are_told(shell: Shell, office: Office) -> None:
    same = {"stage": "approved", "wanted": 4, "done": 1}
    submitted(office).stages = [dict(same), dict(same), dict(same), {"done": 3}, {"stage": "judged", "row": ROW}]
    _, said = shell.run("submit", office.url, "--status", "5ab1", "--wait", "--every", "0")
    assert said.count("1 of 4 trials") == 1
    assert said.count("3 of 4 trials") == 1


@pytest.mark.parametrize(
    ("document", "code"),
    [({"stage": "judged", "partial": True}, 3), ({"stage": "refused"}, 1), ({"stage": "withdrawn"}, 1)],
)
def test_the_exit_code_after_waiting_tells_how_it_ended(
    shell: Shell, office: Office, document: dict[str, object], code: int
) -> None:
    submitted(office, **document)
    shell.run("submit", office.url, "--status", "5ab1", "--wait", "--every", "0", expect=code)
    shell.run("submit", office.url, "--status", "5ab1")


@pytest.mark.parametrize(
    ("document", "words"),
    [({"stage": "confirmed", "place": 4}, "waits for the owner's approval"), ({"stage": "stopped"}, "its budget")],
)
def test_what_the_owner_has_to_decide_is_told_and_not_waited_for(
    shell: Shell, office: Office, document: dict[str, object], words: str
) -> None:
    submitted(office, **document)
    waits = ("submit", office.url, "--status", "5ab1", "--wait", "--every", "600")
    told = " ".join(shell.run(*waits, "--receipt", "r.json", expect=3)[1].split())
    assert words in told
    assert "the owner's to decide, so nothing is waited for; later: --status 5ab1 --wait." in told
    assert not Path("r.json").exists()


def test_a_server_that_stays_away_is_not_waited_for_for_ever(shell: Shell, office: Office) -> None:
    submitted(office).stages = [*[None] * 9, {"stage": "approved"}, *[None] * 9, {"stage": "judged"}]
    shell.run("submit", office.url, "--status", "5ab1", "--wait", "--every", "0")
    office.stages = [None]
    waiting = ("submit", office.url, "--status", "5ab1", "--wait", "--every", "0")
    shell.refuses("EH-SERVER-UNREACHABLE", "(503)", of=waiting, expect=1)


def test_a_draft_is_not_waited_for(shell: Shell, office: Office) -> None:
    submitted(office, stage="draft")
    draft = ("submit", office.url, "--status", "5ab1")
    shell.refuses("EH-SUBMISSION-STAGE", "5ab1", "draft", "--confirm", of=(*draft, "--wait"))
    shell.refuses("EH-SUBMISSION-STAGE", "5ab1", "no file", of=(*draft, "--confirm"))


def test_a_receipt_is_not_there_before_it_is_judged(shell: Shell, office: Office) -> None:
    submitted(office)
    told = ("submit", office.url, "--status", "5ab1", "--receipt", "r.json")
    shell.refuses("EH-USAGE", "no receipt", "5ab1", "--wait", of=told, expect=1)
    assert not Path("r.json").exists()


@pytest.mark.parametrize("stage", ["approved", "withdrawn"])
def test_a_receipt_is_there_though_it_is_judged_on_or_was_withdrawn(shell: Shell, office: Office, stage: str) -> None:
    submitted(office, stage=stage, judged_at=1.0)
    shell.run("submit", office.url, "--status", "5ab1", "--receipt", "r.json")
    assert Path("r.json").read_bytes() == RECEIPT


def test_a_file_that_does_not_come_leaves_nothing_and_the_old_one_stays(shell: Shell, office: Office) -> None:
    submitted(office, stage="judged", judged_at=1.0).files = False
    Path("r.json").write_text("old", encoding="utf-8")
    said = shell.refused("submit", office.url, "--status", "5ab1", "--receipt", "r.json", "--force")
    assert "There is none at this moment." in said
    assert [path.name for path in Path().iterdir()] == ["r.json"]
    assert Path("r.json").read_text(encoding="utf-8") == "old"
    office.files = True
    shell.run("submit", office.url, "--status", "5ab1", "--receipt", "r.json", "--force")
    assert Path("r.json").read_bytes() == RECEIPT
    Path("folder").mkdir()
    again = ("submit", office.url, "--status", "5ab1", "--receipt", "folder", "--force")
    shell.refuses("EH-OUTPUT", "folder is not a file", of=again)


@pytest.mark.parametrize(
    ("word", "told"),
    [("publish", "It is published: its name is on the board."), ("withdraw", "It is withdrawn: it is on no board")],
)
def test_a_team_publishes_or_withdraws(shell: Shell, office: Office, word: str, told: str) -> None:
    submitted(office, stage="judged")
    _, said = shell.run("submit", office.url, "--status", "5ab1", f"--{word}")
    assert office.asked[-1] == f"POST /api/submissions/5ab1/{word}"
    assert told in said


LADDER = {"feedback": "ladder", "shown": 0.6429, "shown_n": 28, "changed": True}


@pytest.mark.parametrize(
    ("figure", "told"),
    [
        (
            {"share": 2 / 3, "share_lower": 0.51, "share_upper": 0.73, "share_n": 12},
            "It is published: 67 % of 12 items in reserve won, rounded to whole items (95 % interval 51 to 73 %).",
        ),
        ({"share": 0.75, "share_n": 8}, "It is published: 75.0 % of 8 items won, without an interval."),
        ({"share": None, "share_reason": "too little is new"}, "page, without a figure, as too little is new."),
        ({"share": None}, "page, without a figure."),
    ],
)
def test_a_team_on_a_ladder_is_told_what_everybody_may_now_read(
    shell: Shell, office: Office, figure: dict[str, object], told: str
) -> None:
    submitted(office, stage="judged", row=LADDER)
    _, said = shell.run("submit", office.url, "--status", "5ab1")
    assert "On the board" not in said
    assert "Nobody but its team and the owner sees it until --status 5ab1 --publish" in said
    assert "on the ladder: 18 of 28 items won (64 %). It is this submission's." in said
    office.intakes[0]["published"] = [{"submission": "other", "share": 0.1}, {"submission": "5ab1", **figure}]
    submitted(office, stage="judged", row=LADDER, published=True)
    _, said = shell.run("submit", office.url, "--status", "5ab1", "--publish")
    assert told in " ".join(said.split())
    assert "its name is on the board." not in said


@pytest.mark.slow
def test_a_large_file_goes_whole(shell: Shell, office: Office) -> None:
    office.submission = {"submission": "5ab1", "stage": "draft"}
    path = Path("große Datei.csv")
    path.write_text("item,response\n" + "dog,A dog.\n" * 300_000, encoding="utf-8")
    shell.run("submit", office.url, path, "--status", "5ab1", expect=2)
    assert office.uploaded == path.read_bytes()
    assert office.asked[-1] == "PUT /api/submissions/5ab1/file?name=gro%C3%9Fe%20Datei.csv"


def test_wrong_use_is_told_before_anybody_is_asked(
    shell: Shell, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*more: object) -> Refused:
        return shell.refused("submit", office.url, *more)

    file = good(shell)
    shell.file("p.xlsx", "x")
    Path("empty.csv").touch()
    Path("there.json").write_text("mine", encoding="utf-8")
    says(refused(), "EH-USAGE", "file of answers", "--status ID")
    says(refused("p.xlsx"), "EH-USAGE", "p.xlsx", ".csv or a .jsonl")
    says(refused("gone.csv"), "EH-USAGE", "gone.csv", "No such file")
    says(refused("empty.csv"), "EH-USAGE", "empty.csv is empty")
    says(refused(file, "--status", "5ab1", "--publish"), "EH-USAGE", "--publish and --withdraw", "alone")
    says(refused("--status", "5ab1", "--withdraw", "--confirm"), "EH-USAGE", "--publish and --withdraw", "alone")
    says(refused("--status", "5ab1", "--withdraw", "--publish"), "EH-USAGE", "--publish or --withdraw", "not both")
    says(refused(file), "EH-USAGE", "--model, --version, --team", "--status ID")
    says(refused("--status", "5ab1", "--receipt", "there.json"), "EH-OUTPUT-EXISTS", "there.json")
    says(refused("--status", "5ab1", "--battles", "no/b.jsonl"), "EH-OUTPUT", "no folder no")
    monkeypatch.setenv("EVENHAND_TOKEN", " ")
    says(refused("--status", "5ab1"), "EH-TOKEN", "EVENHAND_TOKEN", "--token-file FILE")
    Path("odd.txt").write_text("a b\nc\n", encoding="utf-8")
    says(refused("--status", "5ab1", "--token-file", "odd.txt"), "EH-TOKEN", "character")
    Path("no.txt").write_bytes(b"\xff\xfe")
    says(refused("--status", "5ab1", "--token-file", "no.txt"), "EH-TOKEN", "no.txt", "no text")
    says(refused("--status", "5ab1", "--token-file", "gone.txt"), "EH-TOKEN", "gone.txt", "No such file")
    said = refused("--status", "5ab1", "--token", "seen-by-all")
    says(said, "EH-TOKEN", "EVENHAND_TOKEN", "--token-file FILE", "command line")
    assert "seen-by-all" not in said
    assert office.asked == []
    assert Path("there.json").read_text(encoding="utf-8") == "mine"


def test_a_token_is_read_from_a_file_of_ones_own(shell: Shell, office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_TOKEN", "another")
    Path("token").write_text(f"{TOKEN}\n", encoding="utf-8")
    submitted(office)
    out, _ = shell.run("submit", office.url, "--status", "5ab1", "--token-file", "token", "--json")
    assert json.loads(out)["stage"] == "approved"
    assert office.tokens == {f"Bearer {TOKEN}"}


def test_a_token_of_the_folder_is_used_where_the_user_vouches_for_it(
    shell: Shell, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EVENHAND_TOKEN")
    shell.file(".env", f"EVENHAND_TOKEN={TOKEN}")
    submitted(office)
    said = shell.refused("submit", office.url, "--status", "5ab1", "--json")
    says(said, "EH-FOLDER-UNTRUSTED", ".env", "'EVENHAND_TOKEN'")
    assert office.asked == []
    out, _ = shell.run("submit", office.url, "--status", "5ab1", "--json", "--trust-folder")
    assert json.loads(out)["stage"] == "approved"
