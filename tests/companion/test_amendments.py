"""The protocols are a record: only amendments at the end are added."""

import re
from hashlib import sha256
from pathlib import Path

import pytest

BOOK = Path(__file__).parents[2] / "book"
HEAD = "\n## Amendments\n"

#: Checksums of the text before the amendments, and then of each amendment.  A new
#: amendment adds one at the end; none of the others ever changes.
RECORD = {
    "protocol.md": (
        """
        d4049004804f 5e739356c094 b887c16b5e18 84ab507b179d 8dfac05c334b
        16079a920b39 9bc59679969a 0c4d14740a0f 4ffc4f983581 1e3df48dc575
        521d0239ea57 3b21b0d60dbc 20c887b6a073 94f7b8f79a67 85f74f9bec75
        93647da8f792 bd9d51caed61 41370ba8c963 e632711f73d2 d81decaef6e2
        892e83b43770 14c48f0f1b1a 9083d1510c47 5f4f2efea664 e85504fb15ce
        c5bae96ab0e6 d14d7e27f8a3 aad38ba06406 75f5feea7657 5a7ab3720faa
        8c27f3125858 b88b83a947c6 a28a49e75b9b
    """
    ),
    "protocol-first.md": (
        """
        c6d5c5e4e1d2 17932734ca34 acef43713942 99e4f82faea9 bb3096f3f3cd
        f5811cafc4b4 fbd2d8981d9c 64a2db021fc1 70bcf7d10046 d68528502027
        180cfdfd26f2 11ffd8a99675 3beedf1390d0 a3bf26cdaba9 3750f970aea7
        7cee7cfe8da1 f347cbc6f6b1 46dcb239ae31 467268b4285f 3a78e1b4d385
    """
    ),
}


def read_record(text: str) -> list[str]:
    """Return the text before the amendments, and each amendment with its date."""
    before, _, amendments = text.partition(HEAD)
    return [before, *re.split(r"\n(?=\*\*\d{4}-|\d+\. )", amendments.strip())]


def checksums(text: str) -> list[str]:
    return [
        sha256(part.strip().encode()).hexdigest()[:12] for part in read_record(text)
    ]


@pytest.mark.parametrize("name", RECORD)
def test_committed_entries_do_not_change(name):
    """A failure means that a protocol was edited: write a new amendment instead."""
    result = checksums((BOOK / name).read_text(encoding="utf-8"))
    assert result == RECORD[name].split()


def test_edit_is_noticed_and_addition_keeps_earlier_entries():
    text = (BOOK / "protocol.md").read_text(encoding="utf-8")
    before = checksums(text)
    assert checksums(text + "\n99. *More.* A word.\n")[:-1] == before
    edited = text.replace("16. *Outcome.* One contrast", "16. *Outcome.* No contrast")
    assert sum(a != b for a, b in zip(before, checksums(edited), strict=True)) == 1


def test_amendments_are_numbered_consecutively():
    for name in RECORD:
        numbers = re.findall(
            r"^(\d+)\. ",
            (BOOK / name).read_text(encoding="utf-8").partition(HEAD)[2],
            re.M,
        )
        assert [int(number) for number in numbers] == list(range(1, len(numbers) + 1))
