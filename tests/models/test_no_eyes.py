"""An endpoint that cannot see images is told from one that cannot use this image: the first ends a run at once."""

import pytest

from evenhand.domain.errors import Misuse
from tests.models.asking import asking
from tests.refusals import refused
from tests.scripted_server import Canned

BLIND = (
    (400, "Invalid content type. image_url is only supported by certain models."),
    (400, "Failed to deserialize the JSON body: messages[0]: unknown variant `image_url`, expected `text`"),
    (404, "No endpoints found that support image input"),
    (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
    (400, "deep-7b is not a multimodal model"),
    (400, "At most 0 image(s) may be provided in one prompt."),
    (422, "This model does not support image inputs."),
    (400, "This model does not support images."),
    (400, "model 'words' is missing data required for image input"),
)
OF_ONE_IMAGE = (
    "Invalid image: the format AVIF is not supported.",
    "You uploaded an unsupported image. Please make sure your image has of one the following formats: png, jpeg.",
    "This model does not support images larger than 20 MB.",
    "This model does not support image type image/avif.",
    "At most 10 image(s) may be provided in one prompt.",
)


@pytest.mark.parametrize(("status", "words"), BLIND)
async def test_an_endpoint_without_eyes_ends_the_run_in_one_sentence(status: int, words: str) -> None:
    async with asking(canned=(Canned(status=status, body={"error": {"message": words}}),)) as it:
        with refused(Misuse, status, words.strip("."), "--see none", "--variant text-only", code="EH-MODEL-BLIND"):
            await it.ask()


@pytest.mark.parametrize("words", OF_ONE_IMAGE)
async def test_what_is_wrong_with_one_image_is_that_items_failure_alone(words: str) -> None:
    async with asking(canned=(Canned(status=400, body={"error": {"message": words}}),)) as it:
        failure = await it.failure()
    assert (failure.reason, failure.transient, failure.status) == ("api-error", False, 400)
