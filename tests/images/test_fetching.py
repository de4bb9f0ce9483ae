"""Images fetched from a web that is not to be trusted."""

import json
import socket
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.images import ImageLimits, ImageStore
from evenhand.images.addresses import FetchedAddress
from evenhand.images.fetching import Fetched, FetchLimits, NotFetched, Outcome, fetch_images
from evenhand.images.guard import PrivateAddress, anywhere, guarded_socket, is_public
from evenhand.images.places import ADDRESSES
from tests.benchmarks.files import BLUE, BLUE_DIGEST, RED, RED_DIGEST
from tests.images.web import Rebinding, Web, serving

ODD_SPELLINGS = ("127.1", "2130706433", "0x7f000001", "0x7f.1", "127.0.0.1.", "0177.0.0.1", "0")
HERE = FetchLimits(allowed=anywhere, bytes=1_000_000)


@pytest.fixture
def web() -> Generator[Web]:
    with serving() as web:
        yield web


@pytest.fixture
def store(tmp_path: Path) -> ImageStore:
    return ImageStore(tmp_path / "images")


async def fetch(store: ImageStore, url: str, limits: FetchLimits = HERE) -> Outcome:
    (outcome,) = await fetch_images([url], store, limits=limits)
    assert outcome.url == url
    return outcome


async def refusal(store: ImageStore, url: str, limits: FetchLimits = HERE) -> tuple[str, str]:
    """The problem and its sentence, after seeing that nothing was kept."""
    outcome = await fetch(store, url, limits)
    assert isinstance(outcome, NotFetched)
    assert list(store.digests()) == []
    assert store.addresses.digests() == {}
    assert store.check() == []
    return outcome.problem, outcome.detail


async def test_an_image_is_kept_by_its_digest_and_noted_beside_its_url(web: Web, store: ImageStore) -> None:
    url = f"{web.base}/red.png"
    heard: list[Outcome] = []
    (outcome,) = await fetch_images([url], store, licences={url: "CC0"}, limits=HERE, told=heard.append)
    assert isinstance(outcome, Fetched)
    assert (outcome.info.digest, outcome.info.media_type) == (RED_DIGEST, "image/png")
    assert heard == [outcome]
    assert store.get(RED_DIGEST) == RED
    assert store.addresses.digests() == {url: RED_DIGEST}
    assert json.loads((store.root / ADDRESSES).read_text())["licence"] == "CC0"
    assert store.check() == []


async def test_outcomes_stand_in_the_order_of_the_urls_and_one_failure_stops_nobody(
    web: Web, store: ImageStore
) -> None:
    urls = [f"{web.base}/{name}" for name in ("with space.png", "none.png", "red.png")]
    outcomes = await fetch_images(urls, store, limits=HERE)
    assert [one.url for one in outcomes] == urls
    assert [type(one) for one in outcomes] == [Fetched, NotFetched, Fetched]
    assert store.addresses.digests() == {urls[0]: BLUE_DIGEST, urls[2]: RED_DIGEST}
    assert store.get(BLUE_DIGEST) == BLUE


@pytest.mark.parametrize(
    ("path", "problem", "words"),
    [
        ("/none.png", "status", "answered 404"),
        ("/page.png", "not-an-image", "HTML page"),
        ("/half.png", "not-an-image", ""),
        ("/packed.png", "not-an-image", "gzip"),
        ("/large.png", "too-large", "more than 1000000 bytes"),
        ("/endless.png", "too-large", "more than 1000000 bytes"),
        ("/cut.png", "unreachable", "Payload"),
        ("/round.png", "redirects", "more than 5 times"),
        ("/to-a-file.png", "address", "file:///etc/hostname"),
        ("/to-a-user.png", "address", "http://user"),
        ("/to-nowhere.png", "address", "''"),
        ("/to-no-name.png", "address", "'http://a..b/'"),
    ],
)
async def test_what_is_no_plain_image_is_refused_and_leaves_nothing(
    web: Web, store: ImageStore, path: str, problem: str, words: str
) -> None:
    told, detail = await refusal(store, web.base + path)
    assert told == problem
    assert words in detail


@pytest.mark.parametrize(
    "url", ["ftp://example.org/x.png", "http://", "nonsense", "http://a:b@example.org/x", "http://[::1"]
)
async def test_what_is_no_web_address_is_refused(store: ImageStore, url: str) -> None:
    assert (await refusal(store, url))[0] == "address"


@pytest.mark.parametrize(
    "name", ["a..b", ".a", f"{'a' * 64}.com", f"{'ä' * 60}.com", "⒈.com"],
)  # fmt: skip
async def test_a_host_name_that_cannot_be_looked_up_is_one_failure_and_stops_nobody(
    web: Web, store: ImageStore, name: str
) -> None:
    odd, red = f"http://{name}/x.png", f"{web.base}/red.png"
    lost, fetched = await fetch_images([odd, red], store, limits=HERE)
    assert lost == NotFetched(
        url=odd, problem="address", detail=f"{odd!r} is not an http or https address that can be fetched."
    )
    assert isinstance(fetched, Fetched)


async def test_redirects_are_followed_as_far_as_allowed_and_carry_no_cookies(web: Web, store: ImageStore) -> None:
    assert isinstance(await fetch(store, f"{web.base}/moved.png"), Fetched)
    assert web.asked == ["/moved.png", "/moved-again.png", "/red.png"]
    assert not any("cookie" in headers for headers in web.headers)
    three, two = (FetchLimits(allowed=anywhere, redirects=number) for number in (3, 2))
    assert isinstance(await fetch(store, f"{web.base}/hop1", three), Fetched)
    lost = await fetch(store, f"{web.base}/hop1", two)
    assert isinstance(lost, NotFetched)
    assert lost.problem == "redirects"


async def test_a_size_at_the_limit_is_fine_and_one_byte_more_is_not(web: Web, store: ImageStore) -> None:
    url = f"{web.base}/red.png"
    small = FetchLimits(allowed=anywhere, bytes=len(RED) - 1)
    assert (await refusal(store, url, small))[0] == "too-large"
    assert isinstance(await fetch(store, url, FetchLimits(allowed=anywhere, bytes=len(RED))), Fetched)


async def test_a_server_that_says_nothing_is_left(web: Web, store: ImageStore) -> None:
    brief = FetchLimits(allowed=anywhere, seconds=0.2)
    assert await refusal(store, f"{web.base}/silent.png", brief) == (
        "timeout",
        "Nothing whole came within 0.2 seconds.",
    )


async def test_nobody_there_is_told(store: ImageStore) -> None:
    with socket.socket() as deaf:  # bound, so that nobody else is there, and not listening
        deaf.bind(("127.0.0.1", 0))
        port = deaf.getsockname()[1]
        assert (await refusal(store, f"http://127.0.0.1:{port}/x.png"))[0] == "unreachable"
    assert (await refusal(store, "http://no-such-host.invalid/x.png"))[0] == "unreachable"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]"])
async def test_this_machine_is_not_asked_unless_allowed(web: Web, store: ImageStore, host: str) -> None:
    url = f"http://{host}:{web.port}/red.png"
    assert (await refusal(store, url, FetchLimits()))[0] == "private"
    assert web.asked == []


@pytest.mark.parametrize("host", ODD_SPELLINGS)
async def test_odd_spellings_of_this_machine_lead_nowhere(web: Web, store: ImageStore, host: str) -> None:
    assert (await refusal(store, f"http://{host}:{web.port}/red.png", FetchLimits()))[0] in ("private", "address")
    assert web.asked == []


async def test_a_redirect_from_an_allowed_server_to_a_refused_address_is_refused(web: Web, store: ImageStore) -> None:
    with serving() as inside:
        web.redirect("/inwards.png", f"http://127.0.0.2:{inside.port}/red.png")
        only = FetchLimits(allowed=lambda address: address == "127.0.0.1")
        assert (await refusal(store, f"{web.base}/inwards.png", only))[0] == "private"
        assert web.asked == ["/inwards.png"]
        assert inside.asked == []


async def test_a_name_that_leads_elsewhere_the_second_time_is_looked_at_again(web: Web, store: ImageStore) -> None:
    """127.0.0.1 is in the place of the public address here, and 127.0.0.2 in that of the private one."""
    names = Rebinding("127.0.0.1", "127.0.0.2")
    limits = FetchLimits(allowed=lambda address: address == "127.0.0.1", resolver=names)
    url = f"http://rebinding.example:{web.port}/moved.png"
    assert (await refusal(store, url, limits))[0] == "private"
    assert web.asked == ["/moved.png"]  # and not where it redirects to, at the same name
    assert names.asked == ["rebinding.example"] * 2


async def test_what_is_larger_than_decoded_is_told_apart_from_what_is_no_image(web: Web, store: ImageStore) -> None:
    limits = FetchLimits(allowed=anywhere, images=ImageLimits(pixels=40_000_000))
    problem, detail = await refusal(store, f"{web.base}/bomb.png", limits)
    assert problem == "bomb"
    assert "7000 x 6000" in detail


async def test_a_disk_that_refuses_is_an_error_and_no_outcome(web: Web, tmp_path: Path) -> None:
    (tmp_path / "images").write_text("a file where the folder should be")
    with pytest.raises((NotADirectoryError, FileExistsError)):
        await fetch_images([f"{web.base}/red.png"], ImageStore(tmp_path / "images"), limits=HERE)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:10.0.0.1", "2002:0a00:0001::1",
        "64:ff9b::10.0.0.1", "2001:0:4136:e378:8000:63bf:f5ff:fffe", "not an address",
        "192.0.0.8", "192.0.0.255", "100.127.255.255", "168.63.129.16", "240.0.0.1", "239.1.2.3",
        "::8.8.8.8", "::ffff:0:8.8.8.8", "::ffff:0:10.0.0.1", "64:ff9b:1::8.8.8.8", "64:ff9b:1:ffff::1", "fec0::1",
        "feff::1", "ff0e::1", "4000::1", "64:ff9b::168.63.129.16", "64:ff9b::192.0.0.8", "64:ff9b::224.0.0.1",
        "::ffff:168.63.129.16", "2002:a83f:8110::1", "3fff::1", "2001:db8::1",
    ],
)  # fmt: skip
def test_addresses_that_are_not_open_to_everybody(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", [
    "93.184.216.34", "8.8.8.8", "2606:4700::1111", "64:ff9b::8.8.8.8", "168.63.129.17", "192.0.1.1", "100.128.0.1",
])  # fmt: skip
def test_addresses_that_are_open_to_everybody(address: str) -> None:
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_no_more_public_inside_an_ipv6_one(address: object) -> None:
    assert is_public(f"64:ff9b::{address}") == is_public(str(address))


def test_the_address_is_looked_at_when_it_is_connected_to() -> None:
    """Whatever the name resolved to a moment ago."""
    make = guarded_socket(is_public)
    with pytest.raises(PrivateAddress):
        make((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.7", 80)))
    for made in (
        make((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 80))),
        guarded_socket(anywhere)((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.7", 80))),
    ):
        made.close()


def test_a_line_that_was_cut_off_spoils_no_other(store: ImageStore) -> None:
    first = FetchedAddress(url="http://a/1", digest="a" * 64, at=1.0)
    second = FetchedAddress(url="http://a/2", digest="b" * 64, at=2.0)
    store.addresses.add(first)
    whole = (store.root / ADDRESSES).read_bytes()
    (store.root / ADDRESSES).write_bytes(whole + whole[: len(whole) // 2])
    store.addresses.add(second)
    store.addresses.add(FetchedAddress(url="http://a/1", digest="c" * 64, at=3.0))
    assert store.addresses.digests() == {"http://a/1": "c" * 64, "http://a/2": "b" * 64}
