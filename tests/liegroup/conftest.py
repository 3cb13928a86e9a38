"""What tests of the compiler share."""

from __future__ import annotations

from typing import Any

import pytest

from liegroup.compile.stages import KernelCompiler


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the functions that are compiled from now on."""
    names: list[str] = []
    original = KernelCompiler._compile_bytecode

    def noted(self: Any) -> Any:
        names.append(self.state.func_id.func_name)
        return original(self)

    monkeypatch.setattr(KernelCompiler, "_compile_bytecode", noted)
    return names
