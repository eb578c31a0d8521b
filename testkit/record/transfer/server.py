#!/usr/bin/env python3
"""FTP servers for the lab: pyftpdlib, on both IP versions, behind a translator, with TLS.

usage: server.py FOLDER PORT ADDRESS ADDRESS6

The second port tells another address than its own in passive mode, the third speaks TLS.
"""

import os
import sys

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler, TLS_FTPHandler
from pyftpdlib.ioloop import IOLoop
from pyftpdlib.servers import FTPServer

OUTSIDE = "203.0.113.9"


def main():
    folder, port, address, address6 = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    authorizer = DummyAuthorizer()
    authorizer.add_user("bob", "s3cret", os.path.join(folder, "files"), perm="elradfmwMT")
    authorizer.add_anonymous(os.path.join(folder, "files"))

    class Plain(FTPHandler):
        passive_ports = range(30100, 30150)
        banner = "FTP of the lab"

    class Translated(Plain):
        masquerade_address = OUTSIDE

    class Encrypted(TLS_FTPHandler):
        passive_ports = range(30150, 30160)
        certfile = os.path.join(folder, "ftp.pem")

    loop = IOLoop()
    for end, handler in (((address, port), Plain), ((address6, port), Plain),
                         ((address, port + 1), Translated), ((address, port + 2), Encrypted)):
        handler.authorizer = authorizer
        FTPServer(end, handler, ioloop=loop)
    loop.loop()


main()
