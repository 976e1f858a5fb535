"""The leaderboard: reads files only, and never imports a submission's code."""
