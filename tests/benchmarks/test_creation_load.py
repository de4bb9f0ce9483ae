"""Creation-MMBench from the official TSV and Parquet, and from lines; and what is said of data that does not fit."""

import base64
import csv
import io
import json
import resource
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from evenhand.benchmarks.answers.responses_file import read_responses
from evenhand.benchmarks.catalog import find_benchmark, load_benchmark
from evenhand.benchmarks.creation_mmbench.load import OFFICIAL_MD5
from evenhand.benchmarks.creation_mmbench.tasks import categories, category_name, category_of
from evenhand.benchmarks.data_error import BenchmarkError, ResponsesError
from evenhand.domain.item import Benchmark, Brief, Item
from evenhand.images import digest
from evenhand.images.unpacked import IN_MEMORY
from tests.benchmarks.creation_cases import COLUMNS, GeneratedCase, generated_cases, write_parquet, write_tsv
from tests.benchmarks.files import BLUE, BLUE_DIGEST, RED, RED_DIGEST, write_images, write_lines
from tests.refusals import Refused, says

RED64, BLUE64 = (base64.b64encode(image).decode() for image in (RED, BLUE))
CASE = {
    "index": "7",
    "question": "Write.",
    "task_name": "story_continue",
    "criteria": "{'subjective': 'taste', 'objective': 'fact'}",
    "reference_answer_by_gpt4o": "The reference.",
    "image": RED64,
}


def write_rows(path: Path, *rows: Mapping[str, str]) -> Path:
    names = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO(newline="")
    csv.DictWriter(out, names, delimiter="\t", lineterminator="\n").writerows(
        [dict(zip(names, names, strict=True)), *rows]
    )
    path.write_text(out.getvalue(), encoding="utf-8", newline="")
    return path


def load(path: Path) -> Benchmark:
    return load_benchmark("creation-mmbench", path=path)


def one(folder: Path, **fields: str) -> Item:
    return load(write_rows(folder / "x.tsv", CASE | fields)).items[0]


def notes(folder: Path, *rows: Mapping[str, str]) -> tuple[str, ...]:
    """Without the one about the MD5."""
    found = load(write_rows(folder / "x.tsv", *rows)).notes
    assert "is not the official file" in found[0]
    return found[1:]


def refusal(path: Path) -> Refused:
    with pytest.raises(BenchmarkError) as caught:
        load(path)
    return Refused.made(str(caught.value), caught.value.code)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[GeneratedCase]:
    return generated_cases(marker=tmp_path_factory.mktemp("code") / "was-run")


@pytest.fixture(scope="module", params=["tsv", "parquet"])
def loaded(request: pytest.FixtureRequest, cases: list[GeneratedCase], tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("data") / f"cases.{request.param}"
    return load({"tsv": write_tsv, "parquet": write_parquet}[request.param](path, cases))


def test_the_generated_file_has_the_official_size(cases: list[GeneratedCase]):
    assert len(cases) == 765
    assert set(Counter(case.task for case in cases).values()) == {15}
    assert max(len(case.images) for case in cases) == 9
    assert sum(case.points_to is not None for case in cases) >= 10


def test_every_case_of_either_official_form_is_read_whole(loaded: Benchmark, cases: list[GeneratedCase]):
    assert [item.label for item in loaded.items] == [str(case.index) for case in cases]
    for item, case in zip(loaded.items, cases, strict=True):
        assert item.instruction == case.question
        assert item.images == tuple(map(digest, case.images))
        assert item.reference == case.reference
        assert item.ground_truth == case.ground_truth
        assert item.subjective_criteria == case.subjective
        assert item.factuality_criteria == case.factuality
        assert item.task == case.task


def test_every_image_is_at_hand_byte_for_byte(loaded: Benchmark, cases: list[GeneratedCase]):
    assert dict(loaded.pictures) == {digest(image): image for case in cases for image in case.images}


def test_code_in_criteria_was_not_run(loaded: Benchmark, cases: list[GeneratedCase]):
    hostile = [case.criteria for case in cases if "was-run" in case.criteria]
    assert len(hostile) >= 4
    marker = Path(hostile[0].partition("Path('")[2].partition("')")[0])
    assert marker.name == "was-run"
    assert marker.parent.is_dir()
    assert not marker.exists()


def test_the_categories_have_the_papers_numbers_of_cases(loaded: Benchmark):
    assert Counter(item.category for item in loaded.items) == {
        "Literary Writing": 120,
        "Common Functional Writing": 270,
        "Professional Functional Writing": 285,
        "Creative Multimodal Understanding": 90,
    }


def test_both_official_forms_are_one_benchmark(cases: list[GeneratedCase], tmp_path: Path):
    few = cases[:120]
    assert load(write_tsv(tmp_path / "a.tsv", few)).digest == load(write_parquet(tmp_path / "a.parquet", few)).digest


def test_there_are_51_tasks_in_four_categories():
    assert [(category.short, len(category.tasks)) for category in categories()] == [
        ("LW", 8), ("CFW", 18), ("PFW", 19), ("CMU", 6),
    ]  # fmt: skip
    assert len({task for category in categories() for task in category.tasks}) == 51
    assert category_of("meme_explanation") == "Creative Multimodal Understanding"
    assert category_of("my_own_task") == category_of(None) == "other"
    for spelling in ("pfw", "CATEGORY_Professional_Functionality_Writing", " professional functional writing "):
        assert category_name(spelling) == "Professional Functional Writing"
    assert category_name("mine") == "mine"


def test_benchmark_toml_knows_where_the_official_file_is_and_its_md5():
    import tomllib

    folder = Path(load_benchmark.__code__.co_filename).parent / "creation_mmbench"
    files = tomllib.loads((folder / "benchmark.toml").read_text())["file"]
    assert [file["md5"] for file in files] == [OFFICIAL_MD5]
    assert find_benchmark("creation-mmbench").protocols == ("creation_preference", "creation_factuality")


def test_another_file_than_the_official_one_is_read_and_said(tmp_path: Path):
    note = load(write_rows(tmp_path / "mine.tsv", CASE)).notes[0]
    assert note.startswith(f"mine.tsv is not the official file (MD5 {OFFICIAL_MD5}): its MD5 is ")


def test_an_image_is_base64_a_lists_text_or_another_rows_index(tmp_path: Path):
    rows = [
        CASE | {"index": "5", "image": " 7 "},
        CASE | {"index": "7", "image": f"['{RED64}', \"{BLUE64}\"]"},
        CASE | {"index": "9", "question": "Other.", "image": RED64},
    ]
    rows[0]["question"] = "First."
    images = [item.images for item in load(write_rows(tmp_path / "x.tsv", *rows)).items]
    assert images == [(RED_DIGEST, BLUE_DIGEST), (RED_DIGEST, BLUE_DIGEST), (RED_DIGEST,)]


def test_a_pointer_may_be_a_number_in_jsonl(tmp_path: Path):
    rows = [CASE | {"index": 2, "image": RED64}, CASE | {"index": 5, "question": "Other.", "image": 2}]
    items = load(write_lines(tmp_path / "x.jsonl", rows)).items
    assert [item.images for item in items] == [(RED_DIGEST,)] * 2


def test_a_value_of_up_to_64_characters_is_an_index_and_a_longer_one_an_image(tmp_path: Path):
    owner = CASE | {"index": "x" * 64}
    rows = [owner, CASE | {"question": "Other.", "image": "x" * 64}]
    assert [item.images for item in load(write_rows(tmp_path / "x.tsv", *rows)).items] == [(RED_DIGEST,)] * 2
    rows = [owner | {"index": "x" * 65}, CASE | {"question": "Other.", "image": "x" * 65}]
    says(refusal(write_rows(tmp_path / "x.tsv", *rows)), "EH-DATA-IMAGE", "row 2, line 3: ", "Image 1")


def test_where_image_is_empty_the_files_beside_the_data_are_read(tmp_path: Path):
    write_images(tmp_path)
    for text in ("images/red.png", "['images/red.png']"):
        assert one(tmp_path, image="", image_path=text).images == (RED_DIGEST,)
    both = "['images/blue.png', 'images/red.png']"
    assert one(tmp_path, image="nan", image_path=both).images == (BLUE_DIGEST, RED_DIGEST)
    assert one(tmp_path, image=RED64, image_path="not/there.png").images == (RED_DIGEST,)


@pytest.mark.parametrize(
    ("image", "path", "words"),
    [
        ("", "['', 'images/red.png']", "named by nothing"),
        ("", "['images/gone.png', 'images/red.png']", "`images/gone.png` is not there"),
        ("", "/etc/hostname", "absolute or leads out"),
        ("8", "", "is `8`, which is neither an image nor the index of a row"),
        ("7", "", "neither an image nor the index of a row"),
        ("[" + RED64, "", "begins like a list"),
        (f"['{RED64}'", "", "begins like a list"),
        (f"['{RED64}\"]", "", "begins like a list"),
        (RED64[:40] + "!" + RED64[40:], "", "Image 1 of the case cannot be used: it is not base64"),
        ("[" + RED64 + "]", "", "begins like a list"),
        ("[]" + " " * 70 + "[]", "", "begins like a list"),
        (RED64[:-7] + "!" * 7, "", "Image 1 of the case cannot be used: it is not base64"),
        (
            f"['{RED64}', '{base64.b64encode(b'text' * 30).decode()}']",
            "",
            "Image 2 of the case cannot be used: The data",
        ),
        (RED64[:80], "", "Image 1 of the case cannot be used"),
    ],
)
def test_a_case_whose_image_is_missing_or_unusable_is_named(tmp_path: Path, image: str, path: str, words: str):
    write_images(tmp_path)
    rows = [CASE | {"index": "1", "question": "One."}, CASE | {"image": image, "image_path": path}]
    message = refusal(write_rows(tmp_path / "x.tsv", *rows))
    assert message.startswith(f"{tmp_path / 'x.tsv'}, row 2")
    assert words in message


@pytest.mark.parametrize(("image", "path"), [("", ""), ("", "[]"), ("nan", "nan"), ("", "gone.png")])
def test_a_case_without_an_image_is_left_out_and_counted_and_so_is_one_that_points_to_it(
    tmp_path: Path, image: str, path: str
):
    rows = [
        CASE | {"index": "1", "question": "One."},
        CASE | {"index": "2", "question": "Two.", "image": image, "image_path": path},
        CASE | {"index": "3", "question": "Three.", "image": "2"},
    ]
    loaded = load(write_rows(tmp_path / "x.tsv", *rows))
    assert [item.label for item in loaded.items] == ["1"]
    assert any("left out: 2 (cases 2, 3)" in note for note in loaded.notes)
    said = [{"index": str(n), "model": "ada", "prediction": "A tale."} for n in (1, 2, 3)]
    taken = read_responses(said, loaded)
    assert [one.item for one in taken.responses] == [loaded.items[0].digest]
    assert any("passed over: 2 (2, 3)" in warning for warning in taken.warnings)
    with pytest.raises(ResponsesError, match="no such item: `4`"):
        read_responses([*said, said[0] | {"index": "4"}], loaded)


def test_where_there_is_no_column_of_images_a_file_that_is_not_there_is_named(tmp_path: Path):
    rows = [{**CASE, "image_path": "images/gone.png"}]
    del rows[0]["image"]
    says(refusal(write_lines(tmp_path / "x.jsonl", rows)), "EH-DATA-IMAGE", "row 1", "`images/gone.png` is not there")


def test_a_file_none_of_whose_cases_has_an_image_is_refused(tmp_path: Path):
    rows = [CASE | {"index": "1", "image": "", "image_path": ""}]
    says(refusal(write_rows(tmp_path / "x.tsv", *rows)), "EH-DATA-IMAGE", "x.tsv", "`image_path`")


def test_a_pointer_to_a_pointer_is_refused(tmp_path: Path):
    rows = [CASE | {"index": str(n), "question": f"Q{n}", "image": image} for n, image in enumerate(["1", "2", RED64])]
    assert "row 1" in refusal(write_rows(tmp_path / "x.tsv", *rows))


def test_a_parquet_row_without_image_bytes_is_named(tmp_path: Path):
    kind = pl.List(pl.Struct({"bytes": pl.Binary(), "path": pl.String()}))
    frame = pl.DataFrame(
        {**{k: [v] for k, v in CASE.items()}, "image": pl.Series([[{"bytes": None, "path": "a.png"}]], dtype=kind)}
    )
    frame.write_parquet(tmp_path / "x.parquet")
    says(refusal(tmp_path / "x.parquet"), "EH-DATA-CELL", "row 1", "empty")


def test_a_row_far_down_a_parquet_file_is_named_by_its_number(tmp_path: Path):
    cases = generated_cases(140)
    path = write_parquet(
        tmp_path / "x.parquet", [*cases[:120], replace(cases[120], images=(b"no image",)), *cases[121:]]
    )
    assert refusal(path).startswith(f"{path}, row 121: ")


@pytest.mark.parametrize("text", ["", "  ", "nan", "NaN", "None", "N/A", "<NA>"])
def test_a_ground_truth_that_is_not_there_is_none(tmp_path: Path, text: str):
    assert one(tmp_path, ground_truth=text).ground_truth is None


def test_the_question_is_used_as_given_and_assembled_where_it_is_absent(tmp_path: Path):
    parts = {"role": "a poet", "background": "A lake.", "instruction": "Write", "requirement": "1. Short"}
    assert one(tmp_path, **parts).instruction == "Write."
    assert one(tmp_path, **parts, question="").instruction == (
        "Assume you are a poet\nA lake.\nPlease follow the requirements below to Write.\n1. Short"
    )
    message = refusal(write_rows(tmp_path / "x.tsv", CASE | {"question": "", "instruction": " "}))
    says(message, "EH-DATA-BLANK", "`question` and `instruction`")


def test_criteria_that_need_a_word_are_noted_by_case(tmp_path: Path):
    rows = [
        CASE | {"index": str(number), "question": f"Q{number}", "criteria": criteria}
        for number, criteria in enumerate(
            [
                CASE["criteria"],
                "Plain.",
                "{'objective': 'fact'}",
                r"{'subjective': '\\', 'x': 'fact'}",
                "{'a': f()}",
                "",
            ]
        )
    ]
    assert notes(tmp_path, *rows) == (
        "Criteria that are a plain text and no dict, taken as subjective only: 1 (cases 1).",
        "Criteria that begin like a dict but are not one of texts, taken whole as subjective only: 1 (cases 4).",
        "Criteria without a letter, counted as none: 1 (cases 3).",
        "Cases without subjective criteria, which creation_preference cannot ask: 3 (cases 2, 3, 5).",
    )


def test_a_case_without_a_reference_a_task_of_ones_own_and_an_unknown_column_are_noted(tmp_path: Path):
    row = CASE | {"reference_answer_by_gpt4o": "", "task_name": "my_task", "colour": "red"}
    assert notes(tmp_path, row) == (
        "Columns that are not used were left out: `colour`.",
        "Cases without a reference answer, which cannot meet the baseline: 1 (cases 7).",
        "Tasks that are not among the paper's 51, shown under other: my_task.",
    )
    assert one(tmp_path, task_name="my_task").category == "other"


def test_doubled_indices_and_doubled_cases_are_refused(tmp_path: Path):
    twice = refusal(write_rows(tmp_path / "x.tsv", CASE, CASE | {"question": "Other."}))
    says(twice, "EH-DATA-TWICE", "row 2", "`7`", "in row 1")
    same = refusal(write_rows(tmp_path / "x.tsv", CASE, CASE | {"index": "8"}))
    says(same, "EH-DATA-TWICE", "same content", "`7`")


def test_missing_columns_are_told_once(tmp_path: Path):
    rows = [{"number": str(n), "question": "x", "image": RED64} for n in range(30)]
    message = refusal(write_rows(tmp_path / "x.tsv", *rows))
    says(message, "EH-DATA-COLUMN", "`index`", "found `number`, `question`, `image`.")
    assert message.count("`index`") == 1


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.csv", b"", "give one of .tsv, .parquet, .jsonl"),
        ("x.tsv", b"", "The file is empty"),
        ("x.tsv", b"index\tquestion\timage\n", "The file is empty"),
        ("x.tsv", b"index\tquestion\timage\n1\t\xff\t7\n", "not UTF-8"),
        ("x.tsv", b"index\tquestion\timage\n1\ta\n", "row 1, line 2: The row has 2 cells and the header has 3."),
        ("x.tsv", b"index\tindex\n", "names `index` more than once"),
        ("x.tsv", b'index\tquestion\timage\n1\t"a\t7\n', "The row cannot be read"),
        ("x.parquet", b"PAR1", "not Parquet that can be read"),
        ("x.jsonl", b"{", "This is not JSON"),
        (
            "x.jsonl",
            b'{"index": 1, "question": "q", "image": [], "criteria": 3}',
            "`criteria` must be the text of a dict",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, name: str, content: bytes, words: str):
    (tmp_path / name).write_bytes(content)
    message = refusal(tmp_path / name)
    assert str(tmp_path / name) in message
    assert words in message


@pytest.mark.parametrize("name", ["gone.tsv", "gone.parquet", "gone.jsonl"])
def test_a_file_that_is_not_there_is_told(tmp_path: Path, name: str):
    assert "no such file" in refusal(tmp_path / name)


def test_lines_with_the_official_columns_are_read_like_the_official_file(tmp_path: Path):
    row = CASE | {"index": 7, "criteria": {"subjective": "taste", "objective": "fact"}, "image": [RED64, BLUE64]}
    lines = load(write_lines(tmp_path / "x.jsonl", [row]))
    table = load(write_rows(tmp_path / "x.tsv", CASE | {"image": f"['{RED64}', '{BLUE64}']"}))
    assert lines.items == table.items
    assert lines.digest == table.digest
    assert lines.notes == ()


def test_our_own_lines_are_read_and_get_their_category_from_the_task(tmp_path: Path):
    write_images(tmp_path)
    common = {"images": ["images/red.png"], "criteria": {"Subjective": "a"}, "reference": "r"}
    rows = [
        {"item": "a", "instruction": "x", "task": "meme_explanation", **common},
        {"item": "b", "instruction": "y", "category": "LW", **common},
        {"item": "c", "instruction": "z", **common},
    ]
    benchmark = load(write_lines(tmp_path / "x.jsonl", rows))
    assert [item.category for item in benchmark.items] == [
        "Creative Multimodal Understanding", "Literary Writing", "other",
    ]  # fmt: skip
    assert benchmark.pictures == {RED_DIGEST: RED}
    assert benchmark.notes == ("Tasks that are not among the paper's 51, shown under other: no task.",)


def test_a_disk_without_room_for_the_images_is_told(tmp_path: Path):
    large = [_png(Image.new("RGB", (2000, 2000), (number, 0, 0))) for number in range(IN_MEMORY // 12_000_000 + 1)]
    assert sum(map(len, large)) > IN_MEMORY
    path = tmp_path / "x.parquet"
    pl.DataFrame([CASE | {"image": large}]).write_parquet(path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        message = refusal(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    says(message, "EH-BENCHMARK", "images", "TMPDIR")


def _png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=0)
    return out.getvalue()


def test_a_nul_in_criteria_is_a_fault(tmp_path: Path):
    text = json.dumps(CASE | {"criteria": "{'subjective': 'a\\x00b'}"})
    (tmp_path / "x.jsonl").write_text(text)
    says(refusal(tmp_path / "x.jsonl"), "EH-DATA-CELL", "`criteria`", "NUL")


def test_the_generator_writes_all_official_columns(tmp_path: Path):
    path = write_tsv(tmp_path / "x.tsv", generated_cases(3))
    assert path.read_text().splitlines()[0].split("\t") == list(COLUMNS)


def test_the_parts_of_a_question_are_kept_apart_where_the_file_has_them(tmp_path: Path) -> None:
    given = one(tmp_path, role="a poet", background="nan", instruction="write a poem", requirement="1. Rhyme.")
    assert given.brief == Brief(role="a poet", instruction="write a poem", requirement="1. Rhyme.")
    assert given.instruction == "Write."
    assert one(tmp_path, role="", background="").brief is None
