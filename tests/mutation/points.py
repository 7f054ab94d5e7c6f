"""The small mistakes that could be made in a file: a sign, a constant, a comparison or a dropped term, one each."""

import ast
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SHOWN = 60
"""Characters of an expression that are shown."""

SIGNS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.BitAnd: ast.BitOr}
EDGES = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
OPPOSITES = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
EXTREMES = {"min": "max", "minimum": "maximum", "argmin": "argmax"}
EXTREMES |= {largest: smallest for smallest, largest in EXTREMES.items()}
TERMS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
SILENT = {"warn", "TypeVar", "cast"}
"""Calls that are messages or types."""

COMPILED = ("compiled", "inner")
"""Decorators of functions that Python does not run."""


@dataclass(frozen=True)
class Mutant:
    """One mistake.

    Attributes
    ----------
    file : str
        The path below the package.
    line, column : int
        Where the changed expression begins.
    what : str
        The function, the kind of mistake, and the expression before and after.
    lines : tuple of int
        The first and the last line of the expression.
    function : tuple of int or None
        The first and the last line of the function around it; None where Python runs no line of it in a test: in a
        module or a class, whose code runs at import, and in a compiled function.
    name : str
        What the module or class calls the function or the constant.
    span : tuple of int
        Its first byte in the file and the one after its last.
    text : str
        What stands there instead.
    """

    file: str
    line: int
    column: int
    what: str
    lines: tuple[int, int]
    function: tuple[int, int] | None
    name: str
    span: tuple[int, int]
    text: str

    @property
    def key(self) -> tuple[str, int, int, str]:
        return self.file, self.line, self.column, self.what

    def mutated(self, source: bytes) -> bytes:
        """The source of the file with the mistake."""
        return source[: self.span[0]] + self.text.encode() + source[self.span[1] :]


def mutants_of(package: Path, path: Path) -> list[Mutant]:
    """All mutants of one file, in the order of its lines."""
    source = path.read_bytes()
    points = _Points(path.relative_to(package).as_posix(), source)
    points.visit(ast.parse(source))
    for mutant in points.found:
        ast.parse(mutant.mutated(source))  # a mutant that is no Python would be killed by any test
    return points.found


def is_compiled(function: ast.FunctionDef) -> bool:
    """Whether Python does not run the function itself."""
    return any(ast.unparse(decorator).startswith(COMPILED) for decorator in function.decorator_list)


def generates_code(source: bytes) -> bool:
    """Whether a file works on numba's own objects, so that its functions run while others are compiled."""
    return b"import numba" in source or b"from numba" in source


def defaults_of(function: ast.FunctionDef) -> list[ast.expr]:
    """The values of parameters that have one."""
    return [value for value in (*function.args.defaults, *function.args.kw_defaults) if value is not None]


class _Points(ast.NodeVisitor):
    def __init__(self, file: str, source: bytes):
        self.file, self.found = file, []
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._scope, self._function, self._name = [], None, ""
        self._generates = generates_code(source)

    # What is no statement about numbers: names of other modules, types, messages and decorators.

    def visit_Import(self, node):
        pass

    visit_ImportFrom = visit_Raise = visit_Assert = visit_JoinedStr = visit_Import

    def visit_If(self, node):
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.generic_visit(node)

    def visit_Assign(self, node):
        target = ast.unparse(node.targets[0])
        if target != "__all__":
            with self._inside(target):
                self.generic_visit(node)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            with self._inside(ast.unparse(node.target)):
                self.visit(node.value)

    def visit_ClassDef(self, node):
        self._scope.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self._scope.pop()

    def visit_FunctionDef(self, node):
        self._scope.append(node.name)
        with self._inside(node.name):
            for default in defaults_of(node):
                self.visit(default)
            outer = self._function
            if not self._generates and not is_compiled(node):
                self._function = outer or (node.body[0].lineno, node.end_lineno)
            for statement in node.body:
                self.visit(statement)
            self._function = outer
        self._scope.pop()

    @contextmanager
    def _inside(self, name: str):
        """The name of the outermost function or constant, which is how other code calls it."""
        outer, self._name = self._name, self._name or name
        yield
        self._name = outer

    def visit_Call(self, node):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in SILENT:
            return
        if name in EXTREMES:
            other = EXTREMES[name]
            whole = isinstance(node.func, ast.Name)
            function = ast.Name(other) if whole else ast.Attribute(node.func.value, other)
            self._add(node, "comparison", ast.Call(function, node.args, node.keywords))
        self.generic_visit(node)

    # The mistakes.

    def visit_Constant(self, node):
        if isinstance(node.value, bool):
            self._add(node, "constant", ast.Constant(not node.value))
        elif isinstance(node.value, int | float):
            self._add(node, "constant", ast.Constant(node.value + 1))

    def visit_UnaryOp(self, node):
        self._add(node, "sign", node.operand)
        self.generic_visit(node)

    def visit_BinOp(self, node):
        if not any(isinstance(side, ast.JoinedStr) or _is_text(side) for side in (node.left, node.right)):
            kind = type(node.op)
            if kind in SIGNS:
                self._add(node, "sign", ast.BinOp(node.left, SIGNS[kind](), node.right))
            if kind in TERMS:
                self._add(node, "right term dropped", node.left)
            if kind in (ast.Add, ast.Mult):
                self._add(node, "left term dropped", node.right)
        self.generic_visit(node)

    def visit_AugAssign(self, node):
        if type(node.op) in SIGNS and not _is_text(node.value):
            self._add(node, "sign", ast.AugAssign(node.target, SIGNS[type(node.op)](), node.value))
        if type(node.op) in TERMS:
            self._add(node, "term dropped", ast.Pass())
        self.visit(node.value)

    def visit_BoolOp(self, node):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._add(node, "comparison", ast.BoolOp(other, node.values))
        for k in range(len(node.values)):
            rest = node.values[:k] + node.values[k + 1 :]
            self._add(node, f"term {k + 1} dropped", rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))
        self.generic_visit(node)

    def visit_Compare(self, node):
        for k, op in enumerate(node.ops):
            for table in (EDGES, OPPOSITES):
                if type(op) in table:
                    ops = [*node.ops[:k], table[type(op)](), *node.ops[k + 1 :]]
                    self._add(node, "comparison", ast.Compare(node.left, ops, node.comparators))
        self.generic_visit(node)

    def _add(self, node, kind: str, new) -> None:
        text = ast.unparse(new)
        what = f"{'.'.join(self._scope) or 'module'}: {kind}: {_shown(ast.unparse(node))} -> {_shown(text)}"
        lines = node.lineno, node.end_lineno
        begin, end = (self._starts[line - 1] for line in lines)
        span = begin + node.col_offset, end + node.end_col_offset
        text = text if isinstance(new, ast.stmt) else f"({text})"
        place = self.file, node.lineno, node.col_offset
        self.found.append(Mutant(*place, what, lines, self._function, self._name, span, text))


def _is_text(node) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _shown(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
