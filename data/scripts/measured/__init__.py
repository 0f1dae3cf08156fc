"""Measured tables: two small language models on two sets of questions.

``word_sums`` and ``piqa_small`` define the questions and the right answers, ``models``
runs the models, and ``evaluation`` evaluates all pairs and writes the bundled tables.
``make measure`` repeats the measurement; it takes hours, and continues after an
interruption.
"""
