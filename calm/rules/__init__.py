"""Lexical rules as a conflict function κ: deterministic, without weights, with a reason for every verdict."""

from __future__ import annotations

from calm.rules.scorer import RuleScorer, Verdict

__all__ = ["RuleScorer", "Verdict"]
