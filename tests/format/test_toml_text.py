"""Claims about TOML of strangers: a key of any shape is read or refused at once, and what people write is read."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.format.toml_text import MOST_PARTS, read_toml
from tests.examples import examples
from tests.refusals import refused


@pytest.mark.parametrize(
    "key",
    ["a" + ".a" * 20_000, "a" + " \t. a" * 20_000, "'a.b'" + ".'c'" * 20_000, '"a.\\""' + '."c"' * 20_000],
    ids=["bare", "spaced", "literal", "quoted"],
)
@pytest.mark.parametrize("around", ["{} = 1", "[{}]", "[[{}]]", "x = {{ {} = 1 }}"])
def test_a_key_of_thousands_of_parts_is_refused_before_it_is_read(key: str, around: str):
    with refused(ValueError, MOST_PARTS, "line 2"):
        read_toml(f"seed = 1\n{around.format(key)}\n")


def test_as_many_parts_as_are_allowed_are_read():
    found = read_toml("a" + ".a" * (MOST_PARTS - 1) + " = 1")
    for _ in range(MOST_PARTS):
        found = found["a"]
    assert found == 1
    with refused(ValueError, MOST_PARTS, "line 1"):
        read_toml("a" + ".a" * MOST_PARTS + " = 1")


def test_what_has_dots_and_is_no_key_is_read():
    leader, numbers = "." * 500, ", ".join(["1.5"] * 500)
    text = f'words = "{leader} {numbers}"\nnumbers = [{numbers}]\n'
    assert read_toml(text) == {"words": f"{leader} {numbers}", "numbers": [1.5] * 500}


_DOTS = ".".join("a" * (MOST_PARTS + 1))
_WORDS = st.text(alphabet="ab.\"'\\#= \t[]{},1-\n", max_size=12).map(lambda some: f"{some}{_DOTS}{some}")
_ONE_LINE = _WORDS.map(lambda words: words.replace("\n", " "))
_VALUES = st.one_of(
    st.sampled_from(["1", "1.5", "true", "1979-05-27T07:32:00.999999", "[1.5, 1.5, -1.5e+2]", "''", '""']),
    _ONE_LINE.map(lambda words: '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'),
    _ONE_LINE.map(lambda words: "'" + words.replace("'", "") + "'"),
    _WORDS.map(lambda words: '"""' + words.replace("\\", "\\\\").replace('"', '\\"') + '"""'),
    _WORDS.map(lambda words: '"""' + words.replace("\\", "").replace('"', 'x"y""z') + '""""'),
    _WORDS.map(lambda words: "'''" + words.replace("'", "x'y''z") + "'''''"),
)
_LINES = st.tuples(_VALUES, _ONE_LINE).map(lambda both: f"{both[0]} # {both[1]}")
_DOCUMENTS = st.lists(_LINES, max_size=5).map(
    lambda lines: "".join(f'\'k "{number}\'."#".k = {line}\n' for number, line in enumerate(lines))
)


@given(_DOCUMENTS)
@settings(max_examples=examples(300), deadline=None)
def test_what_stands_in_strings_and_comments_is_no_key(document: str):
    assert read_toml(document) == tomllib.loads(document)


@given(_DOCUMENTS, st.sampled_from(["{} = 1", "[{}]", "x = {{ y = 'a.b', {} = 1 }}"]))
@settings(max_examples=examples(300), deadline=None)
def test_a_key_of_too_many_parts_is_found_whatever_stands_before_it(document: str, around: str):
    line = document.count("\n") + 1
    with refused(ValueError, MOST_PARTS, f"line {line}"):
        read_toml(document + around.format(_DOTS))


@given(st.text(alphabet="ab.\"'\\#= \t[]{},1-\n", max_size=60))
@settings(max_examples=examples(500), deadline=None)
def test_any_text_is_read_or_refused_as_python_does(text: str):
    try:
        wanted = tomllib.loads(text)
    except ValueError:
        wanted = None
    try:
        found = read_toml(text)
    except ValueError:
        found = None
    assert found == wanted


@pytest.mark.parametrize("text", ['"' + "\\" * 200_001, '"""' + '"' * 200_000, "'''" + "''a" * 60_000, "a" * 500_000])
def test_what_never_ends_is_gone_through_once(text: str):
    with pytest.raises(tomllib.TOMLDecodeError):
        read_toml(text)
