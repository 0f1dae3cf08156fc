"""The command at the top of the data page prints the output shown there."""

import re
import shlex
from pathlib import Path

from support.commands import call

PAGE = Path(__file__).parents[2] / "book" / "data.md"
ROWS = [
    f"{model},{question},{usd},{correct}"
    for question in range(4)
    for model, usd, correct in (("small", 0.001, question % 2), ("large", 0.02, 1))
]


def test_first_command_prints_the_output_shown(tmp_path, monkeypatch):
    page = PAGE.read_text(encoding="utf-8")
    shown = re.search(r"```console\n\$ (.*?[^\\])\n(.*?)```", page, re.S)
    command, output = shown.groups()
    table = "\n".join(["model,question,usd,correct", *ROWS])
    (tmp_path / "my.csv").write_text(f"{table}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    done = call(*shlex.split(command.replace("\\\n", ""))[1:])

    assert done.exit_code == 0, done.output
    assert done.output == output
