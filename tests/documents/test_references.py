"""Sources cited by author and year stand in the list of references."""

import re
import subprocess
import unicodedata
from pathlib import Path

from integrators.methods import METHODS

ROOT = Path(__file__).resolve().parents[2]
NAME = r"(?:de |d[’'])?[A-ZÀ-Ž][\w’'-]+(?: [A-ZÀ-Ž][\w’'-]+)*"
CITATION = re.compile(
    rf"({NAME})(?:(?:, | and | & |, and )(?:[A-ZÀ-Ž][\w’'.-]+(?: de [A-Z]\w+| [A-ZÀ-Ž][\w’'-]+)*))*(?: et al\.)?,? "
    r"((?:1[789]|20)\d\d)\b"
)


def surname(author: str) -> str:
    """The last word of a name, without accents."""
    word = re.sub(r"'s$", "", author.replace("’", "'")).split()[-1]
    plain = unicodedata.normalize("NFKD", word.replace("ø", "o").replace("Ø", "O")).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z]", "", plain.lower())


def references() -> set[tuple[str, str]]:
    """(surname of the first author, year) of every entry."""
    text = (ROOT / "docs" / "references.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{(\w+),(.*?)^\}", text, flags=re.M | re.S)
    keys = [key for key, _ in entries]
    assert len(keys) == len(set(keys)) > 90
    found = set()
    for key, body in entries:
        fields = dict(re.findall(r"^\s+(\w+) = \{(.*)\},$", body, flags=re.M))
        assert {"author", "title"} <= fields.keys(), key
        assert {"journal", "publisher"} & fields.keys(), key
        found.add((surname(fields["author"].split(" and ")[0].split(",")[0]), fields.get("year", "")))
    return found


def citations() -> dict[tuple[str, str], str]:
    """(surname of the first author, year) → where, for every citation in code and pages."""
    listed = subprocess.run(
        ["git", "ls-files", "*.py", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    found = {}
    for name in listed:
        if not name.startswith("tests/"):
            text = re.sub(r"\s+", " ", (ROOT / name).read_text(encoding="utf-8"))
            found |= {(surname(match[1]), match[2]): f"{name}: {match[0]}" for match in CITATION.finditer(text)}
    return found


def test_every_citation_stands_in_the_list():
    known, cited = references(), citations()
    assert len(cited) > 80
    missing = [where for key, where in sorted(cited.items()) if key not in known]
    assert not missing, "\n".join(missing)


def test_every_method_names_a_source():
    assert [name for name in METHODS if not METHODS[name].source] == []
