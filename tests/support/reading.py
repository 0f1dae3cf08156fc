"""What a notebook may not show to somebody who has it without the book."""

import re

#: Roles, directives, labels, links to other pages of the book.
OF_THE_BOOK = re.compile(
    r"\{[\w:+-]+\}`|^(`{3,}|:{3,})\{|^\([\w-]+\)=$|\]\((?!https?:)[\w#./-]+\)",
    re.MULTILINE,
)
