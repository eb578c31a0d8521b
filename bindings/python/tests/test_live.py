"""Packets of an interface, in a network of the test's own."""

import subprocess
import sys

import pytest

RUN = """
import flowpin, socket, subprocess, threading
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", 0))
stop = threading.Event()

def send():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        while not stop.wait(0.01):
            sender.sendto(b"hello", receiver.getsockname())

threading.Thread(target=send, daemon=True).start()
{work}
stop.set()
"""
TABLE = """
reader = flowpin.read(None, "conn", interface="lo", count=40, checksums="none")
port = receiver.getsockname()[1]
[row] = [row for row in reader.to_arrow().to_pylist() if row["id_resp_p"] == port]
assert row["proto"] == "udp", row
assert reader.report().packets == 40
"""
PACKETS = """
packets = flowpin.packets(None, interface="lo", filter="udp")
first = next(packets)
assert first.data.endswith(b"hello")
packets.close()
"""


@pytest.mark.parametrize("work", [TABLE, PACKETS], ids=["table", "packets"])
def test_what_comes_is_analysed(work):
    network = ["unshare", "--net", "--user", "--map-root-user"]
    probe = subprocess.run([*network, "ip", "link", "set", "lo", "up"], capture_output=True)
    if probe.returncode:
        pytest.skip("no network of its own (`unshare`, `ip`) without more rights")
    script = RUN.format(work=work)
    done = subprocess.run(
        [*network, sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_no_source_without_an_interface():
    import flowpin

    with pytest.raises(flowpin.InputError, match="no capture is named"):
        flowpin.read(None, "conn")


def test_an_interface_that_is_not_there_is_named():
    import flowpin

    with pytest.raises(flowpin.InputError, match="there is no interface nowhere0") as raised:
        flowpin.read(None, "conn", interface="nowhere0")
    assert raised.value.place == "interface"
