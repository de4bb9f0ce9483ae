"""The list of what a stranger's folder may set, held against a list that somebody looked at."""

from pathlib import Path

import click
import pytest

from evenhand.cli.folder import ANY, INSIDE, MAY_SET, MODEL, NO_MORE, STORE, every_command, flag_of, inside, settable
from evenhand.cli.main import evenhand

# Looked at one by one: may a stranger choose this for somebody who did not type it? Whoever adds a flag to a command,
# or to the list, answers that question here.
REVIEWED = {
    ANY: """against all anchor anytime assume base baseline battle_pages battles boards bootstrap by by_cluster category
        compare changes columns compare_variants descriptions_by disagreements dry_run explain family fence fit
        flips format image_detail item item_column items join json k last length levels limit looks
        max_characters max_image_edge max_options method model_a_column model_b_column models new
        order_effect orders ordinal pairs part per_task picture plan policy prompt quiet rater_column
        readout reference reference_battles repeats require resample run sample sampling_seed scale
        jury see seed shrink soft spreadsheet start tau temperature ties top_p unclustered unit until variant winner_as
        width winner_column winner_words""",
    NO_MORE: "budget max_connections max_cost max_retries rpm tpm",
    INSIDE: "benchmark criteria data image_root protocol responses strengths",
    MODEL: "judge model",
    STORE: "store",
}
REFUSED = """allow_partial allow_private api_key_env base_url batch batch_resend batch_wait detector endpoint_name
    every extra_body extractor extractor_api_key_env extractor_base_url force full go_on groups host image_kinds
    images insecure_http judge_api_key_env judge_base_url judge_endpoint_name link log look max_bytes max_calls
    max_tokens mode name no_wait no_worker once only_link out owner_link pages per_skill plot port predictions price
    processes prompts public_key public_url query_api_key_env query_base_url query_model reasoning_effort replace
    replicates replies retry_failed retry_reason rows runner same_family service_tier showings stop team third_showing
    timeout token trust_folder unrelated version with_reference workers"""


def _all() -> list[tuple[str, click.Option]]:
    root = click.Context(evenhand, info_name="evenhand")
    return [(flag_of(one), one) for command in every_command(evenhand, root) for one in settable(command)]


def test_every_flag_of_every_command_was_looked_at() -> None:
    allowed = {name for names in REVIEWED.values() for name in names.split()}
    assert {flag for flag, _ in _all()} == allowed | set(REFUSED.split())
    assert not allowed & set(REFUSED.split())


def test_the_list_is_the_one_that_was_looked_at() -> None:
    assert {name: rule for rule, names in REVIEWED.items() for name in names.split()} == dict(MAY_SET)


def test_no_path_is_free_and_every_limit_is_a_number() -> None:
    for flag, option in _all():
        if isinstance(option.type, click.Path) and flag in MAY_SET:
            assert MAY_SET[flag] is INSIDE, f"--{flag} names a path"
        if MAY_SET.get(flag) is NO_MORE:
            assert isinstance(option.type, click.IntRange | click.FloatRange), f"--{flag} is no number"


@pytest.mark.parametrize(
    ("path", "held"),
    [
        ("visit_pairwise", True), ("sub/x", True), ("sub/../x", True), (".", True), ("", True),
        ("..", False), ("sub/../../x", False), ("/etc/passwd", False), ("~/x", False), ("out/x", False),
        ("out", False), ("loop", False), ("a\0b", False),
    ],
)  # fmt: skip
def test_inside_follows_links(tmp_path: Path, path: str, held: bool) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "out").symlink_to(tmp_path)
    (folder / "loop").symlink_to(folder / "loop")
    assert inside(path, folder) is held
