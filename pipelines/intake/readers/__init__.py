"""One module per log format: ``NAME``, ``VERSION``, ``TELLS``, ``matches(entry)`` and the pure ``read(entry)``."""
