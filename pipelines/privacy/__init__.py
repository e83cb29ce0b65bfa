"""Personal values out of texts before anything is stored: keys, detectors, tokens, edits and their proof."""
