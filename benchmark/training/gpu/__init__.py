"""What venus adds to verl on a machine with GPUs: the engine that delivers evidence, and nothing else."""
