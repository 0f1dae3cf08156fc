"""Code behind the book, which checks the paper.

It compares the paper's numbers with ours, tests its proofs, draws reconstructions of
its tables, stores results and writes reports. It imports the library `cobandit`, and
the library does not import it.
"""
