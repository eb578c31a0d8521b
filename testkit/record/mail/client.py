#!/usr/bin/env python3
"""Clients of SMTP, one conversation each, which say what they sent and were answered.

usage: client.py [NAME SERVER PORT OWN_PORT]

Without arguments: the names of all conversations. Each writes one line of JSON a mail: its
envelope, what its header says, and the reply to it: that to its last byte, or, where it was not
handed over, the last refusal since its envelope began.
"""

import base64
import contextlib
import json
import smtplib
import socket
import subprocess
import sys
from email.message import EmailMessage

LINES = [b"A line of text, number %d.\r\n" % n for n in range(40)]
BODY = b"".join(LINES)
TRAP = (b"MAIL FROM:<trap@lab.test>\r\nQUIT\r\n..\r\n..two dots\r\nRSET\r\n"
        b"Subject: not this\r\nBDAT 10 LAST\r\n\r\n")


class Talk:
    """A connection, and the mail that is being handed over."""

    def __init__(self, server, port, own):
        self.socket = socket.create_connection((server, port), 10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        self.mail = None
        self.reply()
        self("EHLO client.lab.test")

    def reply(self):
        """The last line of a reply; a refusal is noted."""
        line = b"----"
        while line[3:4] == b"-":
            try:
                line = self.file.readline()
            except ConnectionError:
                line = b""
        line = line.decode("latin-1").strip()
        if self.mail is not None and line[:1] in "45":
            self.mail["reply"] = line
        return line

    def send(self, data):
        with contextlib.suppress(ConnectionError):
            self.socket.sendall(data if isinstance(data, bytes) else data.encode() + b"\r\n")

    def __call__(self, *commands):
        """Sends commands at once and reads their replies."""
        self.send(b"".join(command.encode() + b"\r\n" for command in commands))
        return [self.reply() for _ in commands][-1]

    def begin(self, sender="alice@lab.test", *recipients):
        """The mail that the next commands are about."""
        self.mail = {"mail_from": sender, "rcpt_to": list(recipients)}
        return [f"MAIL FROM:<{sender}>", *(f"RCPT TO:<{name}>" for name in recipients)]

    def envelope(self, *about):
        for command in self.begin(*about):
            self(command)

    def says(self, **header):
        self.mail |= header

    def done(self, reply=None):
        """The mail is over."""
        if reply:
            self.mail["reply"] = reply
        print(json.dumps(self.mail))
        self.mail = None

    def chunk(self, data, last=False):
        """One chunk; what its reply says."""
        self.send(b"BDAT %d%s\r\n" % (len(data), b" LAST" if last else b"") + data)
        return self.reply()

    def close(self):
        self("QUIT")
        self.socket.close()


def letter(talk, subject, body=BODY, end=b".\r\n"):
    """A mail's bytes; notes what its header says."""
    name = f"<{subject.replace(' ', '.')}@client.lab.test>"
    talk.says(subject=subject, message_id=name, **{"from": "Alice <alice@lab.test>",
                                                   "to": "bob@lab.test, carol@lab.test"})
    head = (f"Date: Sat, 21 Nov 2026 10:00:00 +0000\r\nFrom: Alice <alice@lab.test>\r\n"
            f"To: bob@lab.test,\r\n\tcarol@lab.test\r\nSubject: {subject}\r\n"
            f"Message-ID: {name}\r\n\r\n")
    return head.encode() + body + end


def data(talk, subject, **more):
    """DATA and the mail behind it."""
    talk("DATA")
    talk.send(letter(talk, subject, **more))
    talk.done(talk.reply())


def parts(subject, talk):
    """A mail of several parts, without its last dot."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "alice@lab.test", "bob@lab.test", subject
    mail["Message-ID"] = f"<{subject.replace(' ', '.')}@client.lab.test>"
    mail.set_content("The first part.\n.\nQUIT\n")
    mail.add_alternative("<p>The second.</p>", subtype="html")
    mail.add_attachment(bytes(range(256)) * 12, maintype="application", subtype="zip",
                        filename="a.zip")
    talk.says(**{"from": mail["From"], "to": mail["To"], "subject": subject,
                 "message_id": mail["Message-ID"]})
    return mail.as_bytes().replace(b"\n", b"\r\n")


def plain(server, port, own):
    """Python's smtplib; what it writes itself."""
    with smtplib.SMTP(server, port, "client.lab.test") as client:
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = "a@lab.test", "bob@lab.test", "by smtplib"
        mail["Message-ID"] = "<smtplib@client.lab.test>"
        mail.set_content(TRAP.decode().replace("\r", ""))
        client.send_message(mail, "a@lab.test", ["bob@lab.test", "carol@lab.test"])
    print(json.dumps({"mail_from": "a@lab.test", "rcpt_to": ["bob@lab.test", "carol@lab.test"],
                      "subject": "by smtplib", "message_id": "<smtplib@client.lab.test>",
                      "from": "a@lab.test", "to": "bob@lab.test"}))


def swaks(server, port, own):
    """swaks with an attachment, pipelined."""
    _swaks(server, port, "by swaks", "--pipeline", "--attach", "Notes.\n" * 60)


def _swaks(server, port, subject, *more):
    subprocess.run(["swaks", "--server", server, "--port", port, "--helo", "client.lab.test",
                    "--from", "a@lab.test", "--to", "bob@lab.test", "--header",
                    f"Subject: {subject}", "--header", "Message-Id: <swaks@client.lab.test>",
                    *more], check=True, stdout=subprocess.DEVNULL)
    print(json.dumps({"mail_from": "a@lab.test", "rcpt_to": ["bob@lab.test"], "subject": subject,
                      "message_id": "<swaks@client.lab.test>", "from": "a@lab.test",
                      "to": "bob@lab.test"}))


def curl(server, port, own):
    """curl."""
    mail = "From: a@lab.test\nTo: bob@lab.test\nSubject: by curl\nMessage-ID: <curl@c>\n\n.\nx\n"
    mail = mail.replace("\n", "\r\n")
    subprocess.run(["curl", "-sS", "--noproxy", "*", f"smtp://{server}:{port}/client.lab.test",
                    "--mail-from", "a@lab.test", "--mail-rcpt", "bob@lab.test", "-T", "-"],
                   input=mail.encode(), check=True)
    print(json.dumps({"mail_from": "a@lab.test", "rcpt_to": ["bob@lab.test"], "subject": "by curl",
                      "message_id": "<curl@c>", "from": "a@lab.test", "to": "bob@lab.test"}))


def starttls(server, port, own):
    """STARTTLS where there is any."""
    with smtplib.SMTP(server, port, "client.lab.test") as client:
        client.ehlo()
        if client.has_extn("starttls"):
            client.starttls()
            client.sendmail("a@lab.test", ["bob@lab.test"], "Subject: secret\n\n" * 3)


def auth(server, port, own):
    """AUTH: refused, given up, PLAIN, LOGIN; what is sent is no command."""
    talk = Talk(server, port, own)
    talk("AUTH PLAIN " + base64.b64encode(b"\0bob\0wrong").decode())
    talk("AUTH LOGIN")
    talk("*")
    talk("AUTH LOGIN")
    talk(base64.b64encode(b"bob").decode())
    talk(base64.b64encode(b"secret").decode())
    talk.envelope("alice@lab.test", "bob@lab.test")
    data(talk, "with a password")
    talk.close()


def pipelined(server, port, own):
    """Envelope and DATA at once, then mail, the next envelope and DATA at once (RFC 2920)."""
    talk = Talk(server, port, own)
    talk(*talk.begin("alice@lab.test", "bob@lab.test", "carol@lab.test"), "DATA")
    talk.send(letter(talk, "one of two"))
    talk.done(talk.reply())
    talk(*talk.begin("carol@lab.test", "dave@lab.test"), "DATA")
    talk.send(letter(talk, "two of two", TRAP) + b"QUIT\r\n")
    talk.done(talk.reply())
    talk.reply()


def reset(server, port, own):
    """RSET, a second MAIL and a new EHLO within an envelope; NOOP, VRFY, EXPN, HELP."""
    talk = Talk(server, port, own)
    for word in ("NOOP", "NOOP again", "VRFY bob", "EXPN staff", "HELP", "RSET", "WHAT"):
        talk(word)
    talk.envelope("alice@lab.test", "bob@lab.test", "nobody@lab.test")
    talk("VRFY nobody@lab.test")
    talk.done()
    talk("RSET")
    talk.envelope("carol@lab.test", "bob@lab.test")
    talk("NOOP", "MAIL FROM:<second@lab.test>", "EXPN staff")
    data(talk, "behind a second MAIL")
    talk.envelope("alice@lab.test", "dave@lab.test")
    talk.done()
    talk("EHLO again.lab.test")
    talk.envelope("", "dave@lab.test")
    data(talk, "of nobody")
    talk.close()


def chunks(server, port, own):
    """A mail of parts in chunks (RFC 3030), and one behind it in one chunk, pipelined."""
    talk = Talk(server, port, own)
    talk.envelope("alice@lab.test", "bob@lab.test")
    mail = parts("in chunks", talk)
    for begin in range(0, 4000, 1000):
        talk.chunk(mail[begin:begin + 1000])
    talk.chunk(mail[4000:])
    talk.done(talk.chunk(b"", last=True))
    commands = talk.begin("carol@lab.test", "carol@lab.test", "dave@lab.test")
    mail = letter(talk, "in one chunk", TRAP, end=b"")
    talk.send("\r\n".join([*commands, f"BDAT {len(mail)} LAST"]).encode() + b"\r\n" + mail)
    replies = [talk.reply() for _ in range(4)]
    talk.done(replies[3])
    commands = talk.begin("carol@lab.test", "bob@lab.test")
    mail = parts("in two", talk)
    talk.send("\r\n".join([*commands, "BDAT 30\r\n"]).encode() + mail[:30])
    talk.send(b"BDAT %d last\r\n" % len(mail[30:]) + mail[30:] + b"QUIT\r\n")
    replies = [talk.reply() for _ in range(4)]
    talk.done(replies[3])
    talk.reply()


def refused(server, port, own):
    """DATA behind refused recipients, one by one and pipelined; too large; then a mail."""
    talk = Talk(server, port, own)
    talk("DATA")
    talk.mail = {"mail_from": "", "rcpt_to": ["bob@lab.test"]}
    talk("RCPT TO:<bob@lab.test>")
    talk.done()
    talk("RSET")
    talk.envelope("alice@lab.test", "nobody@lab.test")
    talk("DATA")
    talk.done()
    talk("RSET")
    talk(*talk.begin("alice@lab.test", "nobody@lab.test", "noone@lab.test"), "DATA")
    talk.done()
    talk("RSET")
    talk.envelope("alice@lab.test", "bob@lab.test", "nobody@lab.test")
    data(talk, "to one of two")
    talk.envelope("alice@lab.test", "bob@lab.test")
    data(talk, "too large", body=BODY * 9)
    talk.mail = {"mail_from": "alice@lab.test", "rcpt_to": []}
    talk("MAIL FROM:<alice@lab.test> SIZE=9999999")
    talk.done()
    talk("RSET")
    talk.envelope("alice@lab.test", "bob@lab.test")
    data(talk, "after all that", body=TRAP)
    talk.close()


def refused_chunks(server, port, own):
    """Chunks behind refused recipients, and too large; then mails."""
    talk = Talk(server, port, own)
    talk.envelope("alice@lab.test", "nobody@lab.test")
    mail = letter(talk, "to nobody", TRAP, end=b"")
    talk.chunk(mail[:50])
    talk.chunk(mail[50:], last=True)
    talk.done()
    talk("RSET")
    talk.envelope("alice@lab.test", "bob@lab.test")
    talk.chunk(letter(talk, "too large", BODY * 9, end=b""))
    talk.done(talk.chunk(BODY, last=True))
    talk("RSET")
    talk.envelope("alice@lab.test", "bob@lab.test")
    talk.done(talk.chunk(letter(talk, "a chunk at last", BODY, end=b""), last=True))
    talk.envelope("alice@lab.test", "bob@lab.test")
    data(talk, "and no chunk")
    talk.close()


def long_commands(server, port, own):
    """Commands longer than any server takes."""
    talk = Talk(server, port, own)
    talk("EHLO " + "x" * 600)
    talk("NOOP " + "y" * 3000)
    talk.envelope("alice@lab.test", "bob@lab.test", "z" * 3000 + "@lab.test")
    data(talk, "behind a long line")
    talk.close()


def odd(server, port, own):
    """Small letters, spaces, parameters, a route, names in quotes, no header, an empty mail."""
    talk = Talk(server, port, own)
    talk.begin("alice@lab.test", "bob@lab.test")
    talk("mail from: <alice@lab.test> body=8BITMIME SIZE=100")
    talk("rcpt TO: <bob@lab.test>")
    talk("data")
    talk.send(b"no header here\r\n\r\n.\r\n")
    talk.done(talk.reply())
    talk.begin("alice@lab.test", "carol@lab.test", "@mx.lab.test:bob@lab.test")
    talk("MAIL FROM:<alice@lab.test>")
    talk("RCPT TO:carol@lab.test")
    talk("RCPT TO:<@mx.lab.test:bob@lab.test>")
    talk("DATA")
    talk.send(b".\r\n")
    talk.done(talk.reply())
    talk.envelope('"a b>c"@lab.test', "bob@lab.test")
    data(talk, "quoted", body=b"")
    talk.close()


def gone(server, port, own):
    """A client that goes within a mail."""
    talk = Talk(server, port, own)
    talk.envelope("alice@lab.test", "bob@lab.test")
    talk("DATA")
    talk.send(letter(talk, "half a mail", end=b""))
    talk.done()
    talk.socket.close()


def gone_chunk(server, port, own):
    """A client that goes within a chunk."""
    talk = Talk(server, port, own)
    talk.envelope("alice@lab.test", "bob@lab.test")
    talk.send(b"BDAT 9000 LAST\r\n" + letter(talk, "half a chunk", end=b""))
    talk.done()
    talk.socket.close()


def gone_envelope(server, port, own):
    """A client that goes within an envelope, which one recipient had been refused of."""
    talk = Talk(server, port, own)
    talk.envelope("alice@lab.test", "bob@lab.test", "nobody@lab.test")
    talk.done()
    talk.socket.close()


def errors(server, port, own):
    """More errors than a server takes: it ends the connection."""
    talk = Talk(server, port, own)
    talk.envelope("alice@lab.test", "bob@lab.test")
    talk.done()
    while (line := talk("WRONG")) and not line.startswith("421"):
        pass
    talk.socket.close()


TALKS = [plain, swaks, curl, starttls, auth, pipelined, reset, chunks, refused, refused_chunks,
         long_commands, odd, gone, gone_chunk, gone_envelope, errors]


def main():
    if len(sys.argv) == 1:
        print(*(talk.__name__ for talk in TALKS))
        return
    name, server, port, own = sys.argv[1:]
    (talk,) = (talk for talk in TALKS if talk.__name__ == name)
    talk(server, port, own)


if __name__ == "__main__":
    main()
