"""Parts of the evaluator of endpoints: prompts, scorers, and the requests themselves."""
