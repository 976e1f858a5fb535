"""Benchmarks, engines that sample responses, and the graders that judge them."""
