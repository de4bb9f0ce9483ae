"""Claims about a page that says no: it leads back to where one came from, on this site only, and to one's own work."""

import pytest

from tests.site.garden import planted
from tests.site.house import House, links


def test_what_cannot_be_done_leads_back_to_the_page_it_was_sent_from(house: House):
    garden = planted(house)
    owner = garden.person("Olga", "owner")
    page = f"{house.url}/admin/growing/{garden.id}?stage=verify"
    sent = {"csrf": owner.token}
    refused = owner.client.post(f"/admin/growing/{garden.id}/versions", data=sent, headers={"referer": page})
    assert refused.status_code == 409
    assert links(refused, "http") == [page]
    assert "/admin" in links(refused, "/admin")
    assert links(owner.client.get(f"/admin/growing/{garden.id}/proposals/x", headers={"referer": page}), "http") == [
        page
    ]


@pytest.mark.parametrize(
    "referer",
    [
        "https://evil.example/",
        "http://evil.example/HERE/",
        "http://HERE.evil.example/",
        "http://HERE@evil.example/",
        "http://HERE\\@evil.example/",
        "https://HERE/",
        "//HERE/",
        "javascript:alert(1)//HERE/",
        "http://HERE",
        "http://[",
        "/admin",
        "",
    ],
)
def test_no_other_sites_page_is_linked(house: House, referer: str):
    annotator = house.signed_in("annotator")
    given = referer.replace("HERE", house.url.removeprefix("http://"))
    refused = annotator.get("/admin", headers={"referer": given})
    assert refused.status_code == 403
    assert "Back to" not in refused.text
    assert "evil" not in refused.text


def test_a_page_of_ours_is_linked_by_its_whole_address_and_as_text(house: House):
    annotator = house.signed_in("annotator")
    for path in ("//evil.example/", "/\\evil.example/", '/grow?x="><script>'):
        refused = annotator.get("/admin", headers={"referer": f"{house.url}{path}"})
        assert links(refused, "http") == [f"{house.url}{path}"]
        assert "<script>" not in refused.text


def test_a_page_that_is_refused_does_not_lead_to_itself(house: House):
    annotator = house.signed_in("annotator")
    refused = annotator.get("/admin?x=1", headers={"referer": f"{house.url}/admin?x=1"})
    assert refused.status_code == 403
    assert "Back to" not in refused.text


def test_everybody_is_led_to_their_own_start(house: House):
    owner, annotator, team = (house.signed_in(role, role) for role in ("owner", "annotator", "team"))
    for who, path, status, start in (
        (annotator, "/admin", 403, "/compare"),
        (team, "/grow", 403, "/submit"),
        (owner, "/admin/growing/none", 404, "/admin"),
        (annotator, "/compare/none", 404, "/compare"),
    ):
        refused = who.get(path)
        assert refused.status_code == status, path
        content = refused.text.partition('<div class="empty">')[2].partition("</div>")[0]
        assert f'href="{start}"' in content, path
        assert who.get(start).status_code == 200
    planted(house)
    assert 'href="/grow"' in annotator.get("/admin").text.partition('<div class="empty">')[2]
    content = house.visitor().get("/none").text.partition('<div class="empty">')[2].partition("</div>")[0]
    assert content.count("href") == 1
