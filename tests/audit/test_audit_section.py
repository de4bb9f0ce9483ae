"""The pictures of an audit show what its judge said; its section of a page is whole by itself and safe."""

import re
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from evenhand.audit.charts import audit_charts, plot
from evenhand.audit.design import Design, design
from evenhand.audit.measures.catalog import measures
from evenhand.audit.measures.length import Longer
from evenhand.audit.measures.record import AuditReplies
from evenhand.audit.pictures import pictures
from evenhand.audit.report_card import audit_report
from evenhand.audit.section import audit_section, write_page
from evenhand.audit.table import print_audit
from evenhand.audit.trials import PairTrial, Picked
from evenhand.domain.verdict import Choice, NoVerdict, Preference, Verdict
from evenhand.format.charts import INK, ChartError
from evenhand.ledger.store.record import Ledger
from tests.audit.audits import ALL, sources
from tests.audit.test_audit_measures import Habit, by_name
from tests.refusals import refused

WHOLE = design(sources(), budget=ALL)


def heard(habit: Habit, *, picks: int = 0, of: Design = WHOLE) -> AuditReplies:
    verdicts: dict[str, Verdict | NoVerdict] = {}
    for one in of.purposeful:
        verdict = Choice(value=picks) if isinstance(one, Picked) else Preference(value=habit(one), levels=5)
        verdicts[one.trial.key] = verdict
    return AuditReplies(verdicts=verdicts)


def pairs() -> int:
    return sum(isinstance(one, PairTrial) and not one.repeat for one in WHOLE.purposeful) // 2


def document(said: AuditReplies, **changed: Any) -> dict[str, Any]:
    return {
        "judge": "openai/judge",
        "settings": {"temperature": 0.0},
        "protocol": "visit_pairwise",
        "readout": "free",
        "see": "images",
        "benchmark": "sample",
        "at": 0.0,
        "coverage": {"wanted": 9, "with_verdict": 9, "reasons": {}},
        "measures": [one.as_json() for one in measures(WHOLE, said)],
        "pictures": pictures(WHOLE, said).as_json(),
        "findings": ["Problems found: it leans."],
        "gate": [{"rule": "coverage>=0.5", "result": "not met", "sentence": "coverage>=0.5: not met."}],
        "notes": [],
        **changed,
    }


def test_who_follows_the_first_place_wins_it_in_both_orders():
    shown = pictures(WHOLE, heard(lambda _: 1, picks=2))
    assert shown.places == (2 * pairs(), 0, 0)
    assert shown.swaps == ((pairs(), 0, 0), (0, 0, 0), (0, 0, 0))
    assert shown.picks[:2] == (0, 0)
    assert shown.picks[2] == sum(isinstance(one, Picked) for one in WHOLE.purposeful)


def test_who_follows_content_moves_from_place_to_place():
    shown = pictures(WHOLE, heard(by_name))
    # The model that comes first in the alphabet wins: first where it is shown first, second in the other order.
    assert shown.swaps == ((0, 0, pairs()), (0, 0, 0), (0, 0, 0))
    assert shown.places == (pairs(), 0, pairs())


def test_why_nothing_was_measured_begins_with_a_capital():
    found = document(heard(by_name))
    silent = {
        **found["measures"][0],
        "value": None,
        "lower": None,
        "upper": None,
        "reason": "the protocol offers no tie",
    }
    section = audit_section({**found, "measures": [silent]})
    assert '<td class="eh-design">The protocol offers no tie. ' in section


def test_numbers_on_half_a_colour_are_in_the_ink_of_the_page():
    drawn = audit_charts(document(heard(by_name)))["swaps"].to_dict()
    fill, numbers = drawn["layer"]
    assert fill["encoding"]["opacity"]["scale"]["range"][1] <= 0.5
    assert numbers["encoding"]["color"] == {"value": INK}


def test_no_line_of_a_finding_ends_between_a_number_and_its_sign():
    section = audit_section(document(heard(by_name), findings=["Problems found: it leans (60.0 %)."]))
    assert "(60.0\u00a0%)" in section


def test_a_pair_read_in_one_order_only_is_in_no_swap():
    said = heard(by_name)
    first = next(one for one in WHOLE.purposeful if isinstance(one, PairTrial))
    said = replace(said, verdicts={**said.verdicts, first.trial.key: NoVerdict(reason="refused")})
    assert sum(map(sum, pictures(WHOLE, said).swaps)) == pairs() - 1


def test_lengths_are_told_for_each_dose():
    shown = pictures(WHOLE, heard(lambda one: 1 if isinstance(one, Longer) and one.longer_first else -1))
    assert [(words, one.value) for words, one in shown.lengths] == [(25, 1.0), (75, 1.0)]


def test_every_picture_is_there_and_what_was_not_measured_has_none():
    made = document(heard(by_name))
    assert list(audit_charts(made)) == ["places", "picks", "swaps", "length", "planted"]
    nothing = document(AuditReplies(verdicts={}))
    assert audit_charts(nothing) == {}
    with refused(ChartError, code="EH-CHART-EMPTY"):
        plot(nothing, Path("never.svg"))


def test_the_section_needs_nothing_from_elsewhere_and_says_what_was_found_first():
    made = audit_section(document(heard(by_name)))
    assert made.count("<svg") == 5
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#)|@import|url\((?!["']?#)""", made)
    assert made.index("it leans") < made.index("<svg") < made.index("<table")
    assert '<li class="eh-not-met">coverage&gt;=0.5: not met.</li>' in made
    assert "prefers-color-scheme: dark" in made
    assert "#1f2933" not in made.split("</style>")[1]


def test_the_conclusion_stands_before_the_findings_and_a_report_without_one_is_whole():
    made = audit_section(document(heard(by_name), conclusion="This audit decides nothing: 9 trials are <few>."))
    said = '<p class="eh-conclusion">This audit decides nothing: 9 trials are &lt;few&gt;.</p>'
    assert made.index(said) < made.index("it leans")
    assert "eh-conclusion" not in audit_section(document(heard(by_name))).split("</style>")[1]


def test_headings_of_pictures_are_words_of_the_page_that_fold():
    made = audit_section(document(heard(by_name)))
    assert made.count("<figcaption>") == made.count("<svg") == 5
    caption = "<figcaption>What swapping positions does<span>"
    assert caption in made
    assert "What swapping positions does</text>" not in made


def test_names_that_others_gave_are_shown_and_not_run():
    made = audit_section(document(heard(by_name), judge="<script>alert(1)</script>{{rows}}"))
    assert "<script" not in made
    assert "&lt;script&gt;alert(1)&lt;/script&gt;{{rows}}" in made


@pytest.mark.slow
def test_a_page_and_pictures_are_written_whole(tmp_path: Path):
    made = document(heard(by_name))
    write_page(made, tmp_path / "card.html")
    page = (tmp_path / "card.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<title>Audit of openai/judge</title>" in page
    plot(made, tmp_path / "card.svg")
    assert "What swapping positions does" in (tmp_path / "card.svg").read_text(encoding="utf-8")
    plot(made, tmp_path / "card.png")
    assert (tmp_path / "card.png").read_bytes().startswith(b"\x89PNG")
    with refused(ChartError, "card.html", code="EH-OUTPUT-UNWRITTEN"):
        write_page(made, tmp_path / "nowhere" / "card.html")


def test_sets_that_were_not_read_whole_are_told_on_the_page_and_in_the_terminal(tmp_path: Path):
    said = heard(by_name)
    silent = next(one for one in WHOLE.purposeful if isinstance(one, Longer))
    some = AuditReplies(verdicts={**said.verdicts, silent.trial.key: NoVerdict(reason="truncated")})
    assert "Sets not read whole, and left out: 1." in audit_section(document(some))
    assert "left out:" not in audit_section(document(said))
    report = audit_report(Ledger(f"sqlite:///{tmp_path / 'ledger.db'}"), WHOLE)
    words = StringIO()
    print_audit(replace(report, measures=tuple(measures(WHOLE, some))), Console(file=words, width=200))
    assert words.getvalue().count(", sets not read whole: 1") == 2


def test_answers_that_were_left_out_are_told_in_a_note(tmp_path: Path):
    report = audit_report(Ledger(f"sqlite:///{tmp_path / 'ledger.db'}"), WHOLE)
    (number,) = WHOLE.steering.values()
    note = f"Answers that tell the judge what to say are left out of the audit: {number} of sample-planted."
    assert report.notes == (note,)
    assert report.as_json()["answers_left_out"] == {"sample-planted": number}
    assert report.as_json()["data"] == WHOLE.main.benchmark.digest
