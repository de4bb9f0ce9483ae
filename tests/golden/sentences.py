"""Every sentence of an error, read from the source; `python -m tests.golden.sentences` writes the list of them.

A sentence is followed from where its error is made: through names of the same function, through functions that give
one back, and through parameters to what callers pass. What is inserted stands in {braces}, choices in [one|other].
"""

import ast
import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from evenhand.domain.errors import CALL_CODES, USAGE
from evenhand.site.http.refusal import STATUS_CODES

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("sentences.txt")
COMMAND = "python -m tests.golden.sentences"

Function = ast.FunctionDef | ast.AsyncFunctionDef
_NO_CODE = "-"
"""Of an error that is not an EvenhandError: Python's own, or one that is turned into another."""
_FEWEST_WORDS = 2
_SIGNS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
_LEAVES = {ast.Name, ast.Constant, *(sign for kind in _SIGNS for sign in kind.__subclasses__())}
"""Two of three nodes: what they hold is no call and no function."""


@dataclass(frozen=True, slots=True)
class Sentence:
    module: str
    code: str
    template: str


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    """A call somewhere in the source, with the function that makes it."""

    module: "_Module"
    within: Function | None
    node: ast.Call

    @property
    def name(self) -> str:
        return _last(self.node.func)

    def argument(self, place: int, name: str) -> ast.expr | None:
        given = self.node.args[place] if place < len(self.node.args) else None
        return next((one.value for one in self.node.keywords if one.arg == name), given)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def children(node: ast.AST) -> list[ast.AST]:
    """As `ast.iter_child_nodes` in a third of its time, but for leaves."""
    found: list[object] = []
    for value in vars(node).values():
        if type(value) is list:
            found += cast("list[object]", value)
        else:
            found.append(value)
    return [one for one in found if type(one) not in _LEAVES and isinstance(one, ast.AST)]


def below(node: ast.AST) -> Iterator[ast.AST]:
    """As `ast.walk`, but for leaves."""
    found = [node]
    for one in found:
        yield one
        found += children(one)


def raised(node: ast.AST) -> Iterator[ast.Raise]:
    """Each `raise` below it; none stands within an expression, and most nodes do."""
    for child in children(node):
        if isinstance(child, ast.Raise):
            yield child
        elif not isinstance(child, ast.expr):
            yield from raised(child)


class _Module:
    def __init__(self, path: Path) -> None:
        self.name = path.relative_to(ROOT / "src").as_posix()
        self.classes: list[ast.ClassDef] = []
        self.functions: list[Function] = []
        self.methods: dict[int, str] = {}
        """With the class of each."""
        self.imported: dict[str, str] = {}
        """With the module of each."""
        self.calls: list[_Call] = []
        tree = parsed(path)
        self.constants = {
            _last(node.targets[0]): node.value
            for node in tree.body
            if isinstance(node, ast.Assign) and len(node.targets) == 1
        }
        self._walk(tree, None)

    def _walk(self, node: ast.AST, within: Function | None) -> None:
        match node:
            case ast.Call():
                self.calls.append(_Call(self, within, node))
            case ast.expr():
                pass
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.functions.append(node)
                within = node
            case ast.ClassDef():
                self.classes.append(node)
                self.methods |= {id(one): node.name for one in node.body}
            case ast.ImportFrom(module=str(module)):
                self.imported |= {one.asname or one.name: module.replace(".", "/") for one in node.names}
            case _:
                pass
        for child in children(node):
            self._walk(child, within)

    def reaches(self, called: ast.expr, home: "_Module", function: Function) -> bool:
        """Whether that call can be of this function."""
        if isinstance(called, ast.Name):
            return home is self or home.name.startswith(self.imported.get(called.id, "no module"))
        return id(function) in home.methods or home is self


class _Reader:
    """Follows sentences until no function is left that gives or passes one."""

    def __init__(self) -> None:
        self.modules = [_Module(path) for path in sorted((ROOT / "src").rglob("*.py"))]
        self.found: set[Sentence] = set()
        self._codes = _codes_of_classes(self.modules)
        self._listed_codes = _listed_codes(self.modules)
        self._calls: dict[str, list[_Call]] = {}
        self._functions: dict[str, list[tuple[_Module, Function]]] = {}
        for module in self.modules:
            for call in module.calls:
                self._calls.setdefault(call.name, []).append(call)
            for function in module.functions:
                self._functions.setdefault(function.name, []).append((module, function))
        self._to_do: list[tuple[_Module, Function, str, str]] = []
        """A function, its parameter (or "" for what it gives back), and the code of the error."""
        self._done: set[tuple[str, int, str, str]] = set()

    def read(self) -> set[Sentence]:
        for name in (*self._codes, "__init__"):
            for call in self._calls.get(name, ()):
                made = call.module.methods.get(id(call.within), "") if name == "__init__" else name
                if made not in self._codes:
                    continue
                own = self._code(call, self._codes[made])
                for said in (*call.node.args, *(one.value for one in call.node.keywords if one.arg != "code")):
                    self._take(said, call.module, call.within, own)
        for module, function in self._functions["add"]:  # of Problems, which are told together
            if "sentence" in _parameters(module, function):
                self._to_do.append((module, function, "sentence", "EH-DATA"))
        while self._to_do:
            self._follow(*self._to_do.pop())
        return self.found

    def _follow(self, module: _Module, function: Function, parameter: str, code: str) -> None:
        key = (module.name, function.lineno, parameter, code)
        if key in self._done:
            return
        self._done.add(key)
        if not parameter:
            for node in below(function):
                if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
                    self._take(node.value, module, function, code)
            return
        place = _parameters(module, function)[parameter]
        for call in self._calls.get(function.name, ()):
            given = call.argument(place, parameter)
            if given is not None and call.module.reaches(call.node.func, module, function):
                self._take(given, call.module, call.within, self._code(call, code))

    def _take(self, node: ast.expr, module: _Module, within: Function | None, code: str) -> None:
        for template in self._templates(node, module, within, code, frozenset()):
            if len([word for word in template.split() if any(map(str.isalpha, word))]) >= _FEWEST_WORDS:
                self.found.add(Sentence(module.name, code, template.replace("\n", "\\n")))

    def _templates(
        self, node: ast.expr, module: _Module, within: Function | None, code: str, seen: frozenset[str]
    ) -> list[str]:
        """Each that the expression can be; a placeholder alone where it holds no words of its own."""

        def inner(one: ast.expr) -> list[str]:
            return self._templates(one, module, within, code, seen)

        match node:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.JoinedStr(values=values):
                return ["".join(_one_of(inner(value)) for value in values)]
            case ast.FormattedValue(value=value):
                return inner(value)
            case ast.IfExp(body=body, orelse=other):
                return [*inner(body), *inner(other)]
            case ast.BoolOp(values=values):
                return [text for value in values for text in inner(value)]
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return [_one_of(inner(left)) + _one_of(inner(right))]
            case ast.Name(id=name) if name not in seen:
                assigned = _assigned(within, name) or [one for at, one in module.constants.items() if at == name]
                if assigned:
                    deeper = seen | {name}
                    texts = [t for one in assigned for t in self._templates(one, module, within, code, deeper)]
                    return texts if _worded(texts) else [f"{{{name}}}"]
                self._ask_callers(module, within, name, code)
                return [f"{{{name}}}"]
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
                return [text]
            case ast.Call(func=ast.Attribute(value=text, attr="strip" | "rstrip")):
                return inner(text)
            case ast.Call(func=ast.Name() | ast.Attribute(), args=[ast.JoinedStr() | ast.Name() as text]) if _worded(
                texts := inner(text)
            ):
                return texts
            case ast.Call(func=function):
                self._ask_function(module, function, code)
            case _:
                pass
        return [f"{{{_last(node)}}}"]

    def _ask_callers(self, module: _Module, within: Function | None, name: str, code: str) -> None:
        if within is not None and within.name != "__init__" and name in _parameters(module, within):
            self._to_do.append((module, within, name, code))

    def _ask_function(self, module: _Module, called: ast.expr, code: str) -> None:
        for home, function in self._functions.get(_last(called), ()):
            if _gives_text(function) and module.reaches(called, home, function):
                self._to_do.append((home, function, "", code))

    def _code(self, call: _Call, otherwise: str) -> str:
        given = {one.arg: one.value for one in call.node.keywords}
        match given.get("code"):
            case ast.Constant(value=str(code)):
                return code
            case ast.Name(id=name) if code := self._listed_codes.get(name):
                return code
            case _:
                pass
        match given.get("reason"):
            case ast.Constant(value=str(reason)) if reason in CALL_CODES:
                return {**CALL_CODES}[reason]
            case _:
                pass
        if call.name == "Refusal" and call.node.args:
            match call.node.args[0]:
                case ast.Constant(value=int(status)):
                    return STATUS_CODES.get(status, "EH-REQUEST")
                case _:
                    pass
        return otherwise


def _codes_of_classes(modules: Iterable[_Module]) -> dict[str, str]:
    """Names of exceptions, with the code of each."""
    codes = {name: _NO_CODE for name, one in vars(builtins).items() if _is_exception(one)}
    codes |= dict.fromkeys(("ClickException", "UsageError", "BadParameter", "BadOptionUsage"), USAGE)
    codes |= dict.fromkeys(("Error", "HTTPException", "PydanticCustomError"), _NO_CODE)
    made = [one for module in modules for one in module.classes]
    for _ in range(5):  # bases before what is below them, however far
        for one in made:
            bases = [codes[_last(base)] for base in one.bases if _last(base) in codes]
            if bases:
                codes[one.name] = _own_code(one) or bases[0]
    return codes


def _own_code(error: ast.ClassDef) -> str | None:
    for node in error.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id="code")], value=ast.Constant(value=str(code)))
                | ast.AnnAssign(target=ast.Name(id="code"), value=ast.Constant(value=str(code)))
            ):
                return code
            case _:
                pass
    return None


def _is_exception(one: object) -> bool:
    return isinstance(one, type) and issubclass(one, Exception)


def _listed_codes(modules: Iterable[_Module]) -> dict[str, str]:
    """Names of constants, with the code that each is in the first module that has it."""
    codes: dict[str, str] = {}
    for module in modules:
        for name, value in module.constants.items():
            match value:
                case ast.Constant(value=str(code)) if code.startswith("EH-"):
                    codes.setdefault(name, code)
                case _:
                    pass
    return codes


@cache
def _parameters(module: _Module, function: Function) -> dict[str, int]:
    """Those that are texts, with the place of each, `self` not counted."""
    every = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    fixed = any(_last(one) == "staticmethod" for one in function.decorator_list)
    own = every[1:] if id(function) in module.methods and not fixed else every
    return {one.arg: place for place, one in enumerate(own) if one.annotation and "str" in _words(one.annotation)}


@cache
def _gives_text(function: Function) -> bool:
    return function.returns is not None and "str" in ast.unparse(function.returns)


def _words(annotation: ast.expr) -> set[str]:
    """`str`, `str | None`; not a list of texts."""
    return {*ast.unparse(annotation).split(" | ")}


def _assigned(within: Function | None, name: str) -> list[ast.expr]:
    """What a name stands for in a function, of plain assignments to it."""
    return [
        node.value
        for node in (_assignments(within) if within is not None else ())
        if node.value is not None
        and name in [_last(one) for one in (node.targets if isinstance(node, ast.Assign) else [node.target])]
    ]


@cache
def _assignments(within: Function) -> list[ast.Assign | ast.AnnAssign | ast.NamedExpr]:
    return [node for node in below(within) if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr)]


def _worded(texts: list[str]) -> bool:
    """Whether it is more than a name or a number that is inserted."""
    return any(" " in text.strip() for text in texts)


def _one_of(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"[{'|'.join(dict.fromkeys(texts))}]"


def _last(node: ast.AST) -> str:
    """The name by which one would call it."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            return _last(inner)
        case _:
            return "…"


@cache
def written() -> str:
    """The list as it should be."""
    codes: dict[tuple[str, str], list[str]] = {}
    for one in sorted(_Reader().read(), key=lambda one: (one.module, one.template, one.code)):
        codes.setdefault((one.module, one.template), []).append(one.code)
    lines = [f"# Every sentence of an error, by module. Made by `{COMMAND}`; do not edit."]
    for module in dict.fromkeys(module for module, _ in codes):
        lines += ["", f"[{module}]"]
        lines += [f"{' '.join(said)}: {template}" for (home, template), said in codes.items() if home == module]
    return "\n".join(lines) + "\n"


def forget() -> None:
    """The source is a million objects, which whoever collects garbage would look through again and again."""
    for kept in (parsed, _assignments, _parameters, _gives_text):
        kept.cache_clear()


if __name__ == "__main__":
    LIST.write_text(written(), encoding="utf-8")
