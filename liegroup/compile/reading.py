"""Functions as their sources say: their statements, and which variables these need.

What is read is asked whether the function was made of it: a file may have been edited since.
"""

from __future__ import annotations

import ast
import os
import textwrap
import tokenize
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

written: dict[CodeType, str] = {}
"""Sources of functions that programs have written, and no file holds."""
_SAME = "co_code", "co_names", "co_varnames", "co_freevars"
"""What tells functions apart, with their constants."""
_WITHOUT_NAMES = {"annotation", "arg", "attr", "ctx", "kind", "op", "ops", "simple", "type_comment"}
"""Parts of a piece of a source in which no variables are."""


def read(function: FunctionType) -> tuple[Sequence[ast.stmt], Need] | None:
    """The statements of a function, and what they need; None if its source is not found, or is another one."""
    code = function.__code__
    last = max((line for _, line, _, _ in code.co_positions() if line), default=0)
    try:
        text = written.get(code) or "".join(_lines_of(code.co_filename)[code.co_firstlineno - 1 : last])
        tree = ast.parse(textwrap.dedent(text))
    except (OSError, SyntaxError, ValueError):
        return None
    modules = [x for x in code.co_names if isinstance(function.__globals__.get(x), ModuleType)]
    for node in _candidates(tree, code):
        if _is_source(node, code, modules):
            body = [ast.copy_location(ast.Return(node.body), node)] if isinstance(node, ast.Lambda) else node.body
            return body, Need(body)
    return None


def _lines_of(path: str) -> list[str]:
    return _lines(path, os.stat(path).st_mtime_ns)


@lru_cache(maxsize=8)
def _lines(path: str, time: int) -> list[str]:
    """The lines of a file, of which several functions are read one after the other."""
    with tokenize.open(path) as file:
        return file.readlines()


def _candidates(tree: ast.Module, code: CodeType) -> Iterable[Any]:
    if code.co_name == "<lambda>":
        return [x for x in ast.walk(tree) if isinstance(x, ast.Lambda)]
    return [x for x in tree.body if isinstance(x, ast.FunctionDef) and x.name == code.co_name]


def _is_source(node: Any, code: CodeType, modules: Sequence[str]) -> bool:
    """Whether a function has been made of this, in a file that imports these modules: Python calls functions of what it
    imports in another way.
    """
    around = "".join(f"import {name}\n" for name in modules)
    tree = ast.parse(around + (f"def free({', '.join(code.co_freevars)}): pass" if code.co_freevars else "pass"))
    if isinstance(node, ast.FunctionDef):
        node.decorator_list = []
    made: Any = node if isinstance(node, ast.stmt) else ast.copy_location(ast.Expr(node), node)
    if code.co_freevars:
        tree.body[-1].body = [made]  # type: ignore[attr-defined]
    else:
        tree.body[-1] = made
    found = [compile(tree, "", "exec", 0, True)]
    for _ in range(2 if code.co_freevars else 1):
        found = [x for outer in found for x in outer.co_consts if type(x) is CodeType]
    return any(
        repr(x.co_consts) == repr(code.co_consts) and all(getattr(x, name) == getattr(code, name) for name in _SAME)
        for x in found
    )


# --- which variables are needed later ---------------------------------------------------------------------------------


def names(context: type, *nodes: Any) -> set[str]:
    """Names that are read (`ast.Load`) or assigned (`ast.Store`)."""
    found, todo = set[str](), [x for x in nodes if x is not None]
    while todo:
        node = todo.pop()
        kind: Any = type(node)
        if kind is ast.Name:
            if type(node.ctx) is context:
                found.add(node.id)
        elif kind is not ast.Constant:
            for name in _parts(kind):
                part = getattr(node, name)
                if isinstance(part, list):
                    todo += part
                elif part is not None:
                    todo.append(part)
    return found


@cache
def _parts(kind: Any) -> tuple[str, ...]:
    """The parts of a piece of a source in which there may be names of variables."""
    return tuple(x for x in kind._fields if x not in _WITHOUT_NAMES)


class Need:
    """Which names are read after a statement before they are assigned anew, and at the beginning of the rounds of a
    loop.
    """

    def __init__(self, body: Sequence[ast.stmt]) -> None:
        self.after = dict[ast.stmt, set[str]]()
        self.at_rounds = dict[ast.stmt, set[str]]()
        self.made = dict[ast.stmt, set[str]]()
        self._own = dict[ast.stmt, tuple[set[str], set[str]]]()
        self._block(body, set(), set(), set())

    def _block(self, body: Sequence[ast.stmt], after: set[str], at_break: set[str], at_next: set[str]) -> set[str]:
        for statement in reversed(body):
            self.after[statement] = after
            after = self._before(statement, after, at_break, at_next)
        return after

    def _before(self, s: Any, after: set[str], at_break: set[str], at_next: set[str]) -> set[str]:
        if isinstance(s, ast.Return):
            return names(ast.Load, s.value)
        if isinstance(s, ast.Break):
            return at_break
        if isinstance(s, ast.Continue):
            return at_next
        if isinstance(s, ast.If):
            yes, no = (self._block(part, after, at_break, at_next) for part in (s.body, s.orelse))
            return self._of(s)[0] | yes | no
        if isinstance(s, ast.While | ast.For):
            asked, made = self._of(s)
            self.made.setdefault(s, names(ast.Store, s))
            rounds = after | asked
            while True:
                within = rounds | (self._block(s.body, rounds, after, rounds) - made)
                if within == rounds:
                    break
                rounds = within
            self.at_rounds[s] = rounds
            return rounds if isinstance(s, ast.While) else rounds | names(ast.Load, s.iter)
        read, assigned = self._of(s)
        return (after - assigned) | read

    def _of(self, s: Any) -> tuple[set[str], set[str]]:
        """What a statement itself reads and assigns."""
        if s not in self._own:
            if isinstance(s, ast.If | ast.While):
                self._own[s] = names(ast.Load, s.test), set()
            elif isinstance(s, ast.For):
                self._own[s] = set(), names(ast.Store, s.target)
            else:
                also = {s.target.id} if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name) else set()
                self._own[s] = names(ast.Load, s) | also, names(ast.Store, s)
        return self._own[s]
