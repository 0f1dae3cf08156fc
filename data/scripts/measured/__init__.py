"""Tables that we measured: two small language models, every pair of a grid and a set of questions.

``word_sums`` and ``piqa_small`` say what is asked and what counts as right, ``models``
runs the models, ``evaluation`` makes one evaluation, ``bundle`` writes what was
measured as a bundled table.  ``make measure`` does it again; it takes hours, and goes
on where it was stopped.
"""
