"""One module per family of log formats: functions that write a dialogue as the format's logger would."""
