"""From the artifacts of cells to records, statistics, tables and reports; reads files, runs nothing."""
