"""
In a task's program: starts the training framework with what the job knows, and reports to the job how training goes.
"""

from .start import init_jax, init_torch, tensorflow_strategy

__all__ = ["init_jax", "init_torch", "tensorflow_strategy"]
