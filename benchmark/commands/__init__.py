"""The logic of the verbs of `venus` that are not about suites: one module per verb, texts and tables beside it.

The verbs about suites (plan, run, status, tables, show) live in `benchmark.runs`, which owns the store. What is here
may use every package below it, and nothing imports it but `benchmark.cli`.
"""
