"""What is known about a capture without looking at it."""

import json
import time


class Truth:
    """Ground truth of one capture: the connections that the steps made, by construction."""

    def __init__(self, about):
        self.about = about
        self.began = time.time()
        self.connections = []
        self.facts = []

    def connection(self, service, client, server, protocol="tcp", count=1, **more):
        """Notes `count` connections. `client` and `server` are (address, port); a port may be a
        pair of bounds. ICMP: the client's port is the type and the server's the code, as in
        records. More: what else is certain (packets, state, note …)."""
        entry = {"service": service, "protocol": protocol,
                 "client": client[0], "client_port": client[1],
                 "server": server[0], "server_port": server[1], "count": count}
        self.connections.append(entry | more)

    def fact(self, **fact):
        """Notes something else that a program said or did."""
        self.facts.append(fact)

    def write(self, path, capture, how, programs):
        """Writes the JSON file that goes beside a capture."""
        document = {
            "capture": capture,
            "about": self.about,
            "recorded": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.began)),
            "how": how,
            "programs": programs,
            "background": "ARP; ICMPv6 neighbour discovery and multicast reports (130-137, 143)",
            "connections": self.connections,
            "facts": self.facts,
        }
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.write("\n")
