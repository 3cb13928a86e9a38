"""A short part of the campaign, and that it finds what is there to be found."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def campaign():
    spec = importlib.util.spec_from_file_location("campaign", Path(__file__).with_name("campaign.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules["campaign"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_nothing_is_found_in_a_short_campaign(campaign):
    tried, found = campaign.campaign(seed=1, minutes=1.0)
    assert not found
    assert len(tried) >= 4


def test_attacks_are_repeated_by_their_number(campaign):
    seen = []

    def noting(source, folder):
        seen.append(source.random())
        return "found"

    campaign.ATTACKS, before = (noting,), campaign.ATTACKS
    try:
        assert campaign.attack(1, 5) == campaign.attack(1, 5) == ("noting", "found")
        campaign.attack(1, 6)
    finally:
        campaign.ATTACKS = before
    assert seen[0] == seen[1] != seen[2]


def test_files_read_as_if_nothing_was_wrong_are_found(campaign, monkeypatch, tmp_path):
    from integrators.results import digests

    monkeypatch.setattr(digests, "check", lambda path: None)
    monkeypatch.setattr(campaign, "damaged", lambda source, content: content + b"\0")
    assert "as if nothing was wrong" in campaign.damaged_files(campaign.Source(1), tmp_path)
