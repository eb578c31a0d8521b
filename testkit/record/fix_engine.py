"""A FIX engine at each end: QuickFIX, which is no Debian package (`pip install quickfix`).

usage: fix_engine.py acceptor|initiator FOLDER ADDRESS PORT

The initiator logs on with a password, sends orders, cancels one, asks for a resend by skipping
numbers, and logs out. The acceptor fills every order. Both write what they sent and received to
FOLDER, which is the ground truth; so it does not come from the capture.
"""

import os
import sys
import time

import quickfix as fix

SETTINGS = """
[DEFAULT]
ConnectionType={kind}
FileStorePath={folder}/store-{kind}
FileLogPath={folder}/log-{kind}
StartTime=00:00:00
EndTime=00:00:00
UseDataDictionary=Y
DataDictionary={dictionary}
ReconnectInterval=1
HeartBtInt=1
SocketReuseAddress=Y
NonStopSession=Y
[SESSION]
BeginString=FIX.4.4
SenderCompID={sender}
TargetCompID={target}
{where}
"""

# Where the package puts its data dictionaries.
DICTIONARY = os.path.join(sys.prefix, "share", "quickfix", "FIX44.xml")

ORDERS = [("order-1", "IBM", "1", 100, 126.5), ("order-2", "SAP", "2", 2500, 98.25),
          ("order-3", "IBM", "1", 7, 127.0)]


class Application(fix.Application):
    """Notes every message of this side; the acceptor also answers."""

    def __init__(self, note):
        super().__init__()
        self.note = note
        self.session = None
        self.number = 0

    def onCreate(self, session):
        self.session = session

    def onLogon(self, session):
        pass

    def onLogout(self, session):
        pass

    def toAdmin(self, message, session):
        kind = message.getHeader().getField(35)
        if kind == "A" and self.note.name.endswith("initiator"):
            message.setField(553, "lab-user")
            message.setField(554, "lab-secret")
        self.write("sent", message)

    def fromAdmin(self, message, session):
        self.write("received", message)

    def toApp(self, message, session):
        self.write("sent", message)

    def fromApp(self, message, session):
        self.write("received", message)
        if message.getHeader().getField(35) == "D":
            time.sleep(0.02)
            for status in ("0", "2"):
                fix.Session.sendToTarget(self.report(message, status), session)

    def report(self, order, status):
        """An ExecutionReport: new, then filled."""
        self.number += 1
        report = fix.Message()
        report.getHeader().setField(35, "8")
        for tag in (11, 55, 54, 38, 44):
            report.setField(tag, order.getField(tag))
        done = order.getField(38) if status == "2" else "0"
        left = "0" if status == "2" else order.getField(38)
        for tag, value in ((37, f"exchange-{self.number}"), (17, f"execution-{self.number}"),
                           (150, "F" if status == "2" else "0"), (39, status), (14, done),
                           (151, left), (6, "0")):
            report.setField(tag, value)
        return report

    def write(self, what, message):
        header = message.getHeader()
        has = message.isSetField(11)
        self.note.write("\t".join([what, header.getField(35), header.getField(34),
                                   message.getField(11) if has else "-"]) + "\n")
        self.note.flush()


def order(name, symbol, side, quantity, price):
    """A NewOrderSingle with two parties: a repeating group."""
    message = fix.Message()
    message.getHeader().setField(35, "D")
    for tag, value in ((11, name), (21, "1"), (55, symbol), (54, side), (38, str(quantity)),
                       (40, "2"), (44, str(price)), (60, "20260101-12:00:00.000")):
        message.setField(tag, value)
    for party, role in (("desk-7", "24"), ("trader-9", "36")):
        group = fix.Group(453, 448)
        group.setField(448, party)
        group.setField(447, "D")
        group.setField(452, role)
        message.addGroup(group)
    return message


def main():
    kind, folder, address, port = sys.argv[1:]
    client = kind == "initiator"
    where = (f"SocketConnectHost={address}\nSocketConnectPort={port}" if client
             else f"SocketAcceptPort={port}")
    names = ("LAB-CLIENT", "LAB-BROKER") if client else ("LAB-BROKER", "LAB-CLIENT")
    path = os.path.join(folder, f"fix-{kind}.cfg")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SETTINGS.format(kind=kind, folder=folder, sender=names[0], target=names[1],
                                   where=where, dictionary=DICTIONARY))
    settings = fix.SessionSettings(path)
    with open(os.path.join(folder, f"fix-{kind}"), "w", encoding="utf-8") as note:
        application = Application(note)
        make = fix.SocketInitiator if client else fix.SocketAcceptor
        engine = make(application, fix.FileStoreFactory(settings), settings)
        engine.start()
        if client:
            converse(application)
        else:
            time.sleep(60)
        engine.stop()


def converse(application):
    """Orders, numbers skipped, heartbeats, and the end."""
    session = fix.Session.lookupSession(application.session)
    for _ in range(100):
        if session.isLoggedOn():
            break
        time.sleep(0.1)
    for one in ORDERS:
        fix.Session.sendToTarget(order(*one), application.session)
        time.sleep(0.1)
    session.setNextSenderMsgSeqNum(session.getExpectedSenderNum() + 2)
    fix.Session.sendToTarget(order("order-4", "SAP", "1", 10, 99.0), application.session)
    time.sleep(3)
    session.logout("the day is over")
    time.sleep(1)


if __name__ == "__main__":
    main()
