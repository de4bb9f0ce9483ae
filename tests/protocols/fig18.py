"""VisIT-Bench, Fig. 18, as printed: the system prompt, two raw judgements, and what the extractor made of them."""

SYSTEM = """
You are FinalAnswerExtractionGPT, an expert language model at extracting multiple choice answers from written out from
longer explanations. You will be given several sentences describing a thought process which should eventually contain a
final answer, either A or B. Your job is to extract the final answer that the explanation arrives at.

Some things to remember:

- Keep your answers short: only output "Final Answer: X" where X is A or B
- If the explanation doesn't mention a final choice explicitly, you can output "Unknown"
"""

CLOSING = "Please extract the final answer from the above text."

STOP_SIGN = """Step 1: Compare the two responses to the instruction

- The instruction asks if people are required to stop and requests an explanation.

Step 2: Assess Response A

- Response A indicates that people should stop due to the presence of a stop sign. However, it doesn't consider the \
fact that the sign is pressed against the bus, and the LED lights are off.

Step 3: Assess Response B

- Response B simply says "yes," acknowledging that people should stop, but it doesn't provide the explanation required \
by the instruction.

Step 4: Compare specificity, fluency, and other factors

- Response A is more specific and fluent but misconstrues the image description.
- Response B is accurate in that it acknowledges the stop sign but lacks an explanation.

Overall, since neither response is fully correct, it is difficult to declare a better response. However, given the \
fact that Response B acknowledges the prominent stop sign, I would say that Response B is slightly better, but it \
should also explain how the situation indicates that people should stop."""

STOP_SIGN_EXTRACTED = (
    "Final Answer: Response B is slightly better, but it should also explain how the situation indicates that people "
    "should stop."
)

COLONIES = """Step 1: Consider the image context, which states that the original thirteen colonies are shown with New \
Hampshire specifically highlighted in a darker green.

Step 2: Assess the accuracy of Response A, which claims that the colony shown is "Virginia." This is not accurate \
since the image context indicates New Hampshire being highlighted.

Step 3: Assess the accuracy of Response B, which claims that the colony shown is the Massachusetts Bay Colony. This \
response is also not accurate, as the image context states New Hampshire is the highlighted colony.

Step 4: In terms of accuracy, both responses are incorrect. Neither response is consistent with the image context.

Step 5: Consider other factors like fluency and specificity. Both responses seem fluent and specific in nature.

After considering these factors, none of the responses are accurate given the information provided in the image \
context. However, I am unable to provide an "Overall, Response X is better." judgement in this case as both responses \
are incorrect and neither stands out as being better than the other."""

COLONIES_EXTRACTED = "Final Answer: Unknown."
