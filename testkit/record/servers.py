"""The servers of the lab: real programs from Debian, each on its usual port."""

import subprocess

from lab import SERVER, SERVER6

NGINX = """
daemon off; user root; worker_processes 1; pid {dir}/nginx.pid; error_log {dir}/nginx.err;
events {{ }}
http {{
  log_format lab '$remote_port\t$request\t$status\t$body_bytes_sent';
  access_log {dir}/nginx.log lab; default_type text/plain; keepalive_timeout 20s;
  types {{ text/html html; application/json json; image/png png; }}
  client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy; fastcgi_temp_path {dir}/fcgi;
  uwsgi_temp_path {dir}/uwsgi; scgi_temp_path {dir}/scgi;
  gzip on; gzip_min_length 100; gzip_types text/plain application/json;
  server {{ listen 127.0.0.1:9000; access_log off; location / {{ return 201 "stored\\n"; }} }}
  server {{
    listen 80; listen [::]:80; listen 443 ssl http2; root {dir}/www;
    ssl_certificate {dir}/tls.crt; ssl_certificate_key {dir}/tls.key;
    location /upload {{ proxy_pass http://127.0.0.1:9000/; }}
    location /moved {{ return 302 /index.html; }}
    location /slow/ {{ alias {dir}/www/; limit_rate 40k; }}
  }}
}}
"""

PAGE = "<!doctype html><title>Lab</title><h1>The lab's page</h1>\n" + "".join(
    f"<p>Paragraph {n} of a page long enough to be worth compressing.</p>\n" for n in range(60))

DNS = """
no-daemon
user=root
pid-file=
port=53
no-resolv
no-hosts
no-dhcp-interface=s0
edns-packet-max=4096
local=/lab.test/
host-record=www.lab.test,{server},{server6}
host-record=mail.lab.test,{server}
cname=web.lab.test,www.lab.test
mx-host=lab.test,mail.lab.test,10
srv-host=_sip._udp.lab.test,www.lab.test,5060
txt-record=small.lab.test,"v=spf1 -all"
{big}
"""

SSHD = """
Port 22
HostKey {dir}/ssh_host_ed25519_key
AuthorizedKeysFile {dir}/id_ed25519.pub
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
PidFile none
Subsystem sftp internal-sftp
"""

FTP = """
listen=YES
background=NO
anonymous_enable=YES
local_enable=NO
write_enable=YES
anon_upload_enable=YES
anon_root={dir}/ftp
secure_chroot_dir={dir}/empty
connect_from_port_20=YES
pasv_min_port=30021
pasv_max_port=30029
seccomp_sandbox=NO
xferlog_enable=NO
"""


def start_all(lab):
    """Starts every server and waits until all listen."""
    config = {"dir": lab.dir, "server": SERVER, "server6": SERVER6}
    lab.path("www/index.html", PAGE)
    lab.path("www/data.json", '{"rows": [' + ",".join(str(n * n) for n in range(900)) + "]}")
    lab.path("www/small.txt", "thirteen byte")
    lab.path("www/picture.png", bytes((n * 37 + n // 256) % 256 for n in range(24_000)))
    lab.path("www/medium.png", bytes((n * 91 + n // 77) % 256 for n in range(60_000)))
    lab.path("www/large.png", bytes((n * 73 + n // 101) % 256 for n in range(250_000)))
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650",
                    "-subj", "/CN=www.lab.test", "-keyout", lab.path("tls.key"),
                    "-out", lab.path("tls.crt")], **quiet)
    lab.start("s", ["nginx", "-c", lab.path("nginx.conf", NGINX.format(**config))])

    big = "\n".join(f'txt-record=big.lab.test,"record {n:02d} {"x" * 180}"' for n in range(18))
    lab.start("s", ["dnsmasq", "-C", lab.path("dns.conf", DNS.format(big=big, **config))])

    for key in ("ssh_host_ed25519_key", "id_ed25519"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lab",
                        "-f", lab.path(key)], **quiet)
    subprocess.run(["mkdir", "-p", "/run/sshd"], check=True)
    lab.start("s", ["/usr/sbin/sshd", "-D", "-e", "-f",
                    lab.path("sshd.conf", SSHD.format(**config))])

    lab.path("ftp/readme.txt", "A file to fetch.\n" * 40)
    lab.path("empty/.keep", "")
    lab.start("s", ["vsftpd", lab.path("ftp.conf", FTP.format(**config), 0o600)])

    lab.start("s", ["/usr/bin/aiosmtpd", "-n", "-l", "0.0.0.0:25"])
    lab.start("s", ["redis-server", "--port", "6379", "--bind", "0.0.0.0", "--protected-mode",
                    "no", "--save", "", "--appendonly", "no", "--dir", lab.dir])
    mqtt = "listener 1883 0.0.0.0\nallow_anonymous true\nuser root\npersistence false\n"
    lab.start("s", ["mosquitto", "-c", lab.path("mqtt.conf", mqtt)])
    lab.start("s", ["sipp", "-sn", "uas", "-i", SERVER, "-p", "5060", "-nostdin",
                    "-skip_rlimit"], cwd=lab.dir, env={"TERM": "dumb", "PATH": "/usr/bin:/bin"})
    ntp = f"port 123\ncmdport 0\nlocal stratum 5\nallow all\npidfile {lab.dir}/chronyd.pid\n"
    lab.start("s", ["chronyd", "-x", "-d", "-u", "root", "-f", lab.path("ntp.conf", ntp)])
    for port in (80, 443, 22, 21, 25, 6379, 1883):
        lab.wait_for("s", port)
    for port in (53, 5060, 123):
        lab.wait_for("s", port, "u")
