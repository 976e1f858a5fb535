"""Running a suite: stages, planner, store, ledger and the scheduler over one Ray cluster."""
