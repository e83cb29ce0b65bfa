"""Realistic stand-ins for personal values: same kind and form, from ranges that reach nobody, keyed, without state."""
