"""Find the small changes that make mutants of a source file.

A mutant replaces one span of the original bytes, so that the rest of a file stays byte-identical.
Never changed: docstrings and other strings (with all inside f-strings), type annotations, decorators, `__all__`,
`__repr__`, `assert`, `raise` and what else only composes messages, `if TYPE_CHECKING` and `if __name__ == ...`.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

COMPARISONS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
}
ARITHMETIC = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "&"),
}
MESSAGES = {"message", "warn", "Unsaid", "Option", "Argument", "TypeVar", "NewType", "cast"}
"""Calls of functions with these names compose messages, help texts or types."""

UNSWAPPED = {"min", "max", "minimum", "maximum", "add", "multiply", "gcd", "lcm", "isclose", "hypot", "logaddexp"}
"""Functions whose result does not depend on the order of their arguments."""
UNSWAPPED |= {"isinstance", "issubclass", "hasattr", "getattr"}  # which always raise

FORMATTING = {"stacklevel", "indent", "figsize", "fontsize", "dpi", "linewidth", "maxsize"}
"""Keywords whose values change a look or a speed."""

TYPES = {"Annotated", "Literal"}
SIMPLE = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Mutant:
    """One small change of one file."""

    key: str
    """Identifies the change by its file, scope, statement and texts, whatever line it moves to."""
    file: str
    line: int
    operator: str
    scope: str
    """The qualified name of the function or class around it; "" at the top of a module."""
    statement: tuple[int, int]
    """The first and the last line of the statement, without the body of a compound one."""
    start: int
    """Where the span begins, in bytes."""
    original: str
    replacement: str

    def apply(self, source: bytes) -> bytes:
        """Replace the span."""
        original = self.original.encode()
        end = self.start + len(original)
        if source[self.start : end] != original:
            raise ValueError(f"{self.file} has changed at byte {self.start}; draw mutants again")
        return source[: self.start] + self.replacement.encode() + source[end:]

    def difference(self, source: bytes) -> str:
        """Show the change in the text around it, as one line."""
        begin = source.rfind(b"\n", 0, self.start) + 1
        last = self.start + len(self.original.encode())
        end = source.find(b"\n", last)
        before, after = source[begin : self.start], source[last : end if end >= 0 else None]
        text = f"{before.decode()}[-{self.original}-]{{+{self.replacement}+}}{after.decode()}"
        return " ".join(text.split())


def find_mutants(source: bytes, file: str) -> list[Mutant]:
    """List all mutants of a file, in the order of their positions."""
    tree = ast.parse(source)
    finder = _Finder(source, file)
    finder.visit_body(tree.body)
    return sorted(finder.name_mutants(), key=lambda each: (each.start, each.operator, each.replacement))


def is_valid(mutant: Mutant, source: bytes) -> bool:
    """Return whether a mutant parses to another program than the original."""
    try:
        mutated = ast.parse(mutant.apply(source))
    except SyntaxError:
        return False
    return ast.dump(mutated) != ast.dump(ast.parse(source))


@dataclass(frozen=True)
class _Change:
    start: int
    end: int
    replacement: str
    operator: str
    line: int
    scope: str
    statement: tuple[int, int]


class _Finder:
    """Walk over the statements of a module and collect changes."""

    def __init__(self, source: bytes, file: str) -> None:
        self.source, self.file = source, file
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.scope: list[str] = []
        self.statement = (1, 1)
        self.changes: list[_Change] = []

    def name_mutants(self) -> Iterator[Mutant]:
        """Yield the collected changes with a key each."""
        seen: Counter[tuple[str, ...]] = Counter()
        for each in self.changes:
            first, last = each.statement
            lines = self.source[self.starts[first - 1] : self.starts[last]].decode().split()
            original = self.source[each.start : each.end].decode()
            identity = (self.file, each.scope, " ".join(lines), each.operator, original, each.replacement)
            text = "\0".join((*identity, str(seen[identity])))
            seen[identity] += 1
            yield Mutant(
                key=sha256(text.encode()).hexdigest()[:12],
                file=self.file,
                line=each.line,
                operator=each.operator,
                scope=each.scope,
                statement=each.statement,
                start=each.start,
                original=original,
                replacement=each.replacement,
            )

    # Positions

    def offset(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def text(self, node: ast.expr) -> str:
        start, end = self.span(node)
        return self.source[start:end].decode()

    def add(self, start: int, end: int, replacement: str, operator: str) -> None:
        line = bisect_right(self.starts, start)
        scope = ".".join(self.scope)
        self.changes.append(_Change(start, end, replacement, operator, line, scope, self.statement))

    def add_between(self, left: ast.expr, right: ast.expr, pattern: str, replacement: str, operator: str) -> None:
        """Add the change of an operator: between two operands are only it, parentheses, spaces and comments."""
        start, end = self.span(left)[1], self.span(right)[0]
        gap = re.sub(rb"#[^\n]*", lambda comment: b" " * len(comment[0]), self.source[start:end])
        match = re.search(pattern.encode(), gap)
        if match:
            self.add(start + match.start(), start + match.end(), replacement, operator)

    # Statements

    def visit_body(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.visit_statement(statement)

    def visit_statement(self, node: ast.stmt) -> None:
        if isinstance(node, (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)):
            return
        inner = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)]
        inner += [s for each in ast.iter_child_nodes(node) if not isinstance(each, ast.expr) for s in _statements(each)]
        last = min((each.lineno for each in inner), default=node.end_lineno or node.lineno)
        if inner and last > node.lineno:
            last -= 1
        self.statement = (node.lineno, last)
        if isinstance(node, (*_Function, ast.ClassDef)):
            self.visit_definition(node)
        elif isinstance(node, ast.If) and _is_static(node.test):
            self.visit_body(node.orelse)
        elif not _is_all(node):
            self.visit_plain(node)

    def visit_definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        if node.name == "__repr__" or any(_last_name(each) == "overload" for each in node.decorator_list):
            return
        self.scope.append(node.name)
        if isinstance(node, ast.ClassDef):
            for keyword in node.keywords:
                self.visit(keyword.value)
        else:
            for default in (*node.args.defaults, *node.args.kw_defaults):
                if default is not None:
                    self.visit(default)
        self.visit_body(node.body)
        self.scope.pop()

    def visit_plain(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Expr):
            call = node.value.value if isinstance(node.value, ast.Await) else node.value
            if isinstance(call, ast.Call) and _last_name(call.func) not in MESSAGES:
                self.add(*self.span(node), "pass", "dropped call")
        if isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC and not _is_text(node.value):
            sign, other = ARITHMETIC[type(node.op)]
            self.add_between(node.target, node.value, re.escape(sign + "="), other + "=", "arithmetic")
        statement = self.statement
        for name, value in ast.iter_fields(node):
            if name == "annotation":
                continue
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ast.stmt):
                    self.visit_statement(each)
                    self.statement = statement
                elif isinstance(each, ast.AST):
                    self.visit(each)
                    self.statement = statement

    # Expressions

    def visit(self, node: ast.AST) -> None:
        """Collect changes of an expression, or of what holds statements inside a statement, such as a handler."""
        if isinstance(node, ast.stmt):
            self.visit_statement(node)
            return
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.keyword) and node.arg in FORMATTING):
            return
        if isinstance(node, ast.Subscript) and _last_name(node.value) in TYPES:
            return
        if isinstance(node, ast.Call) and _last_name(node.func) in MESSAGES:
            return
        method = getattr(self, f"change_{type(node).__name__.lower()}", None)
        if method is not None:
            method(node)
        for child in ast.iter_child_nodes(node):
            self.visit(child)

    def change_constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.add(*self.span(node), str(not value), "boolean")
        elif isinstance(value, int):
            self.add(*self.span(node), str(0 if value == 1 else value + 1), "number")
        elif isinstance(value, float):
            self.add(*self.span(node), repr(value * 1.1 if value else 1.0), "number")

    def change_compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, op, right in zip(operands, node.ops, node.comparators, strict=False):
            pattern, other = COMPARISONS[type(op)]
            self.add_between(left, right, pattern, other, "comparison")

    def change_binop(self, node: ast.BinOp) -> None:
        if type(node.op) in ARITHMETIC and not _is_text(node.left) and not _is_text(node.right):
            sign, other = ARITHMETIC[type(node.op)]
            self.add_between(node.left, node.right, re.escape(sign), other, "arithmetic")

    def change_boolop(self, node: ast.BoolOp) -> None:
        sign, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.add_between(left, right, sign, other, "boolean operator")

    def change_unaryop(self, node: ast.UnaryOp) -> None:
        start, end = self.span(node)
        if isinstance(node.op, ast.Not):
            word = re.match(rb"not\s*", self.source[start:end])
            assert word
            self.add(start, start + word.end(), "", "dropped not")
        elif isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            self.add(start, start + 1, "", "dropped sign")

    def change_slice(self, node: ast.Slice) -> None:
        for bound, sign in ((node.lower, "+"), (node.upper, "-")):
            if bound is not None:
                self.shift(bound, sign)

    def change_call(self, node: ast.Call) -> None:
        name = _last_name(node.func)
        if name == "range" and node.args:
            self.shift(node.args[min(1, len(node.args) - 1)], "-")
        if name not in UNSWAPPED:
            for left, right in zip(node.args, node.args[1:], strict=False):
                self.swap(left, right)

    def shift(self, bound: ast.expr, sign: str) -> None:
        """Move a bound by one; constants are changed as numbers."""
        if not isinstance(bound, (ast.Constant, ast.Starred)):
            text = self.text(bound)
            self.add(
                *self.span(bound), f"{text} {sign} 1" if isinstance(bound, SIMPLE) else f"({text}) {sign} 1", "bound"
            )

    def swap(self, left: ast.expr, right: ast.expr) -> None:
        """Swap two adjacent positional arguments; parentheses around them stay in place."""
        if isinstance(left, ast.Starred) or isinstance(right, ast.Starred) or _is_text(left) or _is_text(right):
            return
        first, second = self.text(left), self.text(right)
        if first != second:
            (start, middle), (resume, end) = self.span(left), self.span(right)
            self.add(start, end, second + self.source[middle:resume].decode() + first, "swapped arguments")


def _statements(node: ast.AST) -> list[ast.stmt]:
    """List the statements of what holds some inside a statement: a handler or a case."""
    return [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)]


def _last_name(node: ast.expr) -> str:
    """Return the last part of a dotted name; "" of anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_static(test: ast.expr) -> bool:
    """Return whether a condition is TYPE_CHECKING or compares __name__."""
    if isinstance(test, ast.Compare):
        return _last_name(test.left) == "__name__"
    return _last_name(test) == "TYPE_CHECKING"


def _is_all(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        return any(_last_name(each) == "__all__" for each in node.targets)
    return isinstance(node, (ast.AnnAssign, ast.AugAssign)) and _last_name(node.target) == "__all__"
