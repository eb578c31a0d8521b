"""SMTP between Postfix or Exim and clients that do all that the protocol allows, and more.

What is known: what each client sent and was answered, as it noted it itself (`client.py`), and for
each mail that was accepted what the server wrote of it into its own log.
"""

import json
import os
import re
import shutil
import sys
import time

from lab import CLIENT, SERVER, stop

POSTFIX, EXIM = 2525, 2526
TALK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "client.py")

POSTFIX_MAIN = """
compatibility_level = 3.6
queue_directory = {dir}/postfix/queue
data_directory = {dir}/postfix/data
maillog_file = /dev/stdout
myhostname = mx.lab.test
mydestination = lab.test
mynetworks = 127.0.0.0/8
inet_interfaces = {server}
inet_protocols = ipv4
alias_maps =
local_transport = discard
local_recipient_maps = inline:{{ bob=x, carol=x, dave=x }}
relayhost =
message_size_limit = 9000
smtpd_tls_security_level = may
smtpd_tls_chain_files = {dir}/tls.key, {dir}/tls.crt
smtpd_sasl_auth_enable = yes
smtpd_sasl_path = smtpd
cyrus_sasl_config_path = {dir}/postfix
smtpd_sasl_local_domain = lab.test
smtpd_error_sleep_time = 0
smtpd_client_connection_count_limit = 0
"""

POSTFIX_MASTER = """
{port}    inet  n - n - - smtpd
cleanup   unix  n - n - 0 cleanup
qmgr      unix  n - n 300 1 qmgr
tlsmgr    unix  - - n 1000? 1 tlsmgr
rewrite   unix  - - n - - trivial-rewrite
bounce    unix  - - n - 0 bounce
defer     unix  - - n - 0 bounce
discard   unix  - - n - - discard
proxymap  unix  - - n - - proxymap
anvil     unix  - - n - 1 anvil
scache    unix  - - n - 1 scache
postlog   unix-dgram n - n - 1 postlogd
"""

SASL = """
pwcheck_method: auxprop
auxprop_plugin: sasldb
mech_list: PLAIN LOGIN CRAM-MD5
sasldb_path: {dir}/postfix/sasldb
"""

EXIM_CONF = """
exim_path = {exim}
spool_directory = {dir}/exim
log_file_path = {dir}/exim/%slog
pid_file_path = {dir}/exim/pid
primary_hostname = mx.lab.test
domainlist local_domains = lab.test
acl_smtp_rcpt = rcpt
acl_smtp_vrfy = accept
message_size_limit = 9000
chunking_advertise_hosts = *
tls_advertise_hosts =
queue_only
host_lookup =
rfc1413_hosts =
log_selector = +received_recipients
begin acl
rcpt:
  accept domains = lab.test
         local_parts = bob : carol : dave
  deny message = no such user
begin routers
drop:
  driver = redirect
  data = :blackhole:
begin transports
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_condition = ${{if eq{{$auth3}}{{secret}}}}
  server_set_id = $auth2
login:
  driver = plaintext
  public_name = LOGIN
  server_prompts = Username:: : Password::
  server_condition = ${{if eq{{$auth2}}{{secret}}}}
  server_set_id = $auth1
"""


def postfix(lab, truth):
    """Postfix: pipelining, chunks, refusals, AUTH, STARTTLS, long commands, clients that go."""
    home = os.path.join(lab.dir, "postfix")
    config = {"dir": lab.dir, "server": SERVER, "port": POSTFIX}
    lab.path("postfix/main.cf", POSTFIX_MAIN.format(**config))
    lab.path("postfix/master.cf", POSTFIX_MASTER.format(**config))
    lab.path("postfix/smtpd.conf", SASL.format(**config))
    os.makedirs(home + "/queue")
    os.makedirs(home + "/data")
    shutil.chown(home + "/data", "postfix")
    lab.run("s", ["sh", "-c", f"echo secret | saslpasswd2 -p -c -u lab.test -f {home}/sasldb bob"])
    shutil.chown(home + "/sasldb", "postfix")
    server = lab.start("s", ["postfix", "-c", home, "start-fg"])
    lab.wait_for("s", POSTFIX)
    _talk(lab, truth, POSTFIX, "postfix", 46001)
    lab.run("s", ["postfix", "-c", home, "stop"], check=False)
    stop(server)
    with open(server.log, encoding="utf-8", errors="replace") as log:
        _postfix_log(log.read(), truth)


def _postfix_log(log, truth):
    """Notes sender, message id and recipients of each mail that has been delivered."""
    mails = {}
    for queue, text in re.findall(r"postfix/\w+\[\d+\]: ([0-9A-F]{8,}): (.*)", log):
        mail = mails.setdefault(queue, {"to": []})
        for word, key in (("message-id", "message_id"), ("from", "mail_from")):
            if found := re.match(word + "=(.*?)(,|$)", text):
                mail[key] = found[1]
        if found := re.match("to=<(.*?)>", text):
            mail["to"].append(found[1])
    for queue, mail in mails.items():
        if mail["to"]:
            truth.fact(log="postfix", queue=queue, mail_from=mail["mail_from"].strip("<>"),
                       rcpt_to=sorted(mail["to"]), message_id=mail.get("message_id", ""))


def exim(lab, truth):
    """Exim: the same clients."""
    program = exim_program()
    os.makedirs(os.path.join(lab.dir, "exim"))
    shutil.chown(os.path.join(lab.dir, "exim"), "Debian-exim")
    config = lab.path("exim.conf", EXIM_CONF.format(dir=lab.dir, exim=program))
    server = lab.start("s", [program, "-C", config, "-bdf", "-oX", f"{SERVER}.{EXIM}"])
    lab.wait_for("s", EXIM)
    _talk(lab, truth, EXIM, "exim", 46101)
    stop(server)
    with open(os.path.join(lab.dir, "exim", "mainlog"), encoding="utf-8") as log:
        for line in log:
            if found := re.search(r' (\S+) <= ("[^"]*"\S+|\S+) .*?(?: id=(\S+))? for (.*)$', line):
                queue, sender, name, recipients = found.groups()
                truth.fact(log="exim", queue=queue, mail_from=sender.replace("<>", ""),
                           rcpt_to=sorted(recipients.split()),
                           message_id=f"<{name}>" if name else "")


def exim_program():
    """Debian has Postfix or Exim, never both: Exim may be anywhere (`dpkg-deb -x`)."""
    return os.environ.get("FLOWPIN_EXIM") or shutil.which("exim4")


def _talk(lab, truth, port, program, first):
    """Runs each conversation from a port of its own, and notes what it says of its mails."""
    names = lab.run("c", [sys.executable, "-B", TALK]).split()
    for own, name in enumerate(names, first):
        said = lab.client(own, [sys.executable, "-B", TALK, name, SERVER, port, own])
        # Debian's Exim has no certificate, and Postfix has.
        service = "tls" if (name, program) == ("starttls", "postfix") else "smtp"
        truth.connection(service, (CLIENT, own), (SERVER, port), program=f"{name} → {program}")
        for line in said.splitlines():
            if line.startswith("{"):
                truth.fact(port=own, talk=name, **json.loads(line))
    time.sleep(1)
