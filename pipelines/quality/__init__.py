"""Quality of single turns: signals, and the first rule that a turn breaks."""
