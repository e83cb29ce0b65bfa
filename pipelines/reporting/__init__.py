"""The report: figures of a lake asked in SQL, drawn as charts, on one HTML page that needs nothing else."""
