"""What people see: progress bars, and objects as notebooks show them."""

from liegroup.display.bars import bar
from liegroup.display.html import card, table
from liegroup.modules import listing

__all__ = ["bar", "card", "table"]
__dir__ = listing(__all__)
