"""Claims about what strangers and annotators try where a benchmark grows: each attempt is refused and written down."""

from collections.abc import Generator
from dataclasses import replace

import httpx2 as httpx
import pytest
from markupsafe import escape

from evenhand.images import digest
from evenhand.images.guard import anywhere
from evenhand.images.sniffing import PROPOSED_LIMITS
from evenhand.ledger.store.record import Ledger
from evenhand.site.http.audit_log import events
from evenhand.site.living.events import ImageFailed, Rules
from evenhand.site.living.store import proposals
from evenhand.worker.proposed_images import LIMITS
from tests.benchmarks.files import RED_DIGEST
from tests.images.pictures import animation, decoded, png_bomb
from tests.images.test_fetching import ODD_SPELLINGS
from tests.images.test_metadata import phone_jpeg, told
from tests.images.web import Rebinding, Web, serving
from tests.scripted_server import Script, ScriptedServer
from tests.site.garden import Garden, hand_out, planted, worked
from tests.site.house import GENEROUS, PNG, SCRIPT, House, form_token, served

HERE = replace(LIMITS, allowed=anywhere)


@pytest.fixture
def garden(house: House) -> Garden:
    return planted(house)


@pytest.fixture
def open_garden(ledger: Ledger) -> Generator[Garden]:
    """Where a page takes any address, so that the worker alone is in the way."""
    with served(ledger, limits=replace(GENEROUS, addresses=anywhere)) as house:
        yield planted(house)


@pytest.fixture
def web() -> Generator[Web]:
    with serving() as web:
        yield web


async def fetched(garden: Garden, *, here: bool = False) -> None:
    async with ScriptedServer() as model:
        await worked(garden.ledger, model.base_url, limits=HERE if here else LIMITS)


def shown_as_text(page: httpx.Response) -> None:
    assert page.status_code == 200, page.url
    assert SCRIPT not in page.text, page.url
    assert "<img src=x" not in page.text, page.url
    assert str(escape(SCRIPT)) in page.text, page.url


async def test_script_and_html_in_every_field_are_shown_as_text_to_everybody(garden: Garden):
    garden.set_rules(Rules(verifiers=2))
    ada, ben, eve = (garden.person(f"{name} {SCRIPT}") for name in ("Ada", "Ben", "Eve"))
    owner = garden.person(f"Olga {SCRIPT}", "owner")
    skills = f"{SCRIPT}\ncounting"
    fields = {"verifiers": "2", "attempts": "2", "skills": skills}
    assert owner.post(f"/admin/growing/{garden.id}/settings", **fields).status_code == 303
    owner.post(f"/admin/growing/{garden.id}/skills/1", instruction=SCRIPT, output=f'"><img src=x onerror=y> {SCRIPT}')
    named = owner.post("/admin/growing", name=SCRIPT, licence=SCRIPT, skills=skills)
    assert named.status_code == 303
    ada.write(1, instruction="", licence=SCRIPT)  # comes back with what was typed
    proposal = ada.wrote(1, instruction=SCRIPT, licence=f'"{SCRIPT}')
    ben.caption(proposal, f"</textarea>{SCRIPT}")
    async with ScriptedServer(Script(judge=lambda _: f"</p>{SCRIPT}")) as model:
        await worked(garden.ledger, model.base_url)
    address = f"https://x.example/{SCRIPT}.png"
    eve.write(2, png=None, url=address, licence=SCRIPT)
    hand_out(garden, proposal, eve.id)
    looks = [
        (ada, f"/write/{garden.id}/1"),
        (eve, f"/write/{garden.id}/2"),
        (ben, f"/caption/{garden.id}/{proposal}"),
        (eve, f"/verify/{garden.id}/{proposal}"),
        (ada, "/grow"),
        (owner, "/grow"),
        (owner, "/admin/growing"),
        (owner, named.headers["location"]),
        (owner, f"/admin/growing/{garden.id}/skills/1"),
    ]
    for who, path in looks:
        shown_as_text(who.client.get(path))
    eve.verify(proposal)
    owner.post(f"/admin/growing/{garden.id}/proposals/{proposal}", word="rejected", reason=SCRIPT)
    for one in proposals(garden.ledger, garden.id):
        shown_as_text(owner.client.get(f"/admin/growing/{garden.id}/proposals/{one.id}"))
    for path in (f"/admin/growing/{garden.id}", "/admin/audit", "/admin"):
        shown_as_text(owner.client.get(path))
    wrong = ada.write(1, png=None, instruction=SCRIPT, licence="", url=f'"{SCRIPT}')
    assert SCRIPT not in wrong.text


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("../../../etc/passwd", b"root:x:0:0:", "not an image"),
        ("a.png", png_bomb(50_000, 50_000), "pixels"),
        ("a.png", png_bomb(7_000, 6_000), "pixels"),
        ("a.gif", b"GIF89a" + bytes(10), "damaged"),
        ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>", "SVG"),
        ("a.html", b"<!doctype html><script>alert(1)</script>", "HTML"),
        ("a.zip", b"PK\x03\x04" + bytes(100), "ZIP"),
        ("a.png", PNG[:40], "damaged"),
    ],
)
def test_an_upload_that_is_no_image_or_a_bomb_is_refused_and_logged(garden: Garden, name: str, data: bytes, words: str):
    ada = garden.person("Ada")
    files = {"image": (name, data, "image/png")}
    refused = ada.post(f"/write/{garden.id}/1", files=files, instruction="What?", licence="CC0")
    assert refused.status_code == 422
    assert words in refused.text
    assert "refused: upload" in garden.house.logged()
    assert not proposals(garden.ledger, garden.id)
    assert len(list(garden.ledger.images.digests())) == 1  # the example's


def test_the_name_of_an_upload_leads_nowhere(garden: Garden):
    ada = garden.person("Ada")
    for number, name in enumerate(("../../../../tmp/evil.png", "/etc/cron.d/evil.png"), start=1):
        files = {"image": (name, animation("PNG"), "text/html")}
        fields = {"instruction": "What?", "licence": "CC0"}
        assert ada.post(f"/write/{garden.id}/{number}", files=files, **fields).status_code == 303
    (first, second) = proposals(garden.ledger, garden.id)
    assert first.standing.image == second.standing.image
    shown = ada.client.get(f"/images/{first.standing.image}")
    assert shown.headers["content-type"] == "image/png"
    assert "sandbox" in shown.headers["content-security-policy"]
    assert not list(garden.ledger.beside.rglob("*evil*"))


def test_an_uploaded_photo_is_stored_and_shown_without_what_it_tells_of_its_maker(garden: Garden):
    ada, photo = garden.person("Ada"), phone_jpeg(orientation=6)
    assert ada.write(1, png=photo).status_code == 303
    (proposal,) = proposals(garden.ledger, garden.id)
    image = proposal.standing.image
    assert image is not None
    shown = ada.client.get(f"/images/{image}")
    assert shown.headers["content-type"] == "image/jpeg"
    assert told(shown.content) == [b"Exif\0\0"]
    assert dict(decoded(shown.content).getexif()) == {274: 6}
    files = [path for path in garden.ledger.beside.rglob("*") if path.is_file()]
    assert [path for path in files if b"SECRET" in path.read_bytes()] == []
    images = garden.ledger.images
    assert [name for name in images.digests() if b"SECRET" in images.get(name)] == []
    assert garden.ledger.images.originals.of(image) == {digest(photo)}


def test_an_upload_beyond_the_limit_is_refused_before_it_is_read(garden: Garden):
    ada = garden.person("Ada")
    assert ada.write(1, png=PNG + bytes(11_000_000)).status_code == 422  # more than one image may have
    refused = ada.write(1, png=PNG + bytes(32_000_000))
    assert refused.status_code == 413
    assert "refused: body too large" in garden.house.logged()
    assert ada.write(1, png=PNG + bytes(10_100_000)).status_code == 422
    big = {"caption": "x" * 300_000, "about": "1", "csrf": ada.token}
    assert ada.client.post(f"/caption/{garden.id}/x", data=big).status_code == 413  # only uploads may be so large


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:{port}/red.png",
        "http://localhost:{port}/red.png",
        "http://[::1]:{port}/red.png",
        "http://0.0.0.0:{port}/red.png",
        "http://[::ffff:127.0.0.1]:{port}/red.png",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/a.png",
    ],
)
async def test_an_address_inside_is_not_fetched_and_the_attempt_is_logged(open_garden: Garden, web: Web, address: str):
    garden = open_garden
    ada = garden.person("Ada")
    url = address.format(port=web.port)
    proposal = ada.wrote(1, png=None, url=url)
    await fetched(garden)
    assert web.asked == []
    stands = garden.stands(proposal)
    assert (stands.stage, stands.image) == ("image", None)
    attack = next(one for one in events(garden.ledger) if one.what == "refused: image private")
    assert (attack.person, attack.detail) == (ada.id, url)
    page = ada.client.get(f"/write/{garden.id}/1")
    assert '<p class="fault">' in page.text
    await fetched(garden)  # nor is it tried again
    assert garden.house.logged().count("refused: image private") == 1


async def test_a_public_looking_name_that_resolves_to_this_machine_is_refused_at_the_connection(
    garden: Garden, web: Web
):
    """As a rebinding name does: the address is looked at where it is connected to, not where the name is read."""
    ada = garden.person("Ada")
    proposal = ada.wrote(1, png=None, url=f"http://public.example:{web.port}/red.png")
    names = Rebinding("127.0.0.1")
    async with ScriptedServer() as model:
        await worked(garden.ledger, model.base_url, limits=replace(LIMITS, resolver=names))
    assert names.asked == ["public.example"]
    assert web.asked == []
    assert garden.stands(proposal).image is None
    assert garden.house.logged().count("refused: image private") == 1


@pytest.mark.parametrize(
    "host", [*ODD_SPELLINGS, "127.0.0.1", "[::1]", "10.0.0.1", "localhost", "a.localhost.", "[fe80::1]"]
)
def test_an_address_that_is_private_by_its_looks_is_refused_on_the_form_and_by_the_api(garden: Garden, host: str):
    ada, url = garden.person("Ada"), f"http://{host}/red.png"
    refused = ada.write(1, png=None, url=url)
    assert refused.status_code == 422
    assert "private network" in refused.text
    assert url in refused.text  # the form again
    document = {"instruction": "What?", "image_url": url, "licence": "CC0 1.0"}
    where, token = f"/api/growing/{garden.id}/write/1", {"X-CSRF-Token": ada.token}
    assert ada.client.put(where, json=document, headers=token).status_code == 422
    assert garden.house.logged().count("refused: image address") == 2
    assert not proposals(garden.ledger, garden.id)


@pytest.mark.parametrize("host", ["example.org", "1.1.1.1", "x.example", "93.184.216.34.example", "0xcafe.example"])
def test_a_name_is_looked_at_where_it_is_connected_to_and_a_public_address_is_taken(garden: Garden, host: str):
    assert garden.person("Ada").write(1, png=None, url=f"https://{host}/red.png").status_code == 303


@pytest.mark.parametrize("host", ODD_SPELLINGS)
async def test_an_odd_spelling_of_this_machine_is_refused_for_good_and_logged(open_garden: Garden, web: Web, host: str):
    garden = open_garden
    ada = garden.person("Ada")
    url = f"http://{host}:{web.port}/red.png"
    proposal = ada.wrote(1, png=None, url=url)
    await fetched(garden)
    assert web.asked == []
    (failure,) = garden.stands(proposal).failures
    assert isinstance(failure.said, ImageFailed)
    assert failure.said.final
    (attack,) = [one for one in events(garden.ledger) if one.what.startswith("refused: image")]
    assert attack.what in ("refused: image private", "refused: image address")
    assert (attack.person, attack.detail) == (ada.id, url)


async def test_a_redirect_inwards_and_a_name_that_rebinds_are_refused_and_logged(open_garden: Garden, web: Web):
    """127.0.0.1 is in the place of the public addresses here."""
    garden = open_garden
    ada = garden.person("Ada")
    web.redirect("/inwards.png", f"http://127.0.0.2:{web.port}/red.png")
    names = Rebinding("127.0.0.1", "127.0.0.2")
    limits = replace(LIMITS, allowed=lambda address: address == "127.0.0.1", resolver=names)
    redirected = ada.wrote(1, png=None, url=f"{web.base}/inwards.png")
    rebound = ada.wrote(2, png=None, url=f"http://rebinding.example:{web.port}/moved.png")
    async with ScriptedServer() as model:
        await worked(garden.ledger, model.base_url, limits=limits)
    assert sorted(web.asked) == ["/inwards.png", "/moved.png"]
    for proposal in (redirected, rebound):
        (failure,) = garden.stands(proposal).failures
        assert isinstance(failure.said, ImageFailed)
        assert failure.said.final
    assert garden.house.logged().count("refused: image private") == 2


async def test_a_bomb_by_its_address_is_held_to_the_limits_of_an_upload_and_logged(open_garden: Garden, web: Web):
    garden = open_garden
    ada = garden.person("Ada")
    url = f"{web.base}/bomb.png"
    proposal = ada.wrote(1, png=None, url=url)
    await fetched(garden, here=True)
    (failure,) = garden.stands(proposal).failures
    assert isinstance(failure.said, ImageFailed)
    assert failure.said.final
    assert "7000 x 6000" in failure.said.detail
    attack = next(one for one in events(garden.ledger) if one.what == "refused: image bomb")
    assert (attack.person, attack.detail) == (ada.id, url)
    assert LIMITS.images == PROPOSED_LIMITS


async def test_a_redirect_to_a_file_is_refused_and_logged(open_garden: Garden, web: Web):
    garden = open_garden
    ada = garden.person("Ada")
    ada.wrote(1, png=None, url=f"{web.base}/to-a-file.png")
    ada.wrote(2, png=None, url=f"{web.base}/to-a-user.png")
    await fetched(garden, here=True)
    assert garden.house.logged().count("refused: image address") == 2


async def test_an_address_that_is_open_is_fetched_by_the_worker_and_another_mends_a_wrong_one(
    open_garden: Garden, web: Web
):
    garden = open_garden
    ada, ben = garden.person("Ada"), garden.person("Ben")
    proposal = ada.wrote(1, png=None, url=f"{web.base}/page.png")
    assert "being fetched" in ada.client.get(f"/write/{garden.id}/1").text
    await fetched(garden, here=True)
    assert "HTML page" in ada.client.get(f"/write/{garden.id}/1").text
    assert "Nothing waits" in ben.client.get(f"/caption/{garden.id}").text
    assert ada.write(1, png=None, url=f"{web.base}/red.png").status_code == 303
    await fetched(garden, here=True)
    assert garden.stands(proposal).image == RED_DIGEST
    assert garden.stands(proposal).asked.url == f"{web.base}/red.png"
    assert garden.ledger.images.addresses.digests() == {f"{web.base}/red.png": RED_DIGEST}
    assert ben.client.get(f"/caption/{garden.id}").headers["location"].endswith(proposal)


def test_forms_of_others_and_roles_without_a_part_in_it_are_refused(garden: Garden):
    ada, team = garden.person("Ada"), garden.person("Tim", "team")
    proposal = ada.wrote(1)
    foreign = form_token(team.client.get("/account"))
    fields = {"csrf": foreign, "instruction": "x", "licence": "y"}
    assert ada.client.post(f"/write/{garden.id}/2", data=fields).status_code == 403
    for path in ("/grow", f"/write/{garden.id}/1", f"/caption/{garden.id}", f"/verify/{garden.id}/{proposal}"):
        assert team.client.get(path).status_code == 403, path
        assert garden.house.visitor().get(path).status_code == 401, path
    for path in ("", f"/{garden.id}", f"/{garden.id}/proposals/{proposal}", f"/{garden.id}/versions/1.zip"):
        assert ada.client.get(f"/admin/growing{path}").status_code == 403, path
    assert ada.post(f"/admin/growing/{garden.id}/versions").status_code == 403
    assert garden.house.logged().count("refused: form token") == 1
    assert len(proposals(garden.ledger, garden.id)) == 1


async def test_another_persons_words_are_not_changed_by_their_id(garden: Garden):
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    proposal = ada.wrote(1)
    ben.caption(proposal, "Written by Ben.")
    assert eve.caption(proposal, "Written by Eve.").status_code == 409
    assert eve.client.get(f"/caption/{garden.id}/{proposal}").status_code == 409
    async with ScriptedServer() as model:
        await worked(garden.ledger, model.base_url)
    assert eve.verify(proposal).status_code == 303
    opinion = garden.stands(proposal).opinion_of(eve.id)
    assert ben.judge(proposal, "no", fault="answer").status_code == 409
    assert garden.stands(proposal).opinion_of(eve.id) == opinion
    assert garden.house.logged().count("refused: another's task") == 3
    for wrong in ("nothing", "../../admin", "%2e%2e"):
        assert eve.client.get(f"/verify/{garden.id}/{wrong}").status_code in (403, 404)
    assert eve.client.get(f"/verify/elsewhere/{proposal}").status_code == 404


async def test_a_form_that_was_made_for_an_earlier_answer_changes_nothing(garden: Garden):
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    proposal = ada.wrote(1)
    ben.caption(proposal)
    async with ScriptedServer() as model:
        await worked(garden.ledger, model.base_url)
        old = garden.stands(proposal).answer_seq
        eve.verify(proposal, "no", fault="answer")
        await worked(garden.ledger, model.base_url)
    late = eve.verify(proposal, about=old)
    assert late.status_code == 409
    assert garden.stands(proposal).stage == "verify"
    assert ben.caption(proposal, "For an instruction that never was.", about=987_654).status_code == 409


async def test_the_public_sees_nothing_of_captions_and_answers(garden: Garden):
    ada, ben = garden.person("Ada"), garden.person("Ben")
    proposal = ada.wrote(1)
    ben.caption(proposal, "caption words")
    async with ScriptedServer(Script(judge=lambda _: "answer words")) as model:
        await worked(garden.ledger, model.base_url)
    ada_sees = [f"/write/{garden.id}/1", "/grow", f"/caption/{garden.id}", f"/verify/{garden.id}", "/api/growing"]
    for path in ada_sees:
        shown = ada.client.get(path).text
        assert "caption words" not in shown, path
        assert "answer words" not in shown, path
    assert ada.client.get(f"/api/growing/{garden.id}/proposals").status_code == 403
