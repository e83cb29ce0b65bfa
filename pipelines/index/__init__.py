"""The vector index: a view of kept turns with their vectors, kept in step with Delta, found by meaning."""
