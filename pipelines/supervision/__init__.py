"""What keeps the jobs of a streaming deployment running: restarts, states, readiness. No process is started here."""
