"""Invented chat logs with planted personal values, and the truth about what was planted."""
