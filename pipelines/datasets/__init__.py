"""From conversations to an immutable dataset version: rules, drops, splits, files."""
