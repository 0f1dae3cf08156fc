"""An evaluator that asks a small local model word sums, without a server."""

from measured import models, word_sums

MODEL = "SmolLM2-135M-Instruct"
PROMPTS = {
    "number": "{question} Answer with a number only.",
    "detail": "{question} Explain each step in detail.",
}
FIXED = {"temperature": 0, "seed": 1, "stop": ["\n"], "cache_prompt": False}


def evaluate(configuration, instance):
    """Evaluate an instance with the model in this process, for a plan's callable."""
    prompt = PROMPTS[configuration["prompt"]].format(
        question=word_sums.problem(int(instance)).question
    )
    request = {
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": configuration["max_tokens"],
    }
    answer = models.server(MODEL).handle_chat_completions(request | FIXED)
    text = answer["choices"][0]["message"]["content"]
    return {
        "correct": word_sums.correct(text, instance),
        "tokens": answer["usage"]["completion_tokens"],
    }
