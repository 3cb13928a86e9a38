"""Pages and pictures of the site that are made from the code: reference, catalogues, gallery, figures of the theory.

`docs/conf.py` calls `everything` before Sphinx reads a page.  What is made stands in `docs/generated`, `docs/gallery`
and `build`, outside of git.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import pkgutil
import re
import runpy
import shutil
import textwrap
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.pycode import ModuleAnalyzer

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("liegroup", "integrators", "mechanics", "liemech")
EXAMPLES = ROOT / "examples"
THEORY = ROOT / "docs" / "theory" / "figures"
GENERATED = ROOT / "docs" / "generated"
MADE = ROOT / "build" / "figures"
"""Where the build draws the figures of the theory anew; those beside their scripts are for readers on the code host."""


def write(path: Path, text: str) -> None:
    """Write a file, unless it says so already: Sphinx reads again what is newer."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def title(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n\n"


# --- reference --------------------------------------------------------------------------------------------------------
@cache
def public_names() -> dict[str, list[str]]:
    """The names of every module of the packages that lists its public ones, by module."""
    found = {}
    for package in PACKAGES:
        root = importlib.import_module(package)
        walked = pkgutil.walk_packages(root.__path__, f"{package}.")
        for name in [package, *sorted(m.name for m in walked if not m.name.endswith("__main__"))]:
            module = importlib.import_module(name)
            if names := getattr(module, "__all__", None):
                found[name] = sorted(names)
    return found


@cache
def homes() -> dict[tuple[str, str], str]:
    """Where every public name is defined on the site: in the topmost of the modules that show it."""
    found: dict[int, str] = {}
    where = {}
    for module, names in sorted(public_names().items(), key=lambda item: item[0].count(".")):
        things = {name: getattr(importlib.import_module(module), name) for name in names}
        for name, thing in sorted(
            things.items(), key=lambda item: item[0] != getattr(item[1], "__name__", None)
        ):  # aliases last
            if inspect.ismodule(thing):
                where[module, name] = thing.__name__
                continue
            one = isinstance(thing, (int, float, str, tuple, bool))  # equal ones are no copies
            where[module, name] = f"{module}.{name}" if one else found.setdefault(id(thing), f"{module}.{name}")
    return where


def said_of(module: str, name: str) -> str:
    """The text below the assignment of a name, wherever it was imported from."""
    analyser = ModuleAnalyzer.for_module(module)
    if lines := analyser.find_attr_docs().get(("", name)):
        return "\n".join(lines).strip()
    for node in ast.parse(analyser.code).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return said_of(node.module, alias.name)
    return ""


def kind(thing: Any) -> str:
    """What a public name is, for autodoc."""
    if inspect.ismodule(thing):
        return "module"
    if getattr(thing, "__module__", "").split(".")[0] not in PACKAGES:
        return "data"  # names for things of other packages
    if inspect.isclass(thing):
        return "exception" if issubclass(thing, BaseException) else "class"
    return "function" if inspect.isroutine(thing) or hasattr(thing, "__wrapped__") else "data"


def summary(module: str, name: str) -> str:
    """One sentence on a public name."""
    thing = getattr(importlib.import_module(module), name)
    return as_rst(first_sentence(said_of(module, name) if kind(thing) == "data" else thing.__doc__))


def definition(module: str, name: str) -> str:
    """The entry of one public name."""
    thing = getattr(importlib.import_module(module), name)
    if kind(thing) == "module":
        return f".. py:data:: {name}\n\n   The module :py:mod:`{thing.__name__}`.\n\n"
    if kind(thing) == "data":
        text = said_of(module, name)
        return f".. py:data:: {name}\n\n" + textwrap.indent(inspect.cleandoc(as_rst(text)), "   ") + "\n\n"
    return f".. auto{kind(thing)}:: {module}.{name}\n" + ("   :members:\n" if inspect.isclass(thing) else "") + "\n"


@cache
def targets() -> dict[str, str]:
    """What docstrings call things by → where they stand: full names, modules, and names that only one thing has."""
    where = homes()
    found = {f"{module}.{name}": home for (module, name), home in where.items()} | {
        module: module for module in public_names()
    }
    short: dict[str, set[str]] = {}
    for (_, name), home in where.items():
        short.setdefault(name, set()).add(home)
    return found | {name: next(iter(h)) for name, h in short.items() if len(h) == 1 and len(name) > 3}


def linked(word: str) -> str:
    """A word between backticks: a link, where it is a name on the site."""
    name, dot, rest = word.rpartition(".")
    if word in targets():
        return f":py:obj:`{word} <{targets()[word]}>`"
    member = getattr(thing_at(targets()[name]), rest, None) if name in targets() else None
    if (inspect.isroutine(member) or isinstance(member, property)) and member.__doc__ and not rest.startswith("_"):
        return f":py:obj:`{word} <{targets()[name]}{dot}{rest}>`"
    return f"``{word}``"


def thing_at(name: str) -> Any:
    """The object of a full name; modules, too."""
    try:
        return importlib.import_module(name)
    except ImportError:
        module, _, last = name.rpartition(".")
        return getattr(importlib.import_module(module), last)


def as_rst(text: str) -> str:
    """A docstring in which bars and stars mean themselves (|v| and x**2 are formulas); backticks are code or names."""

    def span(text: str) -> str:
        if text.startswith("``") or text.lstrip() == "* ":
            return text
        return linked(text[1:-1])

    def plain(line: str) -> str:
        spans = re.split(r"(``.+?``|(?<!:)`[^`]+`|^\s*\* )", line)
        return "".join(span(s) if k % 2 else re.sub(r"([|*]|(?<=\w)_(?!\w))", r"\\\1", s) for k, s in enumerate(spans))

    lines = text.split("\n")
    ruled = [k for k, line in enumerate(lines) if re.fullmatch(r"\s*=+(\s+=+)+", line)]
    in_a_table = range(ruled[0], ruled[-1]) if ruled else ()
    return "\n".join(line if k in in_a_table else plain(line) for k, line in enumerate(lines))


def read_docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Docstrings as autodoc gets them: `as_rst`, and the sections of NumPy's style."""
    text = as_rst("\n".join(lines))
    if what not in ("attribute", "property", "data"):  # there a colon would end a type
        style = Config(
            napoleon_use_param=False,
            napoleon_use_rtype=False,
            napoleon_custom_sections=[("Attributes", "params_style")],
        )
        text = str(NumpyDocstring(text, style, app, what, name, thing, options))
    lines[:] = [*text.split("\n"), ""]


def reference() -> None:
    """One page per module with public names."""
    where = homes()
    for module, names in public_names().items():
        text = title(module) + f".. automodule:: {module}\n\n" + title("Names", "-")
        text += ".. list-table::\n   :widths: 30 70\n\n"
        for name in names:
            text += f"   * - :py:obj:`{name} <{where[module, name]}>`\n     - {summary(module, name)}\n"
        if own := [n for n in names if where[module, n] == f"{module}.{n}" and f"{module}.{n}" not in public_names()]:
            text += "\n" + title("Definitions", "-") + "".join(definition(module, name) for name in own)
        write(GENERATED / "reference" / f"{module}.rst", text)


# --- catalogues -------------------------------------------------------------------------------------------------------
def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as MyST reads it."""

    def line(cells: Sequence[Any]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(columns), line(["---"] * len(columns)), *map(line, rows)]) + "\n\n"


def first_sentence(text: str | None) -> str:
    """The first paragraph of a docstring, up to its first full stop."""
    paragraph = " ".join(inspect.cleandoc(text or "").split("\n\n")[0].split())
    return re.split(r"(?<=[.;:]) (?=[A-Z])", paragraph)[0]


def methods() -> str:
    from integrators.method.method import NEEDS
    from integrators.methods import METHODS

    def order(row: Any) -> str:
        embedded = getattr(row, "embedded_order", None)
        return f"{row.order}({embedded})" if embedded else str(row.order)

    def structure(row: Any) -> str:
        return ", ".join(word for word in ("symmetric", "symplectic") if getattr(row, word, None))

    text = (
        "# Catalogue of methods\n\nMade from `integrators.methods.METHODS`. The order, and whether a method is "
        "symmetric or symplectic, is computed from its numbers "
        "or measured by the tests. [Which method?](../../choose_a_method.md) says which one to take.\n\n"
    )
    by_family: dict[str, list[Any]] = {}
    for row in METHODS.values():
        by_family.setdefault(getattr(row, "family", "other libraries"), []).append(row)
    for family, rows in by_family.items():
        text += f"## {family}\n\n"
        needs = {getattr(row, "needs", None) for row in rows} & NEEDS.keys()
        text += f"Needs {', '.join(NEEDS[need] for need in sorted(needs))}.\n\n" if needs else ""
        columns = ("name", "order (of the estimate)", "structure", "evaluations", "source")
        cells = ([f"`{r.name}`", order(r), structure(r), getattr(r, "evaluations", ""), r.source] for r in rows)
        text += table(columns, cells)
    return text


def systems() -> str:
    from mechanics.systems import SYSTEMS

    text = (
        '# Catalogue of systems\n\nMade from `mechanics.systems.SYSTEMS`: `SYSTEMS["four-bar"].problem()`, '
        '`integrate(SYSTEMS["rolling-disk"], (0, 10))`. '
        "The formulations are the arguments of `problem`.\n\n"
    )
    kinds: dict[str, list[Any]] = {}
    for system in SYSTEMS.values():
        kinds.setdefault(system.kind, []).append(system)
    for kind, found in kinds.items():
        text += f"## {kind}\n\n" + table(
            ("name", "what it is", "formulations", "source"),
            ([f"`{s.name}`", s.description, ", ".join(f"`{f}`" for f in s.formulations), s.source] for s in found),
        )
    return text


def parts() -> str:
    """Joints, closures, forces, groups, controllers and studies."""
    from integrators.controllers import CONTROLLERS
    from liegroup import product, rn, se2, se3, so2, so3
    from mechanics import constraints
    from mechanics.forces import KINDS
    from mechanics.joints import JOINTS
    from studies.registry import STUDIES

    text = "# Catalogue of parts\n\nMade from the registries of the code.\n\n## Groups\n\n"
    groups = (
        ("rn(n)", rn(3)),
        ("so2", so2),
        ("so3", so3),
        ("se2", se2),
        ("se3", se3),
        ("product(so3, rn(2))", product(so3, rn(2))),
    )
    text += table(
        ("`liegroup` name", "example", "numbers per element", "numbers per velocity"),
        ([f"`{n}`", g, g.n_q, g.n_v] for n, g in groups),
    )
    text += "## Joints\n\n" + table(
        ("`mechanics.joints` name", "what it is"), ([f"`{j.__name__}`", first_sentence(j.__doc__)] for j in JOINTS)
    )
    closures = [(n, getattr(constraints, n)) for n in constraints.__all__]
    text += "## Closures and constraints\n\n" + table(
        ("`mechanics.constraints` name", "what it is"),
        ([f"`{n}`", first_sentence(f.__doc__)] for n, f in closures if inspect.isfunction(f)),
    )
    text += "## Force elements\n\n" + table(
        ("`mechanics.forces` kind", "what it is"), ([f"`{k.__name__}`", first_sentence(k.__doc__)] for k in KINDS)
    )
    text += "## Step size controllers\n\n" + table(
        ("name", "β (of the last errors)", "α (of the last sizes)"),
        (
            [f"`{n}`", ", ".join(f"{b:.4g}" for b in c.b), ", ".join(f"{a:.4g}" for a in c.a)]
            for n, c in CONTROLLERS.items()
        ),
    )
    return (
        text
        + "## Studies\n\n"
        + table(
            ("name", "question"),
            ([f"[{n}](../../../studies/{n.replace('-', '_')}/README.md)", s.question] for n, s in STUDIES.items()),
        )
    )


def catalogues() -> None:
    pages: dict[str, Callable[[], str]] = {"methods": methods, "systems": systems, "parts": parts}
    for name, make in pages.items():
        write(GENERATED / "catalogue" / f"{name}.md", make())


# --- gallery and figures ----------------------------------------------------------------------------------------------
HEADER = """Gallery
=======

Each script stands alone, takes seconds once its kernels are compiled, and leaves its picture beside itself:
``python examples/spinning_top.py``.
All of them were run for this page.

"""


def in_order() -> list[str]:
    """The examples as the page of the folder lists them."""
    return re.findall(r"^\| \[(\w+\.py)\]", (EXAMPLES / "README.md").read_text(encoding="utf-8"), flags=re.M)


def in_the_order_of_the_page(name: str) -> int:
    """Sorting key of the gallery."""
    return in_order().index(Path(name).name)


def with_title(script: Path) -> str:
    """A script whose docstring has a title, as the gallery asks for."""
    text = script.read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text), clean=False)
    assert docstring is not None, f"{script}: no docstring"
    heading = title(script.stem.replace("_", " ").capitalize()).rstrip("\n")
    return text.replace(docstring, f"\n{heading}\n\n{docstring}", 1)


def examples() -> None:
    """Copies of the examples, which the gallery runs: their pictures are left beside the copies."""
    folder = ROOT / "build" / "examples"
    listed = in_order()
    for left in (*folder.glob("*.py"), *(ROOT / "docs" / "gallery").glob("*.rst")):  # of examples that are gone
        if f"{left.stem}.py" not in listed and left.stem != "index":
            left.unlink()
    for name in listed:
        write(folder / name, with_title(EXAMPLES / name))
    write(folder / "GALLERY_HEADER.rst", HEADER)


class Pictures:
    """Takes the picture that an example has left beside itself."""

    def __repr__(self) -> str:
        return "Pictures"

    def __call__(self, block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
        from sphinx_gallery.scrapers import figure_rst

        picture = Path(block_vars["src_file"]).with_suffix(".png")
        if not picture.exists():
            return ""
        path = block_vars["image_path_iterator"].next()
        shutil.move(picture, path)
        return figure_rst([path], gallery_conf["src_dir"])


def _get_sg_image_scraper() -> Pictures:
    return Pictures()


def tell_where(gallery_conf: dict[str, Any], script: str) -> None:
    """Examples leave their pictures beside themselves: they ask for `__file__`, which the gallery does not define."""
    vars(builtins)["__file__"] = str(ROOT / "build" / "examples" / Path(script).name)


def figures() -> None:
    """Draw every figure of the theory, unless its script is older than the picture."""
    MADE.mkdir(parents=True, exist_ok=True)
    for script in sorted(THEORY.glob("*.py")):
        copy, picture = MADE / script.name, (MADE / script.name).with_suffix(".png")
        if picture.exists() and copy.exists() and copy.read_bytes() == script.read_bytes():
            continue
        shutil.copyfile(script, copy)
        runpy.run_path(str(copy), run_name="__main__")
        assert picture.exists(), f"{script} left no picture"


def everything() -> None:
    reference()
    catalogues()
    examples()
    figures()


def for_the_site(page: str, text: str) -> str:
    """The text of a page, with what the build has made in place of what stands in the repository for the code host.

    Links to examples lead to the gallery, figures of the theory are those of this build.
    """
    up = "../" * page.count("/")
    if page.startswith("docs/theory/"):
        text = re.sub(r"\]\(figures/(\w+\.png)\)", rf"]({up}build/figures/\1)", text)
    text = re.sub(r"\]\((?:\.\./)*examples/README\.md\)", rf"]({up}docs/gallery/index.rst)", text)
    return re.sub(r"\]\((?:\.\./)*examples/(\w+)\.py\)", rf"]({up}docs/gallery/\1.rst)", text)
