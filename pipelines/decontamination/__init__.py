"""Leaks of benchmarks into training data: evidence for each, and a proof in every batch that leaks would be seen.

1. ``items``      benchmark records -> prompts and answers, matched apart
2. ``words``      text -> words as hashes; ``grams`` words -> runs of 8 words, or of 13 characters without spaces
3. ``index``      items -> what to look for, each run weighted by how many items share it
4. ``overlap``    examples against the index: share of an item that is there, longest run, what is missing
5. ``figures``    items that are told again with the same numbers, in any language
6. ``meaning``    items that are told again, by embedding
7. ``verdicts``   measures -> contaminated, flag_for_review or nothing
8. ``canaries``   items planted in every batch; one that is not found is an error
9. ``check``      all of it, a batch of examples at a time

No text is kept and none is in a verdict. Nothing is capped: every example that holds an item is found.
"""
