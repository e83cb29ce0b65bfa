"""One module per format of streamed answers: ``NAME``, ``matches``, ``key``, ``is_whole`` and the pure ``join``."""
