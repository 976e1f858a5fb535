"""Training: a cell as one verl job, with the four surfaces of a method in its step.

The only package that imports verl. Reading order: `entry` (a stage becomes a job) -> `job_config`
(specification to verl configuration) -> `task_runner` (what runs inside Ray) -> `trainer` (the step)
-> `groups` and `supervision` (what a method sees and decides).
"""
