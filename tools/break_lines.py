"""Breaks lines of src at random, one at a time, and counts how many of them a test catches.

    python -m tools.break_lines --seed 1 --count 60 --tests "tests -m 'not slow and not soak'"

Which lines are broken hangs on the seed and on what the line says, not on where it stands: a tree whose modules were
moved is broken at the same places, as far as it still has them. One run of all tests first, over a copy that notes
which test files come through each function that is to be broken; a test that fails there already is left out. A broken
line is then tried with the files that come through its function, those that name its module first, until one fails; a
line outside of functions with those that name its module, and then with all. Nothing in the tree itself is changed.
"""

import argparse
import ast
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

_OTHER: dict[type[ast.AST], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "+",
    ast.Div: "*",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    file: Path
    line: int
    was: str
    becomes: str

    @property
    def lot(self) -> str:
        """The same in every tree that has the line."""
        return f"{self.was.strip()} -> {self.becomes.strip()}"


def breaks(file: Path) -> Iterator[Break]:
    """Every way in which a line of the file could be broken: another operator, the opposite, another number."""
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        for line, start, end, new in _edits(node, lines):
            was = lines[line - 1]
            yield Break(file=file, line=line, was=was, becomes=was[:start] + new + was[end:])


def _edits(node: ast.AST, lines: list[str]) -> Iterator[tuple[int, int, int, str]]:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _OTHER:
            yield from _between(left, right, lines, f" {_OTHER[type(operator)]} ")
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OTHER:
            yield from _between(left, right, lines, f" {_OTHER[type(operator)]} ")
        case ast.UnaryOp(op=ast.Not(), operand=operand) if node.lineno == operand.lineno:
            yield node.lineno, _column(lines, node), _column(lines, operand), ""
        case ast.Constant(value=bool(value)):
            yield node.lineno, _column(lines, node), _end(lines, node), str(not value)
        case ast.Constant(value=int(value)):
            yield node.lineno, _column(lines, node), _end(lines, node), str(value + 1)
        case _:
            pass


def _between(left: ast.expr, right: ast.expr, lines: list[str], new: str) -> Iterator[tuple[int, int, int, str]]:
    if left.end_lineno == right.lineno:
        start, end = _end(lines, left), _column(lines, right)
        if "(" not in lines[right.lineno - 1][start:end] and ")" not in lines[right.lineno - 1][start:end]:
            yield right.lineno, start, end, new


def _column(lines: list[str], node: ast.expr) -> int:
    return len(lines[node.lineno - 1].encode()[: node.col_offset].decode())


def _end(lines: list[str], node: ast.expr) -> int:
    return len(lines[(node.end_lineno or 1) - 1].encode()[: node.end_col_offset or 0].decode())


def drawn(tree: Path, *, seed: int, count: int) -> list[Break]:
    """One for each line, ordered by a hash of the seed and the line's words."""
    found: dict[str, Break] = {}
    for file in sorted((tree / "src").rglob("*.py")):
        for one in breaks(file):
            found.setdefault(one.lot, one)
    return sorted(found.values(), key=lambda one: hashlib.sha256(f"{seed} {one.lot}".encode()).hexdigest())[:count]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Of the unbroken tree: the test files that come through each broken line's function, and what fails already."""

    files: dict[int, list[str]]
    failing: list[str]


_NOTING = """
import os
from pathlib import Path
_noted = set()
def note(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").split("::")[0]
    if test and (number, test) not in _noted:
        _noted.add((number, test))
        with (Path({folder!r}) / str(number)).open("a") as file:
            file.write(test + "\\n")
"""


def known(tree: Path, some: list[Break], tests: list[str], noted: Path) -> Known:
    """Runs all tests over the tree with a note in each function that is to be broken; the tree is left as it was."""
    noted.mkdir()
    (tree / "src" / "break_notes.py").write_text(_NOTING.format(folder=str(noted)), encoding="utf-8")
    before = {one.file: one.file.read_text(encoding="utf-8") for one in some}
    for file, text in before.items():
        lines = text.splitlines(keepends=True)
        for number, place in _places(file, some):
            line = lines[place - 1]
            indent = line[: len(line) - len(line.lstrip())]
            lines[place - 1] = f'{indent}__import__("break_notes").note({number})\n{line}'
        file.write_text("".join(lines), encoding="utf-8")
    code, said = _run(tree, [*tests, "-rfE"], sys.executable)
    if code not in (0, 1):
        sys.exit(f"The tests could not be run:\n{said}")
    for file, text in before.items():
        file.write_text(text, encoding="utf-8")
    failing = [line.split()[1] for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    files = {
        number: sorted(set((noted / str(number)).read_text(encoding="utf-8").split()))
        for number in range(len(some))
        if (noted / str(number)).exists()
    }
    return Known(files=files, failing=failing)


def _places(file: Path, some: list[Break]) -> Iterator[tuple[int, int]]:
    """The number of each break of this file that lies in a function, and the line where its note goes."""
    functions = [
        node
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    for number, one in enumerate(some):
        around = [node for node in functions if node.body[0].lineno <= one.line <= (node.end_lineno or 0)]
        if one.file == file and around:
            body = max(around, key=lambda node: node.lineno).body
            first = body[1] if len(body) > 1 and ast.get_docstring(ast.Module(body=body, type_ignores=[])) else body[0]
            decorators = getattr(first, "decorator_list", [])
            yield number, decorators[0].lineno if decorators else first.lineno


def near_tests(tree: Path, file: Path) -> list[str]:
    """Test files that name the module, or that have its name."""
    module = ".".join(file.relative_to(tree / "src").with_suffix("").parts)
    package, _, leaf = module.rpartition(".")
    return [
        str(path.relative_to(tree))
        for path in sorted((tree / "tests").rglob("test_*.py"))
        for text in [path.read_text(encoding="utf-8")]
        if f"{module} import" in text or f"from {package} import {leaf}" in text or leaf in path.stem
    ]


def caught(tree: Path, one: Break, reached: list[str] | None, all_tests: list[str], failing: list[str]) -> bool:
    whole = one.file.read_text(encoding="utf-8")
    lines = whole.splitlines(keepends=True)
    lines[one.line - 1] = one.becomes + "\n"
    one.file.write_text("".join(lines), encoding="utf-8")
    _, marks = _without_paths(all_tests)
    left_out = [f"--deselect={test}" for test in failing]
    near = near_tests(tree, one.file)
    rounds = [near, all_tests] if reached is None else [[test for test in near if test in reached], reached]
    try:
        return any(
            _run(tree, [*chosen, *(marks if chosen is not all_tests else []), "-x", *left_out], sys.executable)[0]
            not in (0, 5)
            for chosen in rounds
            if chosen
        )
    finally:
        one.file.write_text(whole, encoding="utf-8")


def _without_paths(tests: list[str]) -> tuple[list[str], list[str]]:
    first = next((place for place, word in enumerate(tests) if word.startswith("-")), len(tests))
    return tests[:first], tests[first:]


def _run(tree: Path, tests: list[str], python: str) -> tuple[int, str]:
    command = [python, "-P", "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", "-p", "no:cacheprovider", *tests]
    environment = {
        "PYTHONPATH": f"{tree / 'src'}:{tree}",
        "PATH": os.environ["PATH"],
        "HOME": str(Path.home()),
    }
    done = subprocess.run(
        command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tree", type=Path, default=ROOT)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=60)
    options.add_argument("--tests", default="tests -m 'not slow and not soak'", help="as pytest takes them")
    options.add_argument("--list", action="store_true", help="only say which lines")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        ignored = shutil.ignore_patterns(".venv*", ".git", "__pycache__", "build")
        shutil.copytree(chosen.tree, tree, ignore=ignored)
        some = drawn(tree, seed=chosen.seed, count=chosen.count)
        if chosen.list:
            for one in some:
                print(f"{one.file.relative_to(tree)}:{one.line}", one.lot, sep="\t")
            return
        tests = shlex.split(chosen.tests)
        before = known(tree, some, tests, Path(folder) / "noted")
        print(f"Left out, since they fail unbroken: {len(before.failing)}", *before.failing, sep="\n  ", flush=True)
        in_functions = {number for file in {one.file for one in some} for number, _ in _places(file, some)}
        found = 0
        for number, one in enumerate(some):
            reached = before.files.get(number, []) if number in in_functions else None
            good = caught(tree, one, reached, tests, before.failing)
            found += good
            where = f"{one.file.relative_to(tree)}:{one.line}"
            said = "caught" if good else "SURVIVED" if reached != [] else "NOT REACHED"
            print(number + 1, said, where, one.lot, sep="\t", flush=True)
        print(f"{found} of {len(some)} broken lines were caught.")


if __name__ == "__main__":
    main()
