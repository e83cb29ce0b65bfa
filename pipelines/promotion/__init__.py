"""From a finished run to the model that is served: measured on one held-out cut, judged by a declared rule."""
