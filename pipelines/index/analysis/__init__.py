"""What an analyst asks of the vectors: topics, what drifted between two windows, a map to look at."""
