"""Duplicates among texts and conversations: equal ones and nearly equal ones, new rows against all accepted so far.

1. ``normalise``  text -> the form in which equal texts are equal, and code points to cut
2. ``tokens``     code points -> words as hashes, and what may not differ: numbers, names, signs
3. ``shingles``   words -> sets of words and of word pairs
4. ``minhash``    sets -> signatures; ``bands`` signatures -> candidate pairs
5. ``verify``     candidate pairs -> pairs that are near duplicates, by the real sets
6. ``cluster``    pairs -> one kept row a cluster
7. ``index``      what was accepted so far; a new batch against it and against itself

Arrays only, no text is kept. Duplicates are looked for inside one tenant: an index serves one.
"""
