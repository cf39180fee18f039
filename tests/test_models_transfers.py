"""Transfers over HTTP: each is sent once, connections are kept, TLS and proxies are as the environment says."""

import asyncio
import datetime
import ipaddress
import ssl

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from models.wire.transfers import LargeError, Patience, Target, TransferError, Transfers

PATIENCE = Patience(connect=2.0, silence=None, whole=2.0)
WHOLE = b"HTTP/1.1 200 OK\r\nX-Kind: whole\r\ncontent-length: 3\r\n\r\nyes"


class Server:
    """A server of bytes: what it answers to the numbered request of a connection, None to close it."""

    def __init__(self, answer):
        self.answer, self.heads, self.bodies, self.connections = answer, [], [], 0

    async def connected(self, reader, writer):
        self.connections += 1
        number = 0
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                self.heads.append(head)
                if head.startswith("connect"):
                    await self.tunnel(head.split()[1], reader, writer)
                    return
                size = next(int(line.split(":")[1]) for line in head.split("\r\n") if "content-length" in line)
                self.bodies.append(await reader.readexactly(size))
                number += 1
                said = self.answer(number)
                if said is None:
                    return
                writer.write(said)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    async def tunnel(self, target, reader, writer):
        host, port = target.split(":")
        inner_reader, inner_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Tunnel\r\nx-kind: proxy\r\n\r\n")
        await asyncio.gather(passed_on(reader, inner_writer), passed_on(inner_reader, writer))


async def passed_on(reader, writer):
    while piece := await reader.read(2**16):
        writer.write(piece)
    writer.close()


def transferred(server, *bodies, tls=None, address="http://127.0.0.1:{port}", most=100, patience=PATIENCE):
    """What comes of requests one after another: the responses, or the errors."""

    async def everything():
        listening = await asyncio.start_server(server.connected, "127.0.0.1", 0, ssl=tls)
        place = address.format(port=listening.sockets[0].getsockname()[1])
        target = Target("POST", f"{place}/v1", ("accept-encoding: identity", "key: k"))
        came = []
        async with listening, Transfers(place, 4) as transfers:
            for body in bodies:
                try:
                    came.append(await transfers.perform(target, body, patience, most))
                except TransferError as error:
                    came.append(error)
        return came

    return asyncio.run(everything())


def test_a_connection_is_kept_and_the_body_goes_out_as_it_is():
    server = Server(lambda number: WHOLE)
    large = b"\0\r\n\xff" * 50_000
    first, second = transferred(server, b"one", large)
    assert (first.status, first.reason, first.headers["x-kind"], first.body) == (200, "OK", "whole", b"yes")
    assert (second.body, server.bodies, server.connections) == (b"yes", [b"one", large], 1)
    assert "key: k" in server.heads[0] and "expect" not in server.heads[1]


@pytest.mark.parametrize("number", [1, 2])
def test_a_request_is_never_sent_again_by_itself_when_the_connection_closes_without_a_reply(number):
    server = Server(lambda asked: None if asked == number else WHOLE)
    came = transferred(server, *[b"one", b"two", b"three"][:number])
    assert isinstance(came[-1], TransferError) and came[-1].connected
    assert "closed without a reply" in str(came[-1])
    assert server.bodies == [b"one", b"two", b"three"][:number]


def test_pieces_are_put_together_and_what_comes_before_the_response_is_no_part_of_it():
    head = b"HTTP/1.1 100 Continue\r\nx-kind: early\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    (response,) = transferred(Server(lambda number: head + b"3\r\nyes\r\n4\r\n, we\r\n0\r\n\r\n"), b"x")
    assert (response.status, response.body, "x-kind" in response.headers) == (200, b"yes, we", False)


def test_a_response_larger_than_is_allowed_is_an_error_and_of_one_that_is_none_the_beginning_is_kept():
    (failed,) = transferred(Server(lambda number: WHOLE), b"x", most=2)
    assert isinstance(failed, LargeError)
    page = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 300000\r\n\r\n" + b"p" * 300_000
    (response,) = transferred(Server(lambda number: page), b"x", most=2)
    assert (response.status, response.reason) == (502, "Bad Gateway")
    assert 0 < len(response.body) < 300_000 and set(response.body) == set(b"p")


class Careless(Server):
    """A server that, after each reply, closes the connection without saying so, or sends ``more``."""

    def __init__(self, more):
        super().__init__(lambda number: WHOLE)
        self.more = more

    async def connected(self, reader, writer):
        self.bodies.append(await reader.readuntil(b"}"))
        writer.write(WHOLE)
        await writer.drain()
        writer.write(self.more)
        if self.more:
            await reader.read()
        writer.close()


@pytest.mark.parametrize("more", [b"", WHOLE.replace(b"yes", b"old")])
def test_a_connection_that_was_closed_or_holds_unasked_bytes_carries_no_further_request(more):
    server = Careless(more)

    async def asked():
        listening = await asyncio.start_server(server.connected, "127.0.0.1", 0)
        place = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        target = Target("POST", place, ())
        came = []
        async with listening, Transfers(place, 4) as transfers:
            for body in (b"{1}", b"{2}", b"{3}"):
                came.append((await transfers.perform(target, body, PATIENCE, None)).body)
                for _ in range(20):  # the server's turn
                    await asyncio.sleep(0)
        return came

    assert asyncio.run(asked()) == [b"yes"] * 3
    assert [body[-3:] for body in server.bodies] == [b"{1}", b"{2}", b"{3}"]


class Mixed(Server):
    """A server that closes every other connection after a reply, saying so."""

    async def connected(self, reader, writer):
        self.connections += 1
        last = self.connections % 2
        while body := await reader.read(2**16):
            self.bodies.append(body)
            writer.write(WHOLE.replace(b"OK\r\n", b"OK\r\nconnection: close\r\n") if last else WHOLE)
            if last:
                break
        writer.close()


def test_sockets_that_take_the_number_of_a_closed_one_are_awaited_like_the_first():
    server = Mixed(None)

    async def asked():
        listening = await asyncio.start_server(server.connected, "127.0.0.1", 0)
        place = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        async with listening, Transfers(place, 4) as transfers:

            async def one(name):
                patience = Patience(2.0, None, 5.0)
                return [await transfers.perform(Target("POST", place, ()), name, patience, None) for _ in range(25)]

            return await asyncio.gather(*(one(b"%d" % number) for number in range(4)))

    assert [[response.body for response in each] for each in asyncio.run(asked())] == [[b"yes"] * 25] * 4
    assert len(server.bodies) == 100 and 1 < server.connections < 100


def test_a_transfer_that_is_cancelled_leaves_the_others_alone():
    async def asked():
        server = Server(lambda number: WHOLE)
        held = asyncio.Event()

        async def waiting(reader, writer):
            await reader.readuntil(b"slow")
            held.set()
            await reader.read()
            writer.close()

        async with (
            await asyncio.start_server(waiting, "127.0.0.1", 0) as slow,
            await asyncio.start_server(server.connected, "127.0.0.1", 0) as quick,
        ):
            there, here = (f"http://127.0.0.1:{one.sockets[0].getsockname()[1]}" for one in (slow, quick))
            async with Transfers(here, 4) as transfers:
                lost = asyncio.create_task(transfers.perform(Target("POST", there, ()), b"slow", PATIENCE, None))
                await held.wait()
                lost.cancel()
                came = await transfers.perform(Target("POST", here, ()), b"x", PATIENCE, None)
                return came.body, (await asyncio.gather(lost, return_exceptions=True))[0]

    body, outcome = asyncio.run(asked())
    assert body == b"yes" and isinstance(outcome, asyncio.CancelledError)


@pytest.mark.parametrize(
    "head",
    [b"HTTP/1.1 100 Continue\n\nHTTP/1.1 500 Oops\r\nX-Kind: late\r\n\r\n", b"HTTP/1.1 500 Oops\nX-Kind: late\n\n"],
)
def test_lines_may_end_without_a_carriage_return(head):
    (response,) = transferred(
        Server(lambda number: None if number > 1 else head), b"x", patience=Patience(2.0, None, 0.3)
    )
    assert (response.status, response.reason, response.headers) == (500, "Oops", {"x-kind": "late"})


def test_the_status_of_an_error_counts_though_its_body_is_cut():
    cut = b"HTTP/1.1 429 Slow\r\nretry-after: 7\r\ncontent-length: 50\r\n\r\nx"

    class Cutting(Server):
        async def connected(self, reader, writer):
            await reader.readuntil(b"x")
            writer.write(cut)
            writer.close()

    (response,) = transferred(Cutting(None), b"x")
    assert (response.status, response.headers["retry-after"]) == (429, "7")


def test_where_nothing_listens_the_request_has_reached_nobody():
    async def refused():
        async with Transfers("http://127.0.0.1:9", 1) as transfers:
            await transfers.perform(Target("POST", "http://127.0.0.1:9/", ()), b"x", PATIENCE, None)

    with pytest.raises(TransferError) as raised:
        asyncio.run(refused())
    assert not raised.value.connected


def test_an_http_proxy_of_the_environment_gets_the_whole_address(monkeypatch):
    server = Server(lambda number: WHOLE)
    monkeypatch.setenv("no_proxy", "")

    async def asked():
        listening = await asyncio.start_server(server.connected, "127.0.0.1", 0)
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}")
        async with listening, Transfers("http://models.invalid", 1) as transfers:
            return await transfers.perform(Target("POST", "http://models.invalid/v1", ()), b"x", PATIENCE, None)

    assert asyncio.run(asked()).body == b"yes"
    assert server.heads[0].startswith("post http://models.invalid/v1 ")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A server's side of TLS, and the file of its certificate."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    places = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    began = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(began)
        .not_valid_after(began + datetime.timedelta(days=36_500))
        .add_extension(x509.SubjectAlternativeName(places), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(secret)
    (folder / "certificate.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    side.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return side, folder / "certificate.pem"


def test_a_server_whose_certificate_nobody_vouches_for_gets_no_request(certificate):
    server = Server(lambda number: WHOLE)
    (failed,) = transferred(server, b"x", tls=certificate[0], address="https://localhost:{port}")
    assert isinstance(failed, TransferError) and not failed.connected
    assert "certificate" in str(failed) and not server.heads


@pytest.mark.parametrize("proxied", [False, True])
def test_certificates_are_those_of_the_environment_also_through_a_proxy(certificate, proxied, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[1]))
    monkeypatch.setenv("no_proxy", "")
    server, proxy = Server(lambda number: WHOLE), Server(lambda number: None)

    async def asked():
        listening = await asyncio.start_server(server.connected, "127.0.0.1", 0, ssl=certificate[0])
        between = await asyncio.start_server(proxy.connected, "127.0.0.1", 0)
        if proxied:
            monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{between.sockets[0].getsockname()[1]}")
        place = f"https://localhost:{listening.sockets[0].getsockname()[1]}"
        async with listening, between, Transfers(place, 1) as transfers:
            return await transfers.perform(Target("POST", f"{place}/v1", ("key: k",)), b"x", PATIENCE, None)

    response = asyncio.run(asked())
    assert (response.headers["x-kind"], response.body) == ("whole", b"yes")
    assert [head.split("\r\n")[0].split()[0] for head in proxy.heads] == ["connect"] * proxied
    assert not any("key: k" in head for head in proxy.heads)
