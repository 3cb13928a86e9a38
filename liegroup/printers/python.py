"""Python on arrays: NumPy in the arithmetic of the kernels, JAX, CasADi."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from liegroup.compile.scalars import REDUCTION_LIMIT
from liegroup.compile.tracing import Printer, lines
from liegroup.printers.function import Function, elementary, table_of

_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "less": "<"}
_SINCOS = f"""

def _sincos(x):
    far = np.abs(x) > {REDUCTION_LIMIT!r}
    s, c = _sincos_reduced(np.where(far, 0.0, x))
    if np.any(far):
        s, c = np.where(far, np.sin(x), s), np.where(far, np.cos(x), c)
    return s, c
"""


class ArrayPrinter(Printer):
    """Operations by the names that a module has for them; components are the last axis."""

    def __init__(self, module: str, names: Mapping[str, str], formulas: bool = False) -> None:
        self._module, self._names, self._formulas = module, names, formulas

    def number(self, value: float) -> str:
        return repr(value) if abs(value) < float("inf") else f'float("{value!r}")'

    def read(self, source: tuple[str, int | None]) -> str:
        name, k = source
        return name if k is None else f"{name}[..., {k}]"

    def turn(self, k: int, x: str) -> str:
        if self._formulas:
            return f"s{k}, c{k} = _sincos({x})"
        return f"s{k}, c{k} = {self._call('sin')}({x}), {self._call('cos')}({x})"

    def turned(self, name: str, k: int) -> str:
        return f"{name[0]}{k}"

    def _call(self, name: str) -> str:
        if self._formulas and name not in ("sqrt", "exp", "log", "tanh", "select"):
            return f"_{name}"
        return f"{self._module}.{self._names.get(name, name)}"

    def operation(self, name: str, *x: str) -> str:
        if name in _SIGNS:
            return f"{x[0]} {_SIGNS[name]} {x[1]}"
        if name == "taken":
            return f"_TABLE[{self._module}.asarray({x[0]}).astype(int)]"
        return f"-{x[0]}" if name == "negate" else f"{self._call(name)}({', '.join(x)})"

    def table(self, functions: Sequence[Function]) -> str:
        """Definition of the numbers that functions look up, if they do."""
        found = table_of(functions)
        return f"\n_TABLE = {self._module}.array([{', '.join(map(self.number, found))}])\n" if found else ""

    def body(self, f: Function) -> list[str]:
        """Assignments."""
        return lines(f.graph, f.wanted, set(), self)

    def values(self, f: Function) -> list[list[str]]:
        """What the outputs consist of."""
        return [[self.operand(f.graph, k) for k in nodes] for nodes in f.outputs.values()]

    def function(self, f: Function, own: bool = False) -> str:
        """Definition of a function of arrays, scalars where `own`."""
        rows = [*(f"{x} = {self._module}.asarray({x})" for x, size in f.inputs.items() if size), *self.body(f)]
        found = [values[0] if own else f"_joined({', '.join(values)})" for values in self.values(f)]
        about = [] if own else [f'"""{f.about}"""']
        text = "".join(f"    {line}\n" for line in [*about, *rows, f"return {', '.join(found)}"])
        kept = "" if own or not self._formulas else '@np.errstate(all="ignore")\n'  # of the sides that are not chosen
        return f"\n\n{kept}def {'_' if own else ''}{f.name}({', '.join(f.inputs)}):\n{text}"


def numpy_source(functions: Sequence[Function], title: str) -> str:
    """A module for NumPy; leading axes are a batch."""
    printer = ArrayPrinter("np", {"select": "where"}, formulas=True)
    text = f'"""{title}\n\nWritten by liemech. Components are the last axis, leading axes a batch.\n"""\n'
    text += "\nimport numpy as np\n" + printer.table(functions)
    for f in elementary(set[str]().union(*(f.names for f in functions))):
        text += printer.function(f, own=True) + (_SINCOS if f.name == "sincos_reduced" else "")
    text += "\n\ndef _joined(*x):\n    return np.stack(np.broadcast_arrays(*x), axis=-1)\n"
    return text + "".join(map(printer.function, functions))


def jax_source(functions: Sequence[Function], title: str) -> str:
    """A module for JAX: pure functions for jit, vmap, grad."""
    printer = ArrayPrinter(
        "jnp", {"select": "where", "atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
    )
    text = (
        f'"""{title}\n\nWritten by liemech. Pure functions, for jit, vmap, grad; components are the last axis.\n'
        'For double precision set jax_enable_x64.\n"""\n\nimport jax.numpy as jnp\n'
    )
    text += printer.table(functions)
    text += "\n\ndef _joined(*x):\n    return jnp.stack(jnp.broadcast_arrays(*x), axis=-1)\n"
    return text + "".join(map(printer.function, functions))


class _CasadiPrinter(ArrayPrinter):
    def __init__(self) -> None:
        super().__init__("ca", {"select": "if_else"})

    def read(self, source: tuple[str, int | None]) -> str:
        name, k = source
        return name if k is None else f"{name}[{k}]"

    def function(self, f: Function, own: bool = False) -> str:
        """Definition of what makes a `Function` of CasADi, and its name for that."""
        inputs = [f'{x} = ca.SX.sym("{x}", {max(n, 1)})' for x, n in f.inputs.items()]
        outputs = [f"ca.vertcat({', '.join(values)})" for values in self.values(f)]
        given, found = (", ".join(f'"{x}"' for x in names) for names in (f.inputs, f.outputs))
        made = f'"{f.name}", [{", ".join(f.inputs)}], [{", ".join(outputs)}], [{given}], [{found}]'
        rows = [f'"""{f.about}"""', *inputs, *self.body(f), f"return ca.Function({made})"]
        text = "".join(f"    {line}\n" for line in rows)
        return f"\n\ndef _{f.name}():\n{text}\n\n{f.name} = _{f.name}()\n"


def casadi_source(functions: Sequence[Function], title: str) -> str:
    """A module whose names are CasADi's `Function`s."""
    if table_of(functions):
        raise TypeError(
            "functions that look numbers up in a table, those of a motion by samples or by a function, have no code "
            "for CasADi: give the motion as an input, or as a polynomial"
        )
    text = f'"""{title}\n\nWritten by liemech: functions of CasADi.\n"""\n\nimport casadi as ca\n'
    return text + "".join(map(_CasadiPrinter().function, functions))
