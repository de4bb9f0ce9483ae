"""Claims about who is let in: each attack is refused with a sentence, and written down."""

import http.client
import json
import re
import select
import socket
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from fastapi.routing import APIRoute

from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import Invite, Person, invite, people, revoke_invitation
from evenhand.site.app import ROUTERS
from evenhand.site.http.audit_log import events
from evenhand.site.http.connection import OpenConnections
from evenhand.site.http.rate_limits import RateLimits
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.settings import SiteError, VisitorLimits, site_at
from evenhand.site.http.visitor import Visitor, network, site_network
from tests.database import stored_in
from tests.refusals import refused
from tests.site.house import GENEROUS, SECONDS, House, come_in, form_token, served, standing_still, until


def raw(house: House, method: str, path: str, headers: dict[str, str], body: Iterator[bytes] | None = None) -> int:
    """What a client gets that does not behave; the connection is its own."""
    connection = http.client.HTTPConnection(urlsplit(house.url).netloc, timeout=SECONDS)
    try:
        connection.putrequest(method, path, skip_host=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        try:
            for part in body or ():
                connection.send(b"%x\r\n%s\r\n" % (len(part), part))
            if body is not None:
                connection.send(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server has said its word already
        return connection.getresponse().status
    finally:
        connection.close()


def test_an_invitation_makes_a_person_with_a_session(house: House):
    visitor = house.visitor()
    link = house.link("annotator")
    assert "annotator" in visitor.get(link).text
    came = come_in(visitor, link, "Grace")
    assert came.headers["location"] == "/compare"
    assert "Grace" in visitor.get("/account").text
    (person,) = people(house.ledger)
    assert (person.role, person.name) == ("annotator", "Grace")
    assert "Grace" not in person.rater.name


def test_looking_at_an_invitation_does_not_use_it_up(house: House):
    link = house.link("annotator")
    for _ in range(3):
        assert house.visitor().get(link).status_code == 200
    assert come_in(house.visitor(), link).status_code == 303


def test_an_invitation_for_two_lets_two_in_and_no_third(house: House):
    link = house.link("annotator", uses=2)
    late = house.visitor()
    token = form_token(late.get(link))
    assert come_in(house.visitor(), link).status_code == 303
    assert come_in(house.visitor(), link).status_code == 303
    refused = late.post(link, data={"csrf": token, "name": "Eve"})
    assert refused.status_code == 410
    assert "used already" in refused.text
    assert "refused: invitation used up" in house.logged()
    assert len(people(house.ledger)) == 2


def test_expired_revoked_and_unknown_invitations_are_refused_and_logged(house: House):
    visitor = house.visitor()
    expired = house.link("owner", lasts=-1.0)
    granted = invite(house.ledger, Invite(role="owner"))
    assert revoke_invitation(house.ledger, granted.id)
    assert visitor.get(expired).status_code == 410
    assert visitor.get(f"/join/{granted.token}").status_code == 410
    assert visitor.get("/join/a-guess").status_code == 404
    for fault in ("expired", "revoked", "unknown"):
        assert f"refused: invitation {fault}" in house.logged()
    assert not people(house.ledger)


def test_a_token_is_nowhere_in_the_ledger(house: House, tmp_path: Path):
    link = house.link("annotator")
    visitor = house.visitor()
    come_in(visitor, link)
    session = visitor.cookies["evenhand"]
    house.ledger.engine.dispose()
    stored = stored_in(tmp_path)
    assert b"annotator" in stored
    assert link.removeprefix("/join/").encode() not in stored
    assert session.encode() not in stored


def test_the_cookie_is_for_the_server_alone(house: House):
    (cookie,) = [
        one for one in come_in(house.visitor(), house.link("owner")).headers.get_list("set-cookie")
        if one.startswith("evenhand=")
    ]  # fmt: skip
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Path=/" in cookie
    assert "Secure" not in cookie  # plain http on loopback


def test_behind_https_cookies_are_secure_and_tied_to_the_host(ledger: Ledger):
    with served(ledger, public_url="https://board.example.org") as house:
        visitor = house.visitor(host="board.example.org")
        link = house.link("owner")
        page = visitor.get(link)
        form_cookie = page.headers["set-cookie"]
        passing = form_cookie.partition(";")[0]
        came = visitor.post(
            link,
            data={"csrf": form_token(page), "name": ""},
            headers={"Cookie": passing, "Origin": "https://board.example.org"},
        )
    assert came.status_code == 303
    for cookie in (form_cookie, *came.headers.get_list("set-cookie")):
        assert cookie.startswith("__Host-evenhand")
        for flag in ("Secure", "HttpOnly", "SameSite=lax", "Path=/"):
            assert flag in cookie
    assert "max-age=31536000" in came.headers["strict-transport-security"]


def test_a_session_that_ended_lets_nobody_in(house: House):
    visitor = house.signed_in("annotator")
    session = visitor.cookies["evenhand"]
    assert visitor.post("/leave", data={"csrf": form_token(visitor.get("/account"))}).status_code == 303
    replay = house.visitor(cookie=f"evenhand={session}").get("/account")
    assert replay.status_code == 401
    assert "refused: not signed in" in house.logged()


def addresses() -> list[tuple[str, str]]:
    """Every method and address there is, with something in the place of its parameters."""
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    return [(method, re.sub(r"\{\w+\}", "x", route.path)) for route in routes for method in sorted(route.methods or ())]


def test_every_form_needs_a_token_of_its_own_visitor(house: House):
    paths = [path for method, path in addresses() if method == "POST" and not path.startswith("/api/")]
    assert len(paths) >= 9
    owner, stranger = house.signed_in("owner"), house.signed_in("owner", "Eve")
    foreign = form_token(stranger.get("/admin"))
    for path in paths:
        for fields in ({}, {"csrf": ""}, {"csrf": "é"}, {"csrf": foreign}):
            refused = owner.post(path, data={"name": "x", **fields})
            assert refused.status_code == 403, path
    assert house.logged().count("refused: form token") == 4 * len(paths)


def test_a_form_sent_from_another_site_is_refused(house: House):
    owner = house.signed_in("owner")
    fields = {"csrf": form_token(owner.get("/admin")), "role": "owner", "uses": "1", "days": "1"}
    for origin in ("https://evil.example", "null"):
        assert owner.post("/admin/invitations", data=fields, headers={"Origin": origin}).status_code == 403
    assert owner.post("/admin/invitations", data=fields, headers={"Origin": house.url}).status_code == 201
    assert house.logged().count("refused: origin") == 2


def test_the_api_takes_changes_from_a_session_only_with_its_form_token(house: House):
    owner = house.signed_in("owner")
    asked = {"role": "annotator"}
    assert owner.post("/api/invitations", json=asked).status_code == 403
    token = form_token(owner.get("/admin"))
    made = owner.post("/api/invitations", json=asked, headers={"X-CSRF-Token": token})
    assert made.status_code == 201
    assert come_in(house.visitor(), urlsplit(made.json()["link"]).path).status_code == 303


JUDGES = "/api/benchmarks/x/judges"
"""For everybody where nothing is withheld: tests/site/test_judges_page.py."""


def test_every_page_of_the_owners_is_closed_to_others(house: House):
    owners = ("/admin", "/api/people", "/api/invitations", "/api/audit", "/api/benchmarks", "/api/studies")
    closed = [(method, path) for method, path in addresses() if path.startswith(owners) and path != JUDGES]
    assert len(closed) >= 12
    annotator = house.signed_in("annotator")
    token = form_token(annotator.get("/account"))
    for visitor, status in ((house.visitor(), 401), (annotator, 403)):
        for method, path in closed:
            fields = {"csrf": token} if path.startswith("/admin") else None
            document = None if path.startswith("/admin") else {"role": "owner", "open": True}
            refused = visitor.request(method, path, headers={"X-CSRF-Token": token}, data=fields, json=document)
            assert refused.status_code in (status, 403), (method, path)
    assert "refused: role" in house.logged()
    assert not any(what.startswith(("invited", "erased")) for what in house.logged())


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "", "127.0.0.1:80"])
def test_another_host_name_is_not_answered(house: House, host: str):
    assert raw(house, "GET", "/", {"Host": host} if host else {"Host": "."}) == 421
    assert "refused: host" in house.logged()


def test_a_body_that_says_it_is_too_large_is_refused(house: House):
    refused = house.visitor().post("/leave", content=b"x" * 300_000)
    assert refused.status_code == 413
    assert "256 KB" in refused.text
    assert "refused: body too large" in house.logged()


def test_more_is_taken_where_uploads_are(ledger: Ledger):
    limits = replace(GENEROUS, body_bytes=1000, uploads=(("/account/*", 10_000),))
    with served(ledger, limits=limits) as house:
        visitor = house.visitor()
        sizes = (("/leave", 1001), ("/account/tokens", 1001), ("/account/tokens", 10_001))
        statuses = [visitor.post(path, content=b"x" * size).status_code for path, size in sizes]
    assert statuses == [413, 403, 413]


@pytest.mark.parametrize("path", ["/leave", "/api/tokens"])
def test_a_body_that_does_not_say_its_length_is_counted(house: House, path: str):
    headers = {
        "Host": urlsplit(house.url).netloc,
        "Transfer-Encoding": "chunked",
        "Content-Type": "application/json" if path.startswith("/api") else "application/x-www-form-urlencoded",
        "Authorization": f"Bearer {api_token(house)}",
    }
    assert raw(house, "POST", path, headers, (b"x" * 10_000 for _ in range(60))) == 413
    assert "refused: body too large" in house.logged()


def api_token(house: House) -> str:
    owner = house.signed_in("owner")
    token = form_token(owner.get("/account"))
    made = owner.post("/api/tokens", json={"note": "a script"}, headers={"X-CSRF-Token": token})
    assert made.status_code == 201
    return made.json()["token"]


def test_a_script_works_with_a_token_until_it_is_ended(house: House):
    script = house.visitor(authorization=f"Bearer {api_token(house)}")
    assert script.get("/api/me").json()["role"] == "owner"
    made = script.post("/api/invitations", json={"role": "team", "note": "Team A"})
    assert made.status_code == 201
    assert script.delete(f"/api/invitations/{made.json()['id']}").status_code == 204
    (invitation, _) = script.get("/api/invitations").json()["invitations"]
    assert invitation["state"] == "revoked"
    owner = house.signed_in("owner")
    (first, _) = people(house.ledger)
    ended = owner.post(
        f"/admin/people/{first.id}/sign-out", data={"csrf": form_token(owner.get("/admin")), "sure": "yes"}
    )
    assert ended.status_code == 303
    assert script.get("/api/me").status_code == 401


def test_a_guessed_token_of_a_script_is_refused_and_logged(house: House):
    assert house.visitor(authorization="Bearer guess").get("/api/me").status_code == 401
    assert house.logged() == ["refused: not signed in"]


def test_a_page_can_be_asked_about_without_its_body(house: House):
    visitor = house.visitor()
    head = visitor.head("/")
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) == len(visitor.get("/").content)


def test_guessed_tokens_are_counted_and_then_nothing_from_there_is_answered(ledger: Ledger):
    limits = replace(GENEROUS, guesses_per_minute=5, clock=standing_still)
    with served(ledger, limits=limits) as house:
        owner = house.signed_in("owner")
        guesser = house.visitor()
        statuses = [guesser.get(f"/join/guess-{n}").status_code for n in range(9)]
        assert statuses == [404] * 5 + [429] * 4
        assert guesser.get("/").status_code == 429
        assert int(guesser.get("/").headers["retry-after"]) >= 1
        assert owner.get("/admin").status_code == 200  # somebody who is signed in is not locked out with them
        assert house.logged().count("refused: invitation unknown") == 5


def test_a_forged_address_does_not_give_a_guesser_new_tries(ledger: Ledger):
    with served(ledger, limits=replace(GENEROUS, guesses_per_minute=3, clock=standing_still)) as house:
        statuses = [
            house.visitor(**{"X-Forwarded-For": f"203.0.113.{n}"}).get("/join/guess").status_code for n in range(5)
        ]
    assert statuses == [404] * 3 + [429] * 2


def test_made_up_sessions_do_not_give_new_buckets(ledger: Ledger):
    with served(ledger, limits=replace(GENEROUS, burst=4, clock=standing_still)) as house:
        statuses = [house.visitor(cookie=f"evenhand=made-up-{n}").get("/").status_code for n in range(6)]
        assert statuses == [200] * 4 + [429] * 2
        assert house.logged().count("refused: too many requests") == 1


@pytest.mark.parametrize(
    "name", ["..%2f..%2fledger.db", "../../ledger.db", "%2e%2e/ledger.db", "addresses.jsonl", "A" * 64, "x" * 63]
)
def test_only_digests_name_images(house: House, name: str):
    headers = {"Host": urlsplit(house.url).netloc}
    assert raw(house, "GET", f"/images/{name}", headers) == 404
    assert "refused: image name" in house.logged()


@pytest.mark.parametrize("name", ["../app.py", "..%2fapp.py", "%2e%2e/templates/base.html"])
def test_only_the_static_files_are_served(house: House, name: str):
    assert raw(house, "GET", f"/static/{name}", {"Host": urlsplit(house.url).netloc}) == 404


def test_every_answer_carries_the_security_headers(gallery: House):
    visitor = gallery.visitor()
    answers = [visitor.get(path) for path in ("/", "/none", "/api/boards", "/openapi.json", "/boards/x?method=y")]
    answers.append(visitor.post("/leave"))
    answers.append(visitor.post("/leave", content=b"x" * 300_000))
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert "server" not in answer.headers


def test_the_frameworks_own_pages_are_not_there(house: House):
    visitor = house.visitor()
    for path in ("/docs", "/redoc", "/docs/oauth2-redirect"):
        assert visitor.get(path).status_code == 404
    assert json.loads(visitor.get("/openapi.json").text)["info"]["title"] == "Evenhand"


def test_the_api_page_names_every_operation_of_the_description(house: House):
    visitor = house.visitor()
    page = visitor.get("/api").text
    described = visitor.get("/openapi.json").json()["paths"]
    assert len(described) >= 10
    for path, operations in described.items():
        assert path.startswith("/api/")
        for method in operations:
            assert f"{method.upper()}</span> <code>{path}</code>" in page


def test_an_address_that_others_reach_needs_a_public_url():
    with pytest.raises(SiteError, match="--public-url"):
        site_at("0.0.0.0", 80)
    for url in ("http://board.example.org", "https://", "https://x.org/path", "board.example.org"):
        with refused(SiteError, "https://"):
            site_at("127.0.0.1", 80, public_url=url)
    assert site_at("0.0.0.0", 80, public_url="https://Board.example.org/").hosts == {"board.example.org"}
    assert "[::1]:80" in site_at("::1", 80).hosts


def held(house: House, count: int, *, source: str = "127.0.0.1", said: bytes = b"") -> list[socket.socket]:
    """So many connections that say no more than this."""
    where = urlsplit(house.url)
    assert where.hostname is not None
    assert where.port is not None
    made = [
        socket.create_connection((where.hostname, where.port), timeout=SECONDS, source_address=(source, 0))
        for _ in range(count)
    ]
    for one in made:
        if said:
            one.sendall(said)
        house.leaving.callback(one.close)
    return made


def ended(connections: Sequence[socket.socket], least: int = 0) -> int:
    """How many of them the server has ended: so many are waited for, and then until nothing more is heard of any."""
    silent, over = list(connections), 0
    while heard := select.select(silent, [], [], SECONDS if over < least else 0.5)[0]:
        over += sum(_is_over(one) for one in heard)
        silent = [one for one in silent if one not in heard]
    return over


def _is_over(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:  # ended before what we had said was read
        return True


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(b"", marks=pytest.mark.slow, id="silent"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: ", id="half a request"),
    ],
)
def test_whoever_holds_connections_shuts_nobody_out_and_loses_the_oldest(ledger: Ledger, said: bytes):
    limits = replace(GENEROUS, connections=60, connections_of_one=20, time_to_ask=SECONDS)
    with served(ledger, limits=limits) as house:
        from_there = held(house, 80, source="127.0.0.7", said=said)
        assert house.visitor().get("/").status_code == 200
        assert [ended(from_there[:60], 60), ended(from_there[60:])] == [60, 0]


def test_many_addresses_that_hold_connections_together_shut_nobody_out(ledger: Ledger):
    limits = replace(GENEROUS, connections=60, connections_of_one=20, time_to_ask=SECONDS)
    with served(ledger, limits=limits) as house:
        first = held(house, 2, source="127.0.0.99")
        floods = [held(house, 19, source=f"127.0.0.{number}") for number in range(2, 12)]
        assert house.visitor().get("/").status_code == 200
        assert ended(first) == 0  # who has few keeps them
        flood = [connection for one in floods for connection in one]
        assert len(flood) - ended(flood, len(flood) - 60) <= 60


@dataclass(eq=False)
class Idle:
    """A connection as far as making way goes."""

    open_ones: OpenConnections
    address: str
    asked: bool = True
    idle: bool = True
    idle_since: float = 0.0

    @property
    def at_site(self) -> str:
        return site_network(self.address)

    def add(self) -> "Idle":
        assert self.open_ones.add(cast("Any", self), network(self.address))
        return self

    def make_way(self) -> None:
        self.idle = False
        self.open_ones.drop(cast("Any", self), network(self.address))


def test_the_networks_of_one_ipv6_site_make_way_together_and_the_longest_idle_first():
    ones = OpenConnections(most=9, most_of_one=9, time_to_ask=2.0)
    browser = [Idle(ones, "192.0.2.7").add() for _ in range(4)]
    site = [Idle(ones, f"2001:db8:0:{number}::1", idle_since=9.0 - number).add() for number in range(5)]
    Idle(ones, "198.51.100.1").add()
    assert [one.idle for one in browser] == [True] * 4
    assert [one.idle for one in site] == [True] * 4 + [False]


def test_a_browser_that_keeps_several_connections_keeps_them_beside_addresses_that_never_ask():
    ones = OpenConnections(most=40, most_of_one=20, time_to_ask=2.0)
    browser = [Idle(ones, "192.0.2.7").add() for _ in range(6)]
    # Three arrive in a second: 34 fit beside the browser, and by then the oldest of them had time to ask.
    silent = [Idle(ones, f"198.51.100.{number}", asked=False, idle_since=number / 3).add() for number in range(1, 81)]
    assert [one.idle for one in browser] == [True] * 6
    assert [one.idle for one in silent] == [False] * 46 + [True] * 34  # the oldest of them went


def test_addresses_that_asked_once_and_stay_do_not_shut_out_whoever_has_just_come(ledger: Ledger):
    limits = replace(GENEROUS, connections=40, connections_of_one=20, time_to_ask=SECONDS)
    with served(ledger, limits=limits) as house:
        ask = f"GET /healthz HTTP/1.1\r\nHost: {urlsplit(house.url).netloc}\r\n\r\n".encode()
        for source in ("127.0.0.2", "127.0.0.3"):
            for one in held(house, 20, source=source, said=ask):
                assert one.recv(4096).startswith(b"HTTP/1.1 200")
        for number in range(10):
            newcomer = held(house, 1, source=f"127.0.1.{number}")[0]
            while_on_its_way = held(house, 1, source="127.0.0.4", said=ask)[0]
            assert while_on_its_way.recv(4096).startswith(b"HTTP/1.1 200")
            newcomer.sendall(ask)
            assert newcomer.recv(4096).startswith(b"HTTP/1.1 200")


def test_a_connection_that_is_being_answered_is_not_ended_for_another(ledger: Ledger):
    limits = replace(GENEROUS, connections=60, connections_of_one=3)
    with served(ledger, limits=limits) as house:
        busy = held(house, 3, said=half_a_form(house))
        for one in busy:
            assert one.recv(100).startswith(b"HTTP/1.1 100")  # somebody reads its body
        assert held(house, 1, said=b"x")[0].recv(12) == b"HTTP/1.1 503"
        assert ended(busy) == 0
        until(lambda: "refused: too many connections" in house.logged(), "a line of the log that tells it")


def half_a_form(house: House) -> bytes:
    """Whose body has not come."""
    return (
        f"POST /leave HTTP/1.1\r\nHost: {urlsplit(house.url).netloc}\r\nExpect: 100-continue\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 5\r\n\r\n"
    ).encode()


def test_one_network_of_ipv6_is_one_visitor():
    near, same, other = "2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:2::1"
    assert Visitor(address=near).name == Visitor(address=same).name != Visitor(address=other).name
    assert Visitor(address="::ffff:192.0.2.7").name == Visitor(address="192.0.2.7").name
    assert Visitor(address="64:ff9b::192.0.2.7").name == Visitor(address="192.0.2.7").name, "as a translator writes it"
    assert Visitor(address="fe80::1%eth0").name == Visitor(address="fe80::2").name
    assert Visitor(address="testclient").name == "testclient"


async def test_guesses_from_one_network_of_ipv6_are_locked_out_together(ledger: Ledger):
    watch = RateLimits(ledger, VisitorLimits(guesses_per_minute=10, clock=standing_still))
    for number in range(10):
        await watch.attacked(Visitor(address=f"2001:db8::{number:x}"), "refused: invitation unknown", "")
    with pytest.raises(Refusal):
        await watch.admit(Visitor(address="2001:db8::ffff"))
    await watch.admit(Visitor(address="2001:db8:0:1::1"))


async def number_admitted(watch: RateLimits, visitors: Iterable[Visitor]) -> int:
    """How many of them were admitted."""
    count = 0
    for visitor in visitors:
        with suppress(Refusal):
            await watch.admit(visitor)
            count += 1
    return count


def networks(count: int, each: int, site: str = "2001:db8:7") -> list[Visitor]:
    """Of one IPv6 site, each asking so often."""
    return [Visitor(address=f"{site}:{number:x}::1") for number in range(count) for _ in range(each)]


async def test_the_networks_of_one_ipv6_site_ask_within_a_limit_together(ledger: Ledger):
    watch = RateLimits(ledger, VisitorLimits(requests_per_second=20, burst=200, clock=standing_still))
    assert await number_admitted(watch, networks(100, 40)) == 4 * 200
    assert await number_admitted(watch, networks(1, 40, site="2001:db8:8")) == 40  # another site
    known = Person(id="ada", role="annotator", name="Ada", at=0.0)
    assert await number_admitted(watch, [Visitor(address="2001:db8:7::1", person=known)] * 40) == 40
    near = [Visitor(address=f"192.0.2.{number}") for number in range(100) for _ in range(40)]
    assert await number_admitted(watch, near) == 100 * 40  # addresses of IPv4 have nothing in common
    assert [one.what for one in events(ledger)] == ["refused: too many requests of a site"]


async def test_guesses_from_the_networks_of_one_ipv6_site_are_locked_out_together(ledger: Ledger):
    watch = RateLimits(ledger, VisitorLimits(guesses_per_minute=10, clock=standing_still))
    for visitor in networks(20, 5):
        await watch.attacked(visitor, "refused: invitation unknown", "")
    assert len(events(ledger)) == 4 * 10 + 1  # and that the site is locked out
    assert await number_admitted(watch, networks(100, 1)) == 0
    assert await number_admitted(watch, networks(1, 1, site="2001:db8:8")) == 1
    for number in range(20):
        for _ in range(5):
            await watch.attacked(Visitor(address=f"192.0.2.{number}"), "refused: invitation unknown", "")
    assert await number_admitted(watch, [Visitor(address="192.0.2.1")]) == 1


async def test_all_who_ask_a_lot_together_have_a_limit_which_others_do_not_meet(ledger: Ledger):
    limits = VisitorLimits(passing_burst=30, burst=100, clock=standing_still)
    watch = RateLimits(ledger, limits)
    floods = [Visitor(address=f"192.0.2.{number}") for number in range(10)]
    admitted = 0
    for visitor in floods * 100:
        with suppress(Refusal):
            await watch.admit(visitor)
            admitted += 1
    assert admitted == 10 * 25 + 30  # what each may ask unasked for, and what all may together
    with pytest.raises(Refusal, match="Too many"):
        await watch.admit(floods[0])
    for _ in range(25):
        await watch.admit(Visitor(address="192.0.2.200"))
    known = Person(id="ada", role="annotator", name="Ada", at=0.0)
    for _ in range(100):
        await watch.admit(Visitor(address="192.0.2.1", person=known))


async def test_letters_of_all_together_have_a_limit(ledger: Ledger):
    watch = RateLimits(ledger, VisitorLimits(letters_per_hour=10, letters_in_all=30, clock=standing_still))
    reached = 0
    for number in range(300):
        with suppress(Refusal):
            await watch.admit_letter(Visitor(address=f"192.0.2.{number % 34}"))
            reached += 1
    assert reached == 30


async def test_three_addresses_cannot_use_up_the_letters_of_all(ledger: Ledger):
    watch = RateLimits(ledger, VisitorLimits(letters_per_hour=10, letters_in_all=30, clock=standing_still))

    async def reached(address: str, times: int) -> int:
        count = 0
        for _ in range(times):
            with suppress(Refusal):
                await watch.admit_letter(Visitor(address=address))
                count += 1
        return count

    assert [await reached(f"192.0.2.{number}", 10) for number in range(3)] == [10, 10, 1]
    assert [await reached(f"198.51.100.{number}", 2) for number in range(10)] == [1] * 9 + [0]


async def test_the_networks_of_one_ipv6_site_share_what_is_kept_for_those_who_did_not_write(ledger: Ledger):
    watch = RateLimits(ledger, VisitorLimits(letters_per_hour=10, letters_in_all=30, clock=standing_still))
    reached = 0
    for number in range(40):
        with suppress(Refusal):
            await watch.admit_letter(Visitor(address=f"2001:db8:0:{number:x}::1"))
            reached += 1
    assert reached == 20
    await watch.admit_letter(Visitor(address="2001:db8:1::1"))


@pytest.mark.slow
def test_whoever_announces_a_body_that_is_too_large_and_never_sends_it_is_answered_soon(ledger: Ledger):
    with served(ledger, limits=replace(GENEROUS, seconds=2 * SECONDS)) as house:
        head = f"POST /submissions/x HTTP/1.1\r\nHost: {urlsplit(house.url).netloc}\r\nContent-Length: 99999999\r\n\r\n"
        (one,) = held(house, 1, said=head.encode())
        assert one.recv(12) == b"HTTP/1.1 413"  # before the time for a request is over


def test_requests_of_one_visitor_under_way_leave_room_for_others(ledger: Ledger):
    with served(ledger, limits=replace(GENEROUS, under_way=3, connections_of_one=100)) as house:
        many = held(house, 10, source="127.0.0.7", said=half_a_form(house).replace(b"Expect: 100-continue\r\n", b""))
        told = [one.recv(12) for one in first_heard(many, 7)]
        assert told == [b"HTTP/1.1 429"] * 7
        assert house.visitor().get("/").status_code == 200


def first_heard(connections: Sequence[socket.socket], count: int) -> list[socket.socket]:
    """So many of them on which the server says something, and not one more."""
    silent, heard = list(connections), list[socket.socket]()
    while ready := select.select(silent, [], [], SECONDS if len(heard) < count else 0.5)[0]:
        heard += ready
        silent = [one for one in silent if one not in ready]
    assert len(heard) == count
    return heard


@pytest.mark.slow
def test_whoever_does_not_read_what_they_asked_for_is_cut_off(ledger: Ledger):
    with served(ledger, limits=replace(GENEROUS, seconds=2, connections=6, connections_of_one=6)) as house:
        where = urlsplit(house.url)
        deaf: list[socket.socket] = []
        for _ in range(6):
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            one.connect((where.hostname, where.port))
            one.sendall(f"GET /openapi.json HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n".encode() * 80)
            house.leaving.callback(one.close)
            deaf.append(one)
        until(lambda: house.visitor().get("/healthz").status_code == 200, "room for somebody else")


def test_a_refused_network_leaves_nothing_behind():
    class Busy:
        idle = False
        idle_since = 0.0
        at_site = ""

    ones = OpenConnections(most=1, most_of_one=1, time_to_ask=2.0)
    first = Busy()
    assert ones.add(cast("Any", first), "192.0.2.1")
    for number in range(100):
        assert not ones.add(cast("Any", Busy()), f"198.51.100.{number}")
    assert len(ones) == 1
    ones.drop(cast("Any", first), "192.0.2.1")
    assert len(ones) == 0
    assert ones.add(cast("Any", Busy()), "198.51.100.1")
