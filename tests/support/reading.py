"""Pattern of markup that only the book can display, and a notebook must not show."""

import re

#: Roles, directives, labels, links to other pages of the book.
OF_THE_BOOK = re.compile(
    r"\{[\w:+-]+\}`|^(`{3,}|:{3,})\{|^\([\w-]+\)=$|\]\((?!https?:)[\w#./-]+\)",
    re.MULTILINE,
)
