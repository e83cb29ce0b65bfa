"""From a dataset version to a model: the decision, the base, the run."""
