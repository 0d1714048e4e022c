"""Formulas of profit, risk, size and margin on exact numbers: no input or output, and nothing else of this package."""
