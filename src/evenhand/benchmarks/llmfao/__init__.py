"""LLMFAO: answers of 59 models to 13 prompts, compared by people, by GPT-4 and by GPT-3.5; the verdicts are bundled."""
