"""Breaks lines of src at random, one at a time, and counts how many of them a test catches.

    python -m tools.break_lines --seed 1 --count 60 --tests "tests -m 'not slow and not soak'"

Which lines are broken hangs on the seed and on what the line says, not on where it stands: a tree whose modules were
moved is broken at the same places, as far as it still has them. The first tests to run are those that name the broken
module; where they pass, all that was asked for. Works in a copy of the tree, and changes nothing in it.
"""

import argparse
import ast
import hashlib
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


def caught(tree: Path, one: Break, tests: list[str], python: str) -> bool:
    lines = one.file.read_text(encoding="utf-8").splitlines(keepends=True)
    whole = "".join(lines)
    lines[one.line - 1] = one.becomes + "\n"
    one.file.write_text("".join(lines), encoding="utf-8")
    try:
        near = near_tests(tree, one.file)
        rounds = [near, tests] if near else [tests]
        return any(_fails(tree, chosen, python) for chosen in rounds)
    finally:
        one.file.write_text(whole, encoding="utf-8")


def _fails(tree: Path, tests: list[str], python: str) -> bool:
    command = [
        python,
        "-P",
        "-m",
        "pytest",
        "-q",
        "-x",
        "-n",
        "2",
        "--dist",
        "loadfile",
        "-p",
        "no:cacheprovider",
        *tests,
    ]
    environment = {
        "PYTHONPATH": f"{tree / 'src'}:{tree}",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(Path.home()),
    }
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, check=False)
    return done.returncode not in (0, 5)


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
        found = 0
        for number, one in enumerate(some, start=1):
            where = f"{one.file.relative_to(tree)}:{one.line}"
            if chosen.list:
                print(where, one.lot, sep="\t")
                continue
            good = caught(tree, one, shlex.split(chosen.tests), sys.executable)
            found += good
            print(number, "caught" if good else "SURVIVED", where, one.lot, sep="\t", flush=True)
        if not chosen.list:
            print(f"{found} of {len(some)} broken lines were caught.")


if __name__ == "__main__":
    main()
