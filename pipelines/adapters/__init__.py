"""The outside world: Java, Kafka, Spark, Delta, Great Expectations. Stages never import it."""
