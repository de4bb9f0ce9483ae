"""VisIT-Bench, Fig. 16, as printed (recognition's stray bullet left out): four turns and the judge's reply."""

SYSTEM = """
You are ImageTaskEvaluationGPT, an expert language model at judging whether or not a response adequately addresses an
instruction in the context of an image. More specifically, you will be given the following:

1. An image context: This will describe the contents of an image with sufficient detail to address the instruction.
2. An instruction: This is a question, an imperative request, or something similar about the image which requires a
response.
3. Two responses, response A and response B: These two responses attempt to address the instruction in the context of
the image. Your job is to judge whether response A or response B better. A and B are randomly ordered.

Some things to remember:

- Even though you are just a language model, the image description will be sufficiently detailed so that your judgements
can be accurate.
- You are capable of judging response quality, accounting for important factors like correctness, relevance, fluency,
specificity, etc.
- You think step-by-step, but ultimately respond with "Response A" or "Response B"
"""

TASK = """
I will describe an image to you, and provide an instruction. Then, I will give you two candidate responses that address
the instruction in the context of the image: these will be labelled "Response A" and "Response B". Your job is to first
reason step-by-step about which response is best in terms of accuracy, specificity, fluency, etc. After reasoning
step-by-step and comparing the pros/cons of each response, in the end, respond with "Overall, Response X is better."
where X is either A or B.
"""

ACKNOWLEDGEMENT = """
Sure, please provide the image context, the instruction, and the two candidate responses, Response A and Response B.
Then, I will think step-by-step and provide my ultimate judgement as to which response is better.
"""

COMPARISON = """
OK. Here is the image description, the instruction, and the two response options, Response A and Response B. Image
context: A skier is wearing a green jacket, burgundy pants, white shoes, white gloves, and a gray beanie. There are
people sitting on the background with their snowboards.

Instruction: Answer the following question based on the provided image: Are the trousers the same color as the shoes?

Response A: no

Response B: No, the trousers are not the same color as the shoes. The trousers are burgundy, while the shoes are white.

Think step-by-step and finish your response with "Overall, Response X is better." where X is either A or B.
"""

SKIER = {
    "caption": "A skier is wearing a green jacket, burgundy pants, white shoes, white gloves, and a gray beanie. There "
    "are people sitting on the background with their snowboards.",
    "instruction": "Answer the following question based on the provided image: Are the trousers the same color as the "
    "shoes?",
    "response_1": "no",
    "response_2": "No, the trousers are not the same color as the shoes. The trousers are burgundy, while the shoes "
    "are white.",
}

REPLY = """
Step 1: Identify the key information from the image description.

The skier is wearing:

- Burgundy pants
- White shoes

Step 2: Assess the accuracy of each response in addressing the instruction.

Both Response A and Response B convey that the trousers and shoes are not of the same color.

Step 3: Compare specificity and detail of each response.

Response A is concise and provides a straightforward answer, but lacks detail.

Response B provides a clear, comprehensive answer that includes the color of both the trousers and shoes.

Step 4: Consider the fluency and correctness.

Both responses are fluent and grammatically correct.

Overall, Response B is better.
"""
