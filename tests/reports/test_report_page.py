"""The page is one file that needs nothing else, holds every word that was judged, and runs none of them."""

import base64
import hashlib
import json
import re
import zlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.domain.rater import Rater
from evenhand.format.charts import ChartError
from evenhand.ledger.store.record import Ledger
from evenhand.reports.page.packing import LARGEST_EDGE, PackedImages, packed
from evenhand.reports.page.sheets import all_sheets, cost_sheet, long_sheet, order_sheet, settings
from evenhand.reports.page.words import sampling, summary
from evenhand.reports.page.writing import write_report
from tests.audit.test_audit_section import document as audit_document
from tests.audit.test_audit_section import heard
from tests.database import ledger_in
from tests.refusals import refused, tells
from tests.reports.report_scene import JUDGE, Scene, numbered, picture, report, with_models
from tests.reports.test_report_cases import amber_always, first_always, some_faults

DATA = re.compile(r'<script type="text/plain" id="([a-z0-9-]+)">([^<]*)</script>')
HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=alert(1)> & {{slot}} \u202e\x1b[31m \ud800"
)


def unpacked(text: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(text), -15).decode("utf-8", "surrogatepass"))


def page_of(ledger: Ledger, folder: Path, **how: int) -> str:
    write_report(report(ledger, **how), folder / "report.html")
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of three items with two pictures, one larger than it comes along."""
    folder = tmp_path_factory.mktemp("page")
    with closing(ledger_in(folder)) as ledger:
        numbered(3, pictures=[picture(1, edge=800), picture(2)]).judged(ledger, some_faults)
        return page_of(ledger, folder)


def data_in(page: str) -> dict[str, str]:
    return dict(DATA.findall(page))


def blocks_in(page: str) -> list[dict[str, Any]]:
    return [unpacked(text) for name, text in data_in(page).items() if name.startswith("block-")]


def test_where_every_answer_was_replaced_the_report_lists_nothing(ledger: Ledger, tmp_path: Path):
    scene = numbered(3)
    scene.judged(ledger, amber_always)
    ledger.add_responses([replace(one, text="Another.") for one in scene.answers], replace=True)
    assert blocks_in(page_of(ledger, tmp_path)) == []


def test_ranges_and_tiers_are_explained_under_the_board(page: str):
    assert page.count("own range: the ranks a model may hold, right for that model alone") == 1
    assert page.count("Tier 1: no model is separated above it") == 1


def test_every_case_can_be_opened_with_all_its_fields(page: str):
    (block,) = blocks_in(page)
    index = unpacked(data_in(page)["index"])
    assert len(block["cases"]) == len(index["cases"]) == 3
    case = block["cases"][1]
    item = block["items"][case["item"]]
    assert (item["label"], item["instruction"], item["caption"], item["category"]) == (
        "1", "What is 1?", "the number 1", "odd",
    )  # fmt: skip
    assert item["reference"] == "It is 1."
    assert len(case["showings"]) == 2, "both orders"
    orders = [[block["answers"][place]["model"] for place in one["shown"]] for one in case["showings"]]
    assert sorted(orders) == [["amber", "blue"], ["blue", "amber"]]
    for one, order in zip(case["showings"], orders, strict=True):
        assert [block["answers"][place]["response"] for place in one["shown"]] == [
            f"{model} answers 1" for model in order
        ]
        assert one["calls"][0]["reply"] == f"I looked at both. {order[0]} stood first."
        assert one["by_name"] == "amber is better"
        assert (one["cost_usd"], one["reader"], one["protocol"], one["judge"]) == (0.25, "r1", "p", "openai/judge")


def test_judgements_of_answers_that_were_replaced_since_are_not_shown(ledger: Ledger, tmp_path: Path):
    scene = numbered(1)
    scene.judged(ledger, first_always)
    replace(scene, wrote="{model} thought again about {item}").judged(ledger, amber_always)
    page = page_of(ledger, tmp_path)
    (block,) = blocks_in(page)
    assert len(block["cases"][0]["showings"]) == 2
    assert sorted(answer["response"] for answer in block["answers"]) == [
        "amber thought again about 0",
        "blue thought again about 0",
    ]
    tells(page, "2 judgements", "replaced")


def test_blocks_hold_fifty_cases_and_the_index_knows_it(ledger: Ledger, tmp_path: Path):
    numbered(60).judged(ledger, amber_always)
    page = page_of(ledger, tmp_path)
    assert [len(block["cases"]) for block in blocks_in(page)] == [50, 10]
    index = unpacked(data_in(page)["index"])
    assert index["together"] == 50
    labels = [index["items"][one[1]][0] for one in index["cases"]]
    assert labels == [block["items"][case["item"]]["label"] for block in blocks_in(page) for case in block["cases"]]


def check_policy(page: str) -> None:
    """It allows the page's own script and every style in it, and nothing else."""
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 1
    for text in (*re.findall(r"<style>(.*?)</style>", page, re.DOTALL), *scripts):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_the_page_asks_for_nothing_and_runs_only_its_own_script(page: str):
    check_policy(page)
    assert not re.findall(r'(?:src|href|action)="(?!#)', page), "nothing is fetched from anywhere"
    assert not re.findall(r" on[a-z]+=", page.split("<script>")[0]), "no handler stands in an attribute"
    assert ' style="' not in page, "the policy would refuse it"


def test_words_that_others_wrote_are_text_wherever_they_stand(ledger: Ledger, tmp_path: Path):
    plain = numbered(1)
    item = replace(plain.items[0], label=HOSTILE, instruction=HOSTILE, category=HOSTILE, caption=HOSTILE)
    scene = Scene(items=(item,), models=(HOSTILE, "blue"), replies=HOSTILE.replace("{", "{{").replace("}", "}}"))
    scene.judged(ledger, lambda item, first, second: 1 if first == "blue" else -1)
    page = page_of(ledger, tmp_path)
    assert "<script>document" not in page
    assert "<img" not in page.split("<script>")[0]
    assert len(re.findall(r"</script>", page)) == len(DATA.findall(page)) + 1
    (block,) = blocks_in(page)
    assert block["items"][0]["instruction"] == HOSTILE
    assert block["cases"][0]["showings"][0]["calls"][0]["reply"] == HOSTILE
    assert "\x1b" not in page
    assert "&lt;script&gt;" in page


def test_half_a_surrogate_pair_does_not_stop_the_page():
    assert unpacked(packed({"text": "a\ud800b"})) == {"text": "a\ud800b"}


def test_images_come_along_small_once_each(page: str):
    pictures = {name: text for name, text in data_in(page).items() if name.startswith("picture-")}
    assert len(pictures) == 2, "three items share them"
    from io import BytesIO

    from PIL import Image

    sizes = []
    for text in pictures.values():
        with Image.open(BytesIO(base64.b64decode(text))) as opened:
            assert opened.format == "WEBP"
            sizes.append(opened.size)
    assert sorted(sizes) == [(40, 40), (LARGEST_EDGE, LARGEST_EDGE)]
    index = unpacked(data_in(page)["index"])
    assert sorted(index["pictures"].values()) == [0, 1]


def test_an_image_that_is_not_at_hand_is_named(ledger: Ledger, tmp_path: Path):
    plain = numbered(1)
    item = replace(plain.items[0], images=("https://example.org/cat.png",))
    Scene(items=(item,)).judged(ledger, amber_always)
    page = page_of(ledger, tmp_path)
    assert unpacked(data_in(page)["index"])["pictures"] == {}
    assert blocks_in(page)[0]["items"][0]["images"] == ["https://example.org/cat.png"]


@pytest.mark.slow
def test_pictures_shrink_until_all_have_room_and_never_take_more(ledger: Ledger):
    import random

    draw = random.Random(0)
    from io import BytesIO

    from PIL import Image

    noisy: list[bytes] = []
    for _ in range(12):
        out = BytesIO()
        Image.frombytes("RGB", (400, 400), draw.randbytes(400 * 400 * 3)).save(out, "PNG")
        noisy.append(out.getvalue())
    infos = [ledger.images.put(data) for data in noisy]
    names = [info.digest for info in infos]
    room = 150_000
    chosen = PackedImages.of(ledger, names, most_bytes=room)
    assert 64 < chosen.edge < LARGEST_EDGE
    made = dict(chosen.packed(most_bytes=room))
    assert len(made) >= 11, "nearly all, for the size is judged by a sample"
    assert sum(map(len, made.values())) <= room
    tight = dict(PackedImages.of(ledger, names, most_bytes=3000).packed(most_bytes=3000))
    assert 0 < len(tight) < 12
    assert sum(map(len, tight.values())) <= 3000


def test_people_are_numbers_in_a_report(ledger: Ledger, tmp_path: Path):
    scene = replace(numbered(2), rater=Rater(kind="human", name="Zelda Fitzgerald"))
    scene.judged(ledger, amber_always)
    page = page_of(ledger, tmp_path)
    showing = blocks_in(page)[0]["cases"][0]["showings"][0]
    assert showing["judge"] == "person 1"
    assert showing["calls"] == []
    assert "No model was asked for these verdicts." in page


def test_a_sampled_list_says_so_at_the_top_and_no_other_does(ledger: Ledger, tmp_path: Path):
    numbered(60).judged(ledger, some_faults)
    assert sampling(report(ledger)) is None
    page = page_of(ledger, tmp_path, most=50, seed=4)
    top = page[: page.index('<dl class="tiles">')]
    tells(top, "50 of 120", "seed 4")
    tells(page, "50 of 120 judgements", "25 of 60 pairs of answers")


def test_a_list_without_room_for_all_faults_says_how_many_there_are_and_where(ledger: Ledger, tmp_path: Path):
    """54 of 60 cases contradict themselves; of 60 judgements six are left for others."""
    numbered(60).judged(ledger, lambda item, first, _: 1 if int(item) >= 6 or first == "amber" else -1)
    page = page_of(ledger, tmp_path, most=60)
    top = page[: page.index('<dl class="tiles">')]
    tells(
        top, "60 of 120", "27 of the 54 pairs of answers", "3 of the 6 others", "30 more pairs", "export --judgements"
    )


def test_the_summary_says_who_leads_what_it_cost_and_where_the_judge_wavers(ledger: Ledger):
    numbered(10).judged(ledger, some_faults)
    said = summary(report(ledger))
    assert said[0].startswith("amber leads with ")
    assert said[1] == (
        "2 models met in 19 votes on 10 items of numbers, judged by openai/judge under p; "
        "19 of 20 showings have a verdict."
    )
    assert "Of 10 pairs of answers 1 got verdicts that disagree, and 1 has a showing without a verdict." in said
    assert said[-1] == "It took 20 replies; it cost $5.00."


def test_what_became_of_a_verdict_in_the_other_order_is_counted(ledger: Ledger):
    """Worked by hand: item 0 keeps its winner, 1 ties twice, 2 and 6 go with the first, 3 with the second, 4 ties once;
    5 has one order only."""
    table = {"0": (1, -2), "1": (0, 0), "2": (1, 1), "3": (-1, -2), "4": (0, 1), "5": (1, "refused"), "6": (2, 1)}
    numbered(7).judged(ledger, lambda item, first, second: table[item][first == "blue"])
    found = report(ledger)
    swapped = found.swapped
    assert swapped is not None
    assert (swapped.same_winner, swapped.tie_twice, swapped.first_twice, swapped.second_twice, swapped.tie_once) == (
        1, 1, 2, 1, 1,
    )  # fmt: skip
    assert swapped.pairs == 6
    assert order_sheet(found).rows[0] == ("the same winner", "1", "16.7 %")


def test_categories_are_counted_apart(ledger: Ledger):
    """Amber wins the even items, blue the odd ones: five and four of nine."""
    numbered(9).judged(ledger, lambda item, first, second: 1 if (first == "amber") == (int(item) % 2 == 0) else -1)
    rates = report(ledger).by_category
    assert list(rates) == ["even", "odd"], "the commonest first"
    assert rates["even"]["amber"].win_rate.value == 1
    assert rates["odd"]["amber"].win_rate.value == 0
    assert rates["odd"]["blue"].win_rate.n == 8


def test_items_without_categories_have_no_heat_map(ledger: Ledger, tmp_path: Path):
    numbered(2, categories=()).judged(ledger, amber_always)
    page = page_of(ledger, tmp_path)
    assert "#categories" not in page
    assert "Category by category" not in page


def test_costs_and_settings_are_those_on_record(ledger: Ledger):
    numbered(2).judged(ledger, amber_always)
    found = report(ledger)
    (row,) = cost_sheet(found).rows
    assert row[2:7] == ("p", "4", "4", "400", "80")
    assert row[-1] == "$1.0000"
    told = settings(found)
    assert told["Judge"]["the endpoint said it ran"] == "judge-0613"
    assert told["Judge"]["temperature"] == "0"
    assert told["Benchmark"]["licence"] == "CC0-1.0"
    assert told["Asked under p"]["sees"] == "images"
    assert told["Runs"] == {"Evenhand versions": "0.1.0"}


def test_a_price_that_nobody_knows_is_no_zero(ledger: Ledger):
    replace(numbered(2), unpriced="blue").judged(ledger, amber_always)
    found = report(ledger)
    assert cost_sheet(found).rows[0][-1] == "$0.5000 and 2 of unknown price"
    tells(summary(found)[-1], "4 replies", "$0.50", "2 replies")


def test_a_csv_file_is_one_table_with_a_row_for_every_cell(ledger: Ledger):
    numbered(2).judged(ledger, amber_always)
    sheets = all_sheets(report(ledger))
    rows = long_sheet(sheets).rows
    assert len(rows) == sum(len(sheet.rows) * (len(sheet.headings) - 1) for sheet in sheets)
    assert ("Ratings, Bradley-Terry", "amber", "won – lost – tied", "4 – 0 – 0") in rows


def test_a_page_that_cannot_be_written_leaves_nothing_behind(ledger: Ledger, tmp_path: Path):
    numbered(1).judged(ledger, amber_always)
    with refused(ChartError, "missing/report.html", code="EH-OUTPUT-UNWRITTEN"):
        write_report(report(ledger), tmp_path / "missing" / "report.html")
    folder = tmp_path / "taken"
    folder.mkdir()
    (folder / "report.html").mkdir()
    with refused(ChartError, folder / "report.html", code="EH-OUTPUT-UNWRITTEN"):
        write_report(report(ledger), folder / "report.html")
    assert [path.name for path in folder.iterdir()] == ["report.html"]


def test_the_latest_audit_of_the_judge_stands_in_the_page(ledger: Ledger, tmp_path: Path):
    numbered(2).judged(ledger, amber_always)
    found = audit_document(heard(lambda one: 2), judge="openai/judge", judge_key=JUDGE.key)
    run = ledger.begin_run("audit report", {}, study=None, version="0.1.0")
    ledger.end_run(run, {"report": found})
    page = page_of(ledger, tmp_path)
    check_policy(page)
    assert '<section class="eh-audit">' in page
    assert "it leans" in page
    assert "evenhand audit --judge" not in page
    assert "measure order only" not in page  # above an audit that measures length


def test_the_page_says_what_the_judge_chose_in_pictures_and_words(ledger: Ledger, tmp_path: Path):
    with_models(numbered(12), "amber", "blue", "cyan").judged(ledger, first_always)
    page = page_of(ledger, tmp_path)
    assert len(re.findall(r'<figure tabindex="0"><figcaption>.*?</figcaption><svg role="img" aria-label=', page)) == 5
    assert '<p class="verdict bad">' in page
    assert "evenhand audit --judge openai/judge" in page
    assert "measure order only" in page
    assert "Compare them for " in page, "one prompt word for word"


def test_the_list_tells_whose_answer_speaks_to_the_judge(ledger: Ledger, tmp_path: Path):
    scene = with_models(numbered(2), "amber", "blue", "cyan")
    speaks = {("1", "blue"): ("verdict",), ("1", "cyan"): ("order",)}
    replace(scene, speaks=lambda label, model: speaks.get((label, model), ())).judged(ledger, amber_always)
    index = unpacked(data_in(page_of(ledger, tmp_path))["index"])
    flags = {
        (index["items"][item][0], index["models"][first], index["models"][second]): flag & 12
        for _, item, first, second, _, flag, _ in index["cases"]
    }
    # 4: the first of the two by name; 8: the second.
    assert {case: flag for case, flag in flags.items() if flag} == {
        ("1", "amber", "blue"): 8,
        ("1", "amber", "cyan"): 8,
        ("1", "blue", "cyan"): 12,
    }
