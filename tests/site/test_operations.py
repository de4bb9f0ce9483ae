"""Claims about running the server: probes, metrics, a log that names nobody, and how it stops."""

import io
import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import grant_token, people
from evenhand.site.http.operations import logging_as_json
from tests import warm
from tests.database import ledger_in
from tests.release.test_container import read_image
from tests.site.house import GENEROUS, SECONDS, House, served, standing_still, until
from tests.site.test_door import raw
from tests.site.test_serve import accepts, environment, serving
from tests.warm import EVENHAND


def token_of(house: House) -> str:
    house.signed_in("owner", "Olga")
    person = next(one for one in people(house.ledger) if one.role == "owner")
    return grant_token(house.ledger, person.id, note="for Prometheus").token


def metrics_of(house: House, token: str) -> dict[str, dict[str, float]]:
    """By name of a figure, its values by their labels."""
    answer = house.visitor(authorization=f"Bearer {token}").get("/metrics")
    assert answer.status_code == 200, answer.text
    return {
        sample.name: {
            ",".join(f"{name}={value}" for name, value in sorted(one.labels.items())): one.value
            for one in family.samples
            if one.name == sample.name
        }
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def readiness(house: House) -> int:
    """A server that is held up for two seconds says that it is not ready, and a second later that it is."""
    return house.visitor().get("/readyz").status_code


def test_probes_are_answered_under_any_name(house: House):
    elsewhere = {"Host": "10.0.0.7:8300"}
    assert raw(house, "GET", "/healthz", elsewhere) == 200
    until(lambda: raw(house, "GET", "/readyz", elsewhere) == 200, "a server that is ready")
    assert house.visitor().get("/healthz").text == "ok\n"


def test_probes_are_answered_beside_visitors_of_the_same_address_who_asked_too_often(ledger: Ledger):
    # As behind a proxy on the same machine, where the container's own check comes from.
    with served(ledger, limits=replace(GENEROUS, burst=3, clock=standing_still)) as house:
        visitor = house.visitor()

        def probed() -> list[httpx.Response]:
            """Where the server was ready all the while, and not held up."""
            found = [visitor.get(path) for path in ("/healthz", "/readyz") for _ in range(100)]
            assert 429 not in {one.status_code for one in found}
            return found if {one.status_code for one in found} == {200} else []

        answers = until(probed, "a server that is ready")
        for one in answers:
            assert one.headers["x-content-type-options"] == "nosniff"
            assert one.headers["content-security-policy"].startswith("default-src 'none'")
            assert one.headers["cache-control"] == "no-store"
        assert [visitor.get("/").status_code for _ in range(4)] == [200] * 3 + [429]  # pages are counted apart
        until(lambda: checked(urlsplit(house.url).port or 0) == 0, "a server that is ready")


def checked(port: int) -> int:
    """By the command with which the container is checked, beside a proxy that reaches nothing."""
    command = [sys.executable, *read_image().check[1:]]
    command[-1] = command[-1].replace("8300", str(port)).replace("timeout=5", f"timeout={SECONDS}")
    proxies = {name: "http://127.0.0.1:9" for name in ("http_proxy", "HTTP_PROXY", "all_proxy")}
    env = {**os.environ, **proxies, "no_proxy": "", "NO_PROXY": ""}
    return subprocess.run(command, env=env, capture_output=True, check=False).returncode


def test_the_check_of_the_container_sees_a_server_that_is_ready_one_that_is_not_and_none(tmp_path: Path):
    with closing(ledger_in(tmp_path)) as ledger, served(ledger) as house:
        port = urlsplit(house.url).port
        assert port is not None
        until(lambda: checked(port) == 0, "a server that is ready")
        with ledger.writing() as connection:
            connection.exec_driver_sql("ALTER TABLE judgements RENAME TO elsewhere")
        until(lambda: checked(port) != 0, "a server that is not ready")  # what was found is told for a second
    assert checked(port) != 0


def test_a_server_whose_ledger_cannot_be_read_lives_and_is_not_ready(tmp_path: Path):
    with closing(ledger_in(tmp_path)) as ledger, served(ledger) as house:
        until(lambda: readiness(house) == 200, "a server that is ready")
        with ledger.writing() as connection:
            connection.exec_driver_sql("ALTER TABLE judgements RENAME TO elsewhere")
        until(lambda: readiness(house) != 200, "a server that is not ready")  # what was found is told for a second
        assert readiness(house) == 503
        assert house.visitor().get("/healthz").status_code == 200


def test_metrics_are_for_an_owners_token_alone(house: House):
    owner = token_of(house)
    for client in (house.visitor(), house.signed_in("annotator"), house.visitor(authorization="Bearer x")):
        assert client.get("/metrics").status_code in (401, 403)
    signed_in = house.signed_in("owner", "Otto")
    assert signed_in.get("/metrics").status_code == 401  # a session, which another site's page could use
    assert raw(house, "GET", "/metrics", {"Host": "10.0.0.7", "Authorization": f"Bearer {owner}"}) == 200
    assert raw(house, "GET", "/", {"Host": "10.0.0.7", "Authorization": f"Bearer {owner}"}) == 421


def test_metrics_count_requests_by_route_and_name_nobody(gallery: House):
    token = token_of(gallery)
    before = metrics_of(gallery, token).get("evenhand_requests_total", {})
    visitor = gallery.visitor()
    for _ in range(3):
        visitor.get("/join/a-secret-of-somebody")
    visitor.get("/boards/nowhere")
    found = metrics_of(gallery, token)
    after = found["evenhand_requests_total"]
    joined = "method=GET,route=/join/{token},status=404"
    assert after[joined] - before.get(joined, 0) == 3
    assert found["evenhand_request_seconds_count"]["route=/join/{token}"] >= 3
    assert found["evenhand_judgements"][""] > 0
    assert found["evenhand_connections"][""] >= 1
    assert found["evenhand_requests_under_way"][""] == 1
    assert "secret" not in json.dumps(found)


def test_the_log_has_a_line_of_json_a_request_and_no_secret_name_or_address(ledger: Ledger):
    log = io.StringIO()
    with served(ledger, log=log) as house:
        link = house.link("annotator")
        house.visitor().get(f"{link}?who=grace.hopper@example.org")
        house.visitor().post("/leave", data={"name": "Grace"})
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [(one["event"], one["method"], one["route"], one["status"]) for one in lines] == [
        ("request", "GET", "/join/{token}", 200),
        ("request", "POST", "/leave", 403),
    ]
    assert all(one["bytes"] > 0 and one["seconds"] >= 0 and one["time"].endswith("Z") for one in lines)
    for hidden in (link.removeprefix("/join/"), "grace", "Grace", "127.0.0.1"):
        assert hidden not in log.getvalue()


def test_what_the_server_below_us_says_is_json_without_what_it_speaks_of():
    log = io.StringIO()
    with logging_as_json(log):
        logging.getLogger("uvicorn.error").warning("Invalid request from %s", "192.0.2.7")
        try:
            raise ValueError("grace@example.org")
        except ValueError:
            logging.getLogger("uvicorn.error").exception("Exception in ASGI application\n")
    logging.getLogger("uvicorn.error").warning("not any more")
    first, second = (json.loads(line) for line in log.getvalue().splitlines())
    assert (first["event"], first["level"], first["logger"]) == ("said", "warning", "uvicorn.error")
    assert (second["level"], second["error"]) == ("error", "ValueError")
    assert second["at"].startswith(f"{__name__}:")
    assert "192.0.2.7" not in log.getvalue()
    assert "grace" not in log.getvalue()


@pytest.mark.slow
def test_under_a_log_of_json_all_lines_are_json_and_none_makes_an_owner(tmp_path: Path):
    with serving(tmp_path, "--no-worker", "--log", "json") as (process, url):
        assert httpx.get(f"{url}/api", trust_env=False, timeout=SECONDS).status_code == 200  # waits for no figures
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=SECONDS)
    assert out == ""
    assert "/join/" not in errors
    assert [json.loads(line)["event"] for line in errors.splitlines()] == ["request"]
    command = ["serve", "--only-link", "--port", str(urlsplit(url).port)]
    assert re.fullmatch(
        rf"{re.escape(url)}/join/[\w-]{{43}}\n", warm.run(*command, cwd=tmp_path, env=environment(tmp_path)).stdout
    )


@pytest.mark.slow
def test_what_the_worker_says_beside_a_server_is_a_line_of_json_too(tmp_path: Path):
    with serving(tmp_path, "--log", "json") as (process, _):
        assert process.stderr is not None
        line = next(one for one in map(json.loads, process.stderr) if one["event"] == "worker")
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=SECONDS)
    assert "no model to write reference answers with" in line["said"]
    assert all(json.loads(one) for one in rest.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_a_server_told_to_stop_answers_what_is_under_way_and_ends_well(tmp_path: Path, told: signal.Signals):
    with serving(tmp_path, "--no-worker", "--log", "json") as (process, url):
        where = urlsplit(url)
        assert where.hostname is not None
        assert where.port is not None
        body = b"csrf=x"
        with socket.create_connection((where.hostname, where.port), timeout=SECONDS) as connection:
            connection.sendall(
                f"POST /leave HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                f"Content-Length: {len(body)}\r\n\r\n".encode()
            )
            httpx.get(f"{url}/healthz", trust_env=False, timeout=SECONDS)
            process.send_signal(told)
            until(lambda: not accepts(where.port or 0), "a server that takes nobody in any more")
            connection.sendall(body)
            assert connection.recv(12) == b"HTTP/1.1 403"
        _, errors = process.communicate(timeout=SECONDS)
        assert process.returncode == 0
    assert "Traceback" not in errors
    lines = [json.loads(line) for line in errors.splitlines()]  # every one of them is JSON
    assert [one["status"] for one in lines if one["event"] == "request"] == [403]


@pytest.mark.slow
def test_a_link_for_the_owner_is_printed_beside_a_running_server(tmp_path: Path):
    with serving(tmp_path, "--no-worker") as (_, url):
        port = str(urlsplit(url).port)
        command = [EVENHAND, "serve", "--only-link", "--port", port]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, env=environment(tmp_path), check=True
        )
        link = done.stdout.strip()
        assert re.fullmatch(rf"{re.escape(url)}/join/[\w-]{{43}}", link)
        assert httpx.get(link, trust_env=False, timeout=SECONDS).status_code == 200
