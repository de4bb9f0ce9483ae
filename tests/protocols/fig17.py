"""VisIT-Bench, Fig. 17, as printed: four turns and the judge's reply."""

SYSTEM = """
You are ImageTaskEvaluationGPT, an expert language model at judging whether or not a response adequately addresses an
instruction in the context of an image. More specifically, you will be given the following:

1. An image context: This will describe the contents of an image with sufficient detail to address the instruction.
2. An instruction: This is a question, an imparative request, or something similar about the image which requires a
response.
3. A reference output: This is a high-quality example output that humans have judged to be an accurate response for the
input instruction.
4. Two responses, response A and response B: These two responses attempt to address the instruction in the context of
the image.

Your job is to judge whether response A or response B better. A and B are randomly ordered. Some things to remember:

- Even though you are just a language model, the image description will be sufficiently detailed so that your judgements
can be accurate.
- Take the high-quality reference into account when making your judgements, but remember: some instructions are more
open-ended than others, so for those cases, a high quality response can differ from the reference.
- You are capable of judging response quality, accounting for important factors like correctness, relevance, fluency,
specificity, etc.
- You think step-by-step, but ultimately respond with "Response A" or "Response B"
"""

TASK = """
I will describe an image to you, and provide an instruction. Then, I will provide a reference output which is an example
of a high quality output for that instruction in the context of the image. Then, I will give you two candidate responses
that address the instruction in the context of the image: these will be labelled "Response A" and "Response B". Your job
is to first reason step-by-step about which response is best in terms of accuracy, specificity, fluency, etc. After
reasoning step-by-step and comparing the pros/cons of each response, in the end, respond with "Overall, Response X is
better." where X is either A or B.
"""

ACKNOWLEDGEMENT = """
Sure, please provide the image context, the instruction, the reference, and the two candidate responses, Response A and
Response B. Then, I will think step-by-step and provide my ultimate judgement as to which response is better.
"""

COMPARISON = """
OK. Here is the image description, the instruction, the high-quality reference, and the two response options, Response A
and Response B.

Image context: There is a white plate that has on it a small pizza with many toppings, mostly unrecognizable, due to the
pie being very well done, charred to the point of almost being burnt, and the crust blackened in many places.

Instruction: Someone told the creator of this item that they are very talented. What is the implied meaning?

High quality reference: The implied meaning is that the person complimenting the creator is being sarcastic, as the
pizza is overcooked and almost burnt, which is not a sign of talent.

Response A: When someone says that they are "very talented" in the context of the image, it implies that the person
responsible for creating the pizza is skilled in the craft and able to create an appealing and tasty dish. The person
praising the pizza's creator recognizes their culinary skills, which can be seen through the combination of ingredients
and the overall look of the finished dish. The praise is a form of appreciation for their efforts and the enjoyable
result they achieved.

Response B: It is difficult to determine the implied meaning without further context or information about the image. It
appears to be a pizza that has been burnt or charred on the surface and has various toppings, including pepperoni,
onion, and mushrooms. The image is shown on a white plate or surface. The implied meaning of this image could be that it
is a dish that has been cooked badly or that it is a dish with a unique or unusual combination of ingredients.

Think step-by-step and finish your response with "Overall, Response X is better." where X is either A or B.
"""

PIZZA = {
    "caption": "There is a white plate that has on it a small pizza with many toppings, mostly unrecognizable, due to "
    "the pie being very well done, charred to the point of almost being burnt, and the crust blackened in many places.",
    "instruction": "Someone told the creator of this item that they are very talented. What is the implied meaning?",
    "reference": "The implied meaning is that the person complimenting the creator is being sarcastic, as the pizza is "
    "overcooked and almost burnt, which is not a sign of talent.",
    "response_1": 'When someone says that they are "very talented" in the context of the image, it implies that the '
    "person responsible for creating the pizza is skilled in the craft and able to create an appealing and tasty dish. "
    "The person praising the pizza's creator recognizes their culinary skills, which can be seen through the "
    "combination of ingredients and the overall look of the finished dish. The praise is a form of appreciation for "
    "their efforts and the enjoyable result they achieved.",
    "response_2": "It is difficult to determine the implied meaning without further context or information about the "
    "image. It appears to be a pizza that has been burnt or charred on the surface and has various toppings, including "
    "pepperoni, onion, and mushrooms. The image is shown on a white plate or surface. The implied meaning of this "
    "image could be that it is a dish that has been cooked badly or that it is a dish with a unique or unusual "
    "combination of ingredients.",
}

REPLY = """
Step 1: Comparing both responses with the high-quality reference, it's clear that Response A describes the pizza as
well-made and appealing, while Response B is more focused on the fact that it is burnt or charred, somewhat aligning it
with the reference.

Step 2: Evaluating specificity, Response A defines the creator as skilled, even though the image description contradicts
this by stating that the pizza is overcooked. Response B, while not as specific, acknowledges the overcooked nature of
the pizza.

Step 3: In terms of fluency, both responses are easily understood and written in coherent language.

Step 4: Considering accuracy, Response A is inaccurate in relation to the context and instruction because it implies a
positive meaning when it should be sarcastic. Response B doesn't fully capture the sarcasm but is closer to the truth
about the pizza being badly cooked.

Step 5: Understanding relevance, Response A is not entirely relevant due to the inaccuracy in the creator's talent,
while Response B, although less direct, is more relevant by mentioning the burnt or charred nature of the pizza.

Overall, Response B is better.
"""
