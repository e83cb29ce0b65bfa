"""From the bytes of a Kafka record to items with identity: one reader per log format, one typed reason per failure."""
