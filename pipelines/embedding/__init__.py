"""Embed each distinct text of kept turns once."""
