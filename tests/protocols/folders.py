"""Protocol folders written for a test."""

from pathlib import Path

ARENA_HARD = Path(__file__).parent / "arena_hard"

PREFERENCE = r"""
name = "tiny"
kind = "preference"
levels = 2
slots = ["response_1", "response_2"]
[[turns]]
role = "user"
file = "user.md"
[reading]
pattern = 'Verdict: (A|B)'
[reading.values]
"A" = 1
"B" = -1
"""
USER = "First: {{response_1}}\nSecond: {{response_2}}\n"


def write_folder(folder: Path, toml: str = PREFERENCE, **files: str) -> Path:
    """protocol.toml, user.md, and `files` by name without ".md"."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "protocol.toml").write_text(toml, encoding="utf-8")
    for name, text in ({"user": USER} | files).items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


def reading_only(kind: str, reading: str, *, levels: int | None = None) -> str:
    return f'name = "x"\nkind = "{kind}"\n' + (f"levels = {levels}\n" if levels else "") + f"[reading]\n{reading}"
