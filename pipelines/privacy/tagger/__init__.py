"""Names of persons and postal addresses in prose: a small network and rules, over whole batches, without a GPU."""
