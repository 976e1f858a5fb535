"""The suite runner of venus: suites become cells, cells become verl jobs, jobs become tables."""
