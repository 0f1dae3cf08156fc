"""Names as nasty as a user's can be."""

NAMES = [
    "[0-shot] gpt",
    "[bold]loud[/bold] gpt",
    "a [/] stray end",
    "ends in \\",
    "[link=https://example.org]gpt[/link]",
    ":heart: gpt :warning:",
    "<b>gpt</b> <script>alert(1)</script>",
    "costs $x$ or $$y$$",
    "a | b | c",
    "gpt\non two lines\r\tand a tab",
    "\x1b[31mred\x1b[0m \x07\x1b]0;title\x07",
    "_gpt_ *star* `tick`",
    "l" + "o" * 100_000 + "ng",
]
