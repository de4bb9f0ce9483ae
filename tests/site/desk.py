"""A board that takes submissions in a served house, and the teams that use it."""

import json
import re
from dataclasses import dataclass
from html import unescape
from typing import Any

import httpx2 as httpx

from evenhand.domain.call import Message, Reply, Request
from evenhand.domain.judgement import Judgement
from evenhand.domain.response import Response
from evenhand.domain.study import Study, wanted
from evenhand.domain.submission import Approved, Estimated, Judged, SubmissionState, SubmissionTerms
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.ledger.read.projection import items_of
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.submissions.intakes import BoardIdentity, open_intake
from evenhand.ledger.submissions.store import Submission, find_submission, tell
from evenhand.reports.receipts.receipt import ReceiptSubject, make_receipt
from evenhand.site.accounts.store import find_person, grant_token, people
from tests.site.house import CONDITION, JUDGE, MODELS, SECRETS, House, fill, own_token

POLICY = "Nobody trains on this data.\nNobody passes it on."
TERMS = SubmissionTerms(policy=POLICY, battles=12, reference_battles=3, per_team=2, days=30)


@dataclass(frozen=True)
class Desk:
    house: House
    data: str
    intake: str

    @property
    def ledger(self) -> Ledger:
        return self.house.ledger

    @property
    def board(self) -> BoardIdentity:
        return BoardIdentity(data=self.data, rater=JUDGE.key, condition=CONDITION.key)

    @property
    def labels(self) -> list[str]:
        return [item.label for item in items_of(self.ledger, self.data)]

    def team(self, name: str = "Birds") -> "Team":
        client = self.house.signed_in("team", name)
        return Team(self, client, next(one.id for one in people(self.ledger) if one.name == name))

    def answers(self, **changed: str) -> bytes:
        """A file without a fault; `changed` answers by label, with _ for a space."""
        told = {label: f"The answer to {label}." for label in self.labels}
        told |= {label.replace("_", " "): text for label, text in changed.items()}
        return jsonl([{"item": label, "response": text} for label, text in told.items()])

    def stands(self, submission: str) -> SubmissionState:
        return self.the(submission).standing

    def the(self, submission: str) -> Submission:
        found = find_submission(self.ledger, submission)
        assert found is not None
        return found

    def approve(self, submission: str) -> None:
        """As worker and owner do."""
        drawn: dict[str, Any] = {"opponents": MODELS, "battles": 12, "reference_battles": 3, "seed": 0}
        estimate = Estimated(
            **drawn, trials=24, calls_at_least=24, calls_at_most=48, input_tokens=9, output_tokens=9, cost_usd=0.1
        )
        tell(self.ledger, submission, estimate, person=None)
        tell(self.ledger, submission, Approved(budget=1.0, **drawn), person="owner")

    def judge(
        self, submission: str, *, said: bool = True, partial: bool = False, opponents: tuple[str, ...] = MODELS
    ) -> Study:
        """As the worker does: the new model loses to the first and beats the others, and the judge quotes secrets."""
        label = self.the(submission).label
        study = placed(self.ledger, self.data, label, opponents=opponents)
        if said:
            upload = self.stands(submission).upload
            approved = self.stands(submission).approved
            assert upload
            assert approved
            subject = ReceiptSubject(
                submission=submission,
                label=label,
                file=upload.file,
                entered=self.the(submission).entered,
                board=self.board,
                study=study.key,
                approved=approved,
            )
            receipt = make_receipt(self.ledger, subject)
            tell(self.ledger, submission, Judged(receipt=receipt, partial=partial), person=None)
        return study


@dataclass
class Team:
    desk: Desk
    client: httpx.Client
    id: str

    @property
    def token(self) -> str:
        return own_token(self.client)

    @property
    def script(self) -> httpx.Client:
        granted = grant_token(self.desk.ledger, self.id, note="script")
        return self.desk.house.visitor(Authorization=f"Bearer {granted.token}")

    def post(self, path: str, files: Any = None, **fields: str) -> httpx.Response:
        return self.client.post(path, data={"csrf": self.token, **fields}, files=files)

    def begin(self, **fields: str) -> httpx.Response:
        path = f"/submit/{self.desk.intake}/new"
        page = self.client.get(path).text
        accepted = page.partition('name="policy_hash" value="')[2].partition('"')[0]
        me = find_person(self.desk.ledger, self.id)
        assert me is not None
        given = {"model": "Parrot", "version": "2", "team": me.name, "link": "https://birds.example", "sure": "yes"}
        return self.post(path, **{"policy_hash": accepted, **given, **fields})

    def began(self, **fields: str) -> str:
        answered = self.begin(**fields)
        assert answered.status_code == 303, answered.text
        return answered.headers["location"].removeprefix("/submissions/")

    def upload(self, submission: str, data: bytes, name: str = "predictions.jsonl") -> httpx.Response:
        return self.post(f"/submissions/{submission}/file", files={"file": (name, data, "text/plain")})

    def confirm(self, submission: str, upload: int | None = None) -> httpx.Response:
        seq = self.desk.stands(submission).upload_seq if upload is None else upload
        return self.post(f"/submissions/{submission}/confirm", upload=str(seq))

    def confirmed(self, **fields: str) -> str:
        submission = self.began(**fields)
        assert self.upload(submission, self.desk.answers()).status_code == 303
        answered = self.confirm(submission)
        assert answered.status_code == 303, answered.text
        return submission

    def page(self, submission: str) -> str:
        shown = self.client.get(f"/submissions/{submission}")
        assert shown.status_code == 200, shown.text
        return shown.text


def opened(house: House, *, terms: SubmissionTerms = TERMS) -> Desk:
    data = fill(house.ledger, upset=True)
    board = BoardIdentity(data=data, rater=JUDGE.key, condition=CONDITION.key)
    return Desk(house, data, open_intake(house.ledger, "numbers", board, terms, by="owner"))


def jsonl(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def words_of(page: str) -> str:
    """What a page says, without its marks."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def placed(ledger: Ledger, data: str, label: str, *, opponents: tuple[str, ...] = MODELS) -> Study:
    """Puts a model's answers and the verdicts on its placing on record: it loses to the first and beats the others, but
    loses to all on the first item and beats all on the second. Each item is drawn with another than the reference, so
    whatever the lots, it has won some and lost some."""
    items = items_of(ledger, data)
    answers = [Response(item=item.digest, model=label, text=f"The answer to {item.label}.") for item in items]
    ledger.add_responses(answers)
    given: dict[str, dict[str, str]] = {}
    for one in ledger.responses_to([item.digest for item in items]):
        given.setdefault(one.item, {})[one.model] = one.digest
    study = Study(
        benchmark="numbers",
        data=data,
        items=tuple(item.digest for item in items),
        models=(*opponents, label),
        rater=JUDGE.key,
        condition=CONDITION.key,
        pairing="placing",
        new=label,
        battles=12,
        reference_battles=3,
    )
    trials = list(wanted(study, given))
    ledger.register_study(study, rater=JUDGE, condition=CONDITION, wanted=len(trials))
    model_of = {digest: model for by_model in given.values() for model, digest in by_model.items()}
    entries = Entries(study=study.key, trials=trials)
    strength = {**{model: -place for place, model in enumerate(opponents)}, label: -0.5}
    for number, trial in enumerate(trials):
        request = Request(
            endpoint="openai", model="judge", messages=(Message(role="user", parts=(f"{label} {number}?",)),),
            settings=JUDGE.settings,
        )  # fmt: skip
        entries.add_call(request, Reply(text=f"I quote {' '.join(SECRETS)}"), run="run", at=1.0, cost_usd=None)
        first, second = (strength[model_of[digest]] for digest in trial.responses)
        better = first > second
        if trial.item in study.items[:2]:
            better = (model_of[trial.responses[0]] == label) is (trial.item == study.items[1])
        verdict: Any = Preference(value=1 if better else -1, levels=3)
        if number == len(trials) - 1:
            verdict = NoVerdict(reason="unreadable")
        entries.judgements.append(
            Judgement(
                trial=trial.key, verdict=verdict, reader="r1", calls=(request.key,), run="run", at=1_800_000_000.0
            )
        )
    ledger.commit(entries)
    return study
