"""The project's descriptions agree and name nothing of a single machine."""

from __future__ import annotations

import importlib
import inspect
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from pkgutil import resolve_name

import pytest
import yaml

import cobandit

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
#: version of a release, and of a copy without git
RELEASE = PYPROJECT["tool"]["hatch"]["version"]["raw-options"]["fallback_version"]
#: Extras with weights and other tools, which only `make test-local` installs.
MODELS = ("inspect", "local", "test-local")
DIRECT = [
    *PROJECT["dependencies"],
    *(
        spec
        for name, extra in PROJECT["optional-dependencies"].items()
        if name not in MODELS
        for spec in extra
    ),
]


def normal(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", requirement.replace(" ", "").lower())


def name_of(requirement: str) -> str:
    return normal(re.split(r"[<>=!~;\[ ]", requirement, maxsplit=1)[0])


def test_lock_fixes_every_direct_dependency_by_hash_and_names_no_registry():
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert "://" not in lock and "--index-url" not in lock
    blocks = re.split(r"\n(?=\S)", lock.strip())
    locked = {name_of(block) for block in blocks}
    assert {name_of(spec) for spec in DIRECT} <= locked
    assert all(
        "==" in block.split()[0] and "--hash=sha256:" in block for block in blocks
    )


def test_types_of_the_library_are_strict_except_in_kernels():
    mypy = PYPROJECT["tool"]["mypy"]
    assert mypy["strict"] and "ignore-without-code" in mypy["enable_error_code"]
    relaxed = [
        override
        for override in mypy["overrides"]
        if any(module.startswith("cobandit") for module in override["module"])
    ]
    assert relaxed == [
        {"module": ["cobandit.replay.kernels.*"], "disallow_untyped_defs": False}
    ]


def test_citation_file_is_valid_and_has_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(citation)
    assert citation["type"] == "software"
    assert citation["version"] == citation["preferred-citation"]["version"] == RELEASE
    assert citation["authors"] == [{"name": PROJECT["authors"][0]["name"]}]
    (paper,) = citation["references"]
    assert {"type", "title", "authors"} <= set(paper)
    assert [identifier["value"] for identifier in paper["identifiers"]] == [
        "arXiv:2608.04333"
    ]


@pytest.mark.slow
def test_tag_is_the_version_of_both_packages(tmp_path):
    if not shutil.which("git"):
        pytest.skip("git is absent")
    for name in ("pyproject.toml", "companion/pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)

    def version(folder: Path) -> str:
        command = [sys.executable, "-m", "hatchling", "version"]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def git(*command: str) -> None:
        author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(["git", *author, *command], cwd=tmp_path, check=True)

    assert version(tmp_path) == version(tmp_path / "companion") == RELEASE

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "Release")
    git("tag", "v7.1.0")
    assert version(tmp_path) == version(tmp_path / "companion") == "7.1.0"

    git("commit", "--quiet", "--allow-empty", "--message", "Go on")
    assert version(tmp_path) == "7.1.0.post1.dev1"


def test_other_descriptions_are_written_from_the_citation_file():
    written = runpy.run_path(str(ROOT / "docs" / "citation.py"))["describe"]()
    assert {
        name: (ROOT / name).read_text(encoding="utf-8") for name in written
    } == written


def test_workflows_pin_actions_by_hash_and_read_only():
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = path.read_text(encoding="utf-8")
        used = re.findall(r"uses: (\S+)(.*)", text)
        assert used and all(
            re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action, _ in used
        ), path.name
        assert all(re.fullmatch(r"  # v[\d.]+", version) for _, version in used), (
            path.name
        )
        assert yaml.safe_load(text)["permissions"] == {"contents": "read"}


def test_binder_uses_the_lock_and_a_supported_python():
    """repo2docker reads only binder/, and postBuild has to be executable."""
    binder = ROOT / "binder"
    assert {path.name for path in binder.iterdir()} == {
        "runtime.txt",
        "requirements.txt",
        "postBuild",
    }
    matched = re.fullmatch(
        r"python-(\d+)\.(\d+)\n", (binder / "runtime.txt").read_text()
    )
    minimum = PROJECT["requires-python"].removeprefix(">=").split(".")
    assert tuple(map(int, matched.groups())) >= tuple(map(int, minimum))
    lines = (binder / "requirements.txt").read_text().splitlines()
    (included,) = [line.removeprefix("-r ") for line in lines if line.startswith("-r ")]
    assert (binder / included).resolve() == ROOT / "requirements.txt"
    assert (binder / "postBuild").stat().st_mode & 0o111
    assert (binder / "postBuild").read_text().startswith("#!")


def test_workflow_runs_continuous_integration_and_publishes():
    text = (ROOT / ".github" / "workflows" / "book.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    steps = jobs["build"]["steps"]
    assert ".ci/run" in [step.get("run") for step in steps]
    assert [
        step["with"]["path"] for step in steps if "pages" in step.get("uses", "")
    ] == ["_build/html"]
    assert "build" in jobs["publish"]["needs"] and "main" in jobs["publish"]["if"]
    assert "://" not in text


def test_project_address_is_in_one_place():
    """pyproject.toml has it, once there is one; buttons and links are made from it."""
    if urls := PROJECT.get("urls"):
        named = [
            path.relative_to(ROOT).as_posix()
            for path in project_files()
            if path.suffix in (".md", ".yml", ".py", ".cff")
            and urls["Repository"] in path.read_text("utf-8")
        ]
        assert not named
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert not config["repository"]["url"]


def test_changelog_begins_with_unreleased_and_this_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^## \[(.*?)\]", changelog)[:2] == [
        "Unreleased",
        RELEASE,
    ]


def project_files() -> list[Path]:
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "ls-files", "-z", "--others", "--cached", "--exclude-standard"]
    listed = (
        subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
        .stdout.decode()
        .split("\0")
    )
    return [path for name in listed if name and (path := ROOT / name).is_file()]


@pytest.mark.slow
def test_no_file_names_a_local_directory():
    # spelled in parts, so that this file does not name them
    elsewhere = re.compile(
        r"(?<![\w.~-])/(?:"
        + "|".join(["wo" + "rk", "ro" + "ot", "ho" + "me", "Us" + "ers"])
        + r")/\w"
    )
    named = []
    for path in project_files():
        if "_static/mathjax" in path.as_posix():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        named += [
            f"{path.relative_to(ROOT)}:{number}: {matched.group()}"
            for number, line in enumerate(text.splitlines(), 1)
            if (matched := elsewhere.search(line))
        ]

    assert not named, "\n".join(named)


needs_make = pytest.mark.skipif(not shutil.which("make"), reason="make is absent")


@needs_make
def test_makefile_targets_are_documented_and_help_lists_them():
    command = ["make", "-s", "help"]
    shown = subprocess.run(
        command, cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout
    for target in [
        "check",
        "coverage",
        "book",
        "stored",
        "pdf",
        "test",
        "bench",
        "determinism",
        "notebooks",
        "clean",
    ]:
        assert f"make {target}" in shown


@needs_make
def test_makefile_refuses_an_old_interpreter(tmp_path):
    old = tmp_path / "python-old"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    command = ["make", "-s", f"VENV={tmp_path / 'venv'}", f"PYTHON={old}", "book"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stdout


def test_every_page_of_the_contents_exists():
    pages = re.findall(
        r"(?:file|root): (\S+)", (ROOT / "_toc.yml").read_text(encoding="utf-8")
    )
    assert len(set(pages)) == len(pages)
    absent = [page for page in pages if not (ROOT / f"{page}.md").exists()]
    assert not absent


def test_reference_shows_parameters_of_inherited_constructors():
    reference = importlib.import_module("reference")

    inherited = reference.write_constructor(cobandit.CoPSI)
    extended = reference.write_constructor(cobandit.policies.PSISR)

    assert inherited.startswith("costs: ArrayLike, budget: float, n_objectives: int, *")
    assert extended == f"{inherited}, rounds: str = 'worst-case'"


def test_reference_shows_described_fields_of_results():
    reference = importlib.import_module("reference")
    choice = importlib.import_module("cobandit.advice.choice")

    assert "exclude-members" not in reference.describe_class(choice.Choice)
    assert reference.write_fields(choice.Choice).startswith("wishes: Wishes, ")


@pytest.mark.slow
def test_reference_has_every_public_name_once():
    """Return where users find it: top level, exporting package, or module."""
    reference = importlib.import_module("reference")
    packages = {reference.package_of(module) for module in reference.public_modules()}
    pages = [ROOT / "book" / "api.md", *sorted((ROOT / "book" / "api").glob("*.md"))]
    assert packages == {page.stem for page in pages[1:]}
    text = "\n".join(
        line for package in packages for line in reference.write_page(package)
    )
    listed = re.findall(r"\.\. auto(?:function|class|exception):: (\S+)", text)
    assert {
        "cobandit.load",
        "cobandit.EvaluationTable",
        "cobandit.stats.metrics.f1_score",
    } <= set(listed)

    matches = {id(resolve_name(path)) for path in listed}
    assert len(matches) == len(listed)  # nothing stands in two places
    for name in cobandit.__all__:
        thing = getattr(cobandit, name)
        assert (
            id(thing) in matches or inspect.ismodule(thing) or isinstance(thing, str)
        ), name

    assert "._" not in text and "cobandit.cli" not in text
    assert "autodata:: cobandit.tables.transforms.TRANSFORMS" in text
    for page in pages:
        assert page.read_text(encoding="utf-8").startswith("---\nnosearch: true\n---\n")


@pytest.mark.skipif(sys.platform == "win32", reason="no executable bit")
def test_continuous_integration_script_is_executable():
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
