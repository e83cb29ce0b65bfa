"""How it runs: one command and one spark-submit entry point a job."""
