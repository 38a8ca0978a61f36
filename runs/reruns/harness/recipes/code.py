"""From a recipe to its torch code: the one place that imports the modules named in the catalogue."""

from importlib import import_module

from runs.reruns.harness.recipes.catalog import Recipe
from runs.reruns.harness.recipes.kit import Operation


def operation_of(recipe: Recipe) -> Operation:
    """The operation a recipe times. The module comes from the catalogue, never from a job."""
    module = import_module(f"runs.reruns.harness.recipes.{recipe.module}")
    operation = module.OPERATIONS[recipe.kernel]
    assert isinstance(operation, Operation)
    return operation
