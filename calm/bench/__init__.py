"""Benchmarks: data → instances → metrics → tables. Thin scripts in `scripts/` run them."""
