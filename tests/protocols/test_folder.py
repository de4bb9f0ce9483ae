"""A protocol's folder that does not fit is refused with a sentence that names file and key."""

from pathlib import Path

import pytest

from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import KNOWN_SLOTS, ProtocolError
from tests.protocols.folders import PREFERENCE, USER, reading_only, write_folder
from tests.refusals import refused, tells

GRADES = reading_only("grades", "pattern = 'A (\\d+) B (\\d+)'\n")
CONSTRAINED = PREFERENCE.replace(
    'file = "user.md"', 'file = "user.md"\nending = { free = "closing.md", constrained = "constrained.md" }'
) + ('[constrained]\nbegin = "Verdict:"\n[constrained.answers]\n" A" = 1\n" B" = -1\n')
ENDINGS = {"closing": "Think.\n", "constrained": "Only the letter.\n"}


def refusal(folder: Path, toml: str, **files: str) -> str:
    with pytest.raises(ProtocolError) as refused:
        load_protocol(write_folder(folder, toml, **files))
    assert str(refused.value).endswith((".", "?"))
    return str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "facts"),
    [
        ('name = "tiny"\n', "", ("key name", "missing")),
        ('name = "tiny"', "name = 3", ("key name", "text", "3")),
        (
            'kind = "preference"',
            'kind = "ranking"',
            ("key kind", "'ranking'", "preference, grades"),
        ),
        ('kind = "preference"\n', "", ("key kind", "missing", "preference")),
        ("levels = 2", "levels = 4", ("key levels", "4", "2, 3, 5")),
        ("levels = 2", "levels = true", ("key levels", "True")),
        ("levels = 2\n", "", ("key levels", "missing")),
        ("levels = 2", "levels = 2\nlevel = 3", ("key level", "'levels'")),
        ("[reading]", "[reading]\nzzz = 1", ("key reading.zzz", "ignore_case, ignore_space")),
        ("'Verdict: (A|B)'", "'Verdict: A'", ("key reading.pattern", "group")),
        ("'Verdict: (A|B)'", "'(?=x)(A)'", ("key reading.pattern", "RE2")),
        ("'Verdict: (A|B)'", "'(A|B'", ("key reading.pattern", "RE2")),
        ("pattern = 'Verdict: (A|B)'\n", "", ("key reading.pattern", "missing")),
        ("[reading]", "[reading]\ntake = 'first'", ("key reading.take", "'first'", "agree, last")),
        ("[reading]", "[reading]\nignore_case = 1", ("key reading.ignore_case", "true or false", "1")),
        ("[reading]", "[reading]\nrange = [0, 1]", ("key reading.range", "grades")),
        ('"A" = 1', '"A" = 2', ("key reading.values.A", "(1, -1)", "not 2")),
        ('"A" = 1', '"A" = 0', ("key reading.values.A", "(1, -1)", "not 0")),
        ('"A" = 1', '"A" = 1.0', ("key reading.values.A", "whole number", "1.0")),
        ('"A" = 1', '"A" = "yes"', ("key reading.values.A", "number", "'yes'")),
        ('"A" = 1', '"A" = nan', ("key reading.values.A", "number", "nan")),
        ('[reading.values]\n"A" = 1\n"B" = -1\n', "", ("key reading.values", "missing")),
        ('"A" = 1\n"B" = -1\n', "", ("key reading.values", "empty")),
        (
            '[reading]\npattern = \'Verdict: (A|B)\'\n[reading.values]\n"A" = 1\n"B" = -1\n',
            "",
            ("key reading", "missing"),
        ),
        ('"user.md"', '"../user.md"', ("key turns[1].file", "'../user.md'", "inside")),
        ('"user.md"', '"/etc/passwd"', ("key turns[1].file", "'/etc/passwd'", "inside")),
        ('"user.md"', '"C:\\\\user.md"', ("key turns[1].file", "inside")),
        ('"user.md"', '"ask.md"', ("key turns[1].file", "ask.md", "exist")),
        ('"user.md"', '"."', ("key turns[1].file", "read")),
        ('role = "user"', 'role = "judge"', ("key turns[1].role", "'judge'", "system, user")),
        ('role = "user"', 'role = "user"\nrool = 1', ("key turns[1].rool", "'role'")),
        ('"response_1", "response_2"', '"response_1"', ("key slots", "response_1", "response_1, response_2")),
        ('"response_1", "response_2"', '"response_1", 2', ("key slots", "texts")),
        ('slots = ["response_1", "response_2"]', 'slots = "x"', ("key slots", "list", "'x'")),
        (
            "name =",
            "extraction = 'x'\nname =",
            ("key extraction", "'x'"),
        ),
        ("[[turns]]", "[settings]\ntemperature = 'hot'\n[[turns]]", ("key settings.temperature", "number")),
        (
            "[[turns]]",
            "[settings]\ntemprature = 0\n[[turns]]",
            ("key settings.temprature", "'temperature'"),
        ),
        (
            "[[turns]]",
            "[see]\nallowed = ['smell']\n[[turns]]",
            ("key see.allowed", "smell", "caption"),
        ),
        ("[[turns]]", "[see]\nallowed = ['images']\n[[turns]]", ("key see.default", "caption")),
        ("[[turns]]", "[see.instead]\nnone = ''\n[[turns]]", ("key see.instead.none", "known")),
        ("[reading]", "reading", ("TOML",)),
        ("[reading]", f"x = {'9' * 5000}\n[reading]", ("TOML",)),
        ("[reading]", f"x = {'[' * 9999}\n[reading]", ("TOML",)),
        ("[reading]", f"x{'.x' * 20_000} = 1\n[reading]", ("TOML", 50)),
    ],
)
def test_what_is_wrong_is_named_with_file_and_key(tmp_path: Path, old: str, new: str, facts: tuple[str, ...]):
    assert old in PREFERENCE
    message = refusal(tmp_path / "tiny", PREFERENCE.replace(old, new))
    tells(message, *facts)
    assert message.startswith(str(tmp_path / "tiny" / "protocol.toml"))


@pytest.mark.parametrize(
    ("toml", "facts"),
    [
        (GRADES + "range = [10, 0]", ("key reading.range", "two numbers", "smaller first")),
        (GRADES + "range = [0, inf]", ("key reading.range", "two numbers")),
        (GRADES + "range = [true, 2]", ("key reading.range", "two numbers")),
        (GRADES + "unmarked = '(x)'", ("key reading.unmarked", "1 groups", "2")),
        (GRADES.replace('"grades"', '"grades"\nlevels = 5'), ("key levels", "preference")),
        (GRADES + "[constrained]\nbegin = 'x'\n", ("key constrained", "grades")),
        (reading_only("choice", "pattern = '(\\w)'\n[reading.values]\nA = 0\n"), ("from 1", "not 0")),
    ],
)
def test_other_kinds_are_checked_too(tmp_path: Path, toml: str, facts: tuple[str, ...]):
    tells(refusal(tmp_path, toml), *facts)


@pytest.mark.parametrize(
    ("old", "new", "facts"),
    [
        (', constrained = "constrained.md"', "", ("key constrained", "ending")),
        ('begin = "Verdict:"\n', "", ("key constrained.begin", "missing")),
        ('" B" = -1\n', "", ("key constrained.answers", "two answers")),
        ('" B" = -1', '" AB" = -1', ("key constrained.answers", "' A'")),
        ('" B" = -1', '" B" = -2', ("key constrained.answers. B", "(1, -1)", "not -2")),
        ('[constrained.answers]\n" A" = 1\n" B" = -1\n', "", ("key constrained.answers", "missing")),
        ('"constrained.md"', '"constraint.md"', ("constraint.md", "exist")),
    ],
)
def test_the_constrained_readout_is_checked(tmp_path: Path, old: str, new: str, facts: tuple[str, ...]):
    assert sum(part in CONSTRAINED for part in [old]) == 1
    at = CONSTRAINED.rindex(old)
    tells(refusal(tmp_path, CONSTRAINED[:at] + new + CONSTRAINED[at + len(old) :], **ENDINGS), *facts)


def test_an_ending_for_a_readout_that_is_not_described_is_an_error(tmp_path: Path):
    toml = CONSTRAINED[: CONSTRAINED.index("[constrained]")]
    tells(refusal(tmp_path, toml, **ENDINGS), "key constrained", "missing", "ending")


def test_the_ending_follows_the_turn_after_a_blank_line(tmp_path: Path):
    protocol = load_protocol(write_folder(tmp_path, CONSTRAINED, **ENDINGS))
    values = {"response_1": "x", "response_2": "y"}
    assert protocol.messages(values)[0].text == "First: x\nSecond: y\n\nThink."
    assert protocol.messages(values, readout="constrained")[0].text == "First: x\nSecond: y\n\nOnly the letter."


def test_a_slot_that_cannot_be_parsed_names_the_prompt_file(tmp_path: Path):
    tells(refusal(tmp_path, PREFERENCE, user="{{Response}}"), "user.md, line 1", "{{")


def test_a_prompt_file_that_is_not_text_is_refused(tmp_path: Path):
    write_folder(tmp_path)
    (tmp_path / "user.md").write_bytes(b"\xff\xfe\x00")
    with refused(ProtocolError, "turns[1].file", "user.md"):
        load_protocol(tmp_path)


def test_a_link_that_leads_out_of_the_folder_is_refused(tmp_path: Path):
    (tmp_path / "secret.md").write_text("{{response_1}}{{response_2}}", encoding="utf-8")
    folder = write_folder(tmp_path / "tiny", PREFERENCE.replace("user.md", "link.md"))
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    with refused(ProtocolError, "'link.md'"):
        load_protocol(folder)


def test_the_prompts_hash_is_of_every_word_sent_and_of_the_roles(tmp_path: Path):
    variants = {
        "base": write_folder(tmp_path / "base", CONSTRAINED, **ENDINGS),
        "one character": write_folder(
            tmp_path / "c", CONSTRAINED, **ENDINGS, user="First:{{response_1}}\nSecond: {{response_2}}\n"
        ),
        "role": write_folder(tmp_path / "r", CONSTRAINED.replace('"user"', '"system"'), **ENDINGS),
        "closing": write_folder(tmp_path / "f", CONSTRAINED, **ENDINGS | {"closing": "Think!\n"}),
        "constrained": write_folder(tmp_path / "k", CONSTRAINED, **ENDINGS | {"constrained": "The letter.\n"}),
        "begin": write_folder(tmp_path / "b", CONSTRAINED.replace('Verdict:"', 'Verdict"'), **ENDINGS),
    }
    hashes = {name: load_protocol(folder).prompt_hash for name, folder in variants.items()}
    assert len(set(hashes.values())) == len(variants)
    renamed = write_folder(tmp_path / "n", CONSTRAINED.replace("tiny", "small"), **ENDINGS)
    assert load_protocol(renamed).prompt_hash == hashes["base"]


TWO_TURNS = PREFERENCE.replace("[reading]", '[[turns]]\nrole = "user"\nfile = "more.md"\n[reading]')


@pytest.mark.parametrize(
    ("toml", "swapped", "files"),
    [
        (TWO_TURNS, ("user.md", "more.md"), {"more": "Be brief.\n"}),
        (CONSTRAINED, ("closing.md", "constrained.md"), ENDINGS),
    ],
    ids=["turns", "endings"],
)
def test_the_prompts_hash_tells_where_each_file_is_used(
    tmp_path: Path, toml: str, swapped: tuple[str, str], files: dict[str, str]
):
    one, other = swapped
    crossed = toml.replace(one, "?").replace(other, one).replace("?", other)
    straight = load_protocol(write_folder(tmp_path / "straight", toml, **files))
    assert load_protocol(write_folder(tmp_path / "crossed", crossed, **files)).prompt_hash != straight.prompt_hash


def test_the_prompts_hash_is_of_the_words_and_not_of_how_files_keep_them(tmp_path: Path):
    base = load_protocol(write_folder(tmp_path / "base", CONSTRAINED, **ENDINGS))
    renamed = CONSTRAINED.replace("user.md", "asking.md").replace("closing.md", "last.md")
    (tmp_path / "same").mkdir()
    for name, text in {"asking": USER, "last": ENDINGS["closing"], "constrained": ENDINGS["constrained"]}.items():
        (tmp_path / "same" / f"{name}.md").write_bytes(text.replace("\n", "\r\n").encode())
    (tmp_path / "same" / "protocol.toml").write_text(renamed, encoding="utf-8")
    same = load_protocol(tmp_path / "same")
    values = {"response_1": "x", "response_2": "y"}
    assert same.messages(values) == base.messages(values)
    assert same.prompt_hash == base.prompt_hash


def test_a_slot_and_a_text_that_looks_like_one_are_not_the_same_prompt(tmp_path: Path):
    slot = load_protocol(write_folder(tmp_path / "slot", user="{{response_1}}{{response_2}} {{response_1}}"))
    text = load_protocol(write_folder(tmp_path / "text", user="{{response_1}}{{response_2}} {{{{response_1}}"))
    assert slot.prompt_hash != text.prompt_hash


def test_the_words_that_stand_for_a_caption_are_part_of_the_prompts_hash(tmp_path: Path):
    hashes: set[str] = set()
    for words in ("(no image)", "(image attached)"):
        see = f'[see]\nallowed = ["caption", "images"]\n[see.instead]\nimages = "{words}"\n[[turns]]'
        hashes.add(load_protocol(write_folder(tmp_path / words, PREFERENCE.replace("[[turns]]", see))).prompt_hash)
    assert len(hashes) == 2


@pytest.mark.parametrize("slot", ["criteria", "question", "response_0", "response_01", "response_4", "response_a"])
def test_a_slot_that_nothing_fills_is_refused_with_those_that_can_be(tmp_path: Path, slot: str):
    toml = PREFERENCE.replace('"response_2"', f'"response_2", "{slot}"')
    message = refusal(tmp_path, toml, user="{{response_1}}{{response_2}}{{" + slot + "}}")
    tells(message, "protocol.toml, key slots", slot)
    tells(message.partition(";")[2], *KNOWN_SLOTS, "response_1", "responses")


def test_a_folder_that_only_reads_may_declare_any_slots(tmp_path: Path):
    assert load_protocol(write_folder(tmp_path, 'slots = ["criteria"]\n' + GRADES)).slots == {"criteria"}


def test_a_folder_runs_no_code(tmp_path: Path):
    folder = write_folder(tmp_path / "tiny")
    (folder / "__init__.py").write_text("raise SystemExit('run')", encoding="utf-8")
    (folder / "load.py").write_text("raise SystemExit('run')", encoding="utf-8")
    assert load_protocol(folder).name == "tiny"


def test_settings_are_read(tmp_path: Path):
    toml = PREFERENCE.replace("[[turns]]", "[settings]\ntemperature = 1\nstop = ['x']\n[[turns]]")
    protocol = load_protocol(write_folder(tmp_path, toml))
    assert protocol.settings.as_json() == {"temperature": 1.0, "stop": ["x"]}
