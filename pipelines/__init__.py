"""What happens to the data, in order.

1. ``intake.landing``            Kafka records -> ``landing``: parse, identify, anonymise, decide once
2. ``conversations.settle``      ``landing`` -> ``turns``, ``feedback``, ``dead_letters``
3. ``quality.filter``            ``turns`` -> ``turn_signals``: signals, keep or reason
4. ``conversations.assemble``    touched turns -> ``conversations``: paths, branches, revisions
5. ``embedding.embed``           distinct kept texts -> ``embeddings``
6. ``index.view``                kept turns with their vectors -> the vector index
7. ``datasets.curate``           conversations -> ``drops``, ``training_examples``, a gated dataset version
8. ``training.trigger``          new examples -> ``trigger_decisions``: start or hold, and why
9. ``training.launch``           dataset version -> ``training_runs``, ``model_versions``

A stage is a function DataFrame -> DataFrame that ends in the select of its table; the outside world is in ``adapters``.
"""
