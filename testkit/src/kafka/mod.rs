//! A real Kafka for tests: one broker in a folder of its own, started, killed, and read.
//!
//! The jars come by Maven, once; where Java, Maven or the jars are missing, there is no broker, and
//! the test says so. A broker may have a second address, with logins or encryption, beside the
//! plain one by which its topics are read.

use crate::corpus;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A broker, which ends with its value.
#[derive(Debug)]
pub struct Broker {
    folder: PathBuf,
    classes: String,
    port: u16,
    door_port: u16,
    child: Option<Child>,
}

/// What a broker has that others have not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras<'a> {
    /// A second address, by this protocol as Kafka names it: `SASL_PLAINTEXT`, `SSL`, `SASL_SSL`.
    pub door: Option<&'a str>,
    /// More lines for the broker's properties.
    pub properties: &'a str,
    /// A user that logs in by SCRAM, as the storage tool takes it:
    /// `SCRAM-SHA-512=[name=…,password=…]`.
    pub scram: Option<&'a str>,
}

/// A message of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The partition that it is in.
    pub partition: u32,
    /// Its key; `null` if it has none.
    pub key: String,
    /// Its text.
    pub text: String,
}

/// How long a broker may take to start, on a busy machine.
const START: Duration = Duration::from_secs(60);

impl Broker {
    /// Starts a broker with its data in `folder`, and jars that are kept in `cache`; says why if it
    /// cannot.
    pub fn start(cache: &Path, folder: &Path) -> Option<Self> {
        Self::start_with(cache, folder, Extras::default())
    }

    /// As [`start`](Self::start), with more.
    pub fn start_with(cache: &Path, folder: &Path, extras: Extras<'_>) -> Option<Self> {
        let started = Self::prepare(cache, folder, extras).and_then(|mut broker| {
            broker.resume()?;
            Ok(broker)
        });
        started
            .inspect_err(|why| corpus::skip("Kafka", &why.to_string()))
            .ok()
    }

    fn prepare(cache: &Path, folder: &Path, extras: Extras<'_>) -> io::Result<Self> {
        let jars = fetch(cache)?;
        fs::create_dir_all(folder)?;
        let ports = [free_port()?, free_port()?, free_port()?];
        let broker = Self {
            folder: folder.to_owned(),
            classes: format!("{}/*", jars.display()),
            port: ports[0],
            door_port: ports[2],
            child: None,
        };
        fs::write(broker.properties(), settings(folder, ports, extras))?;
        let log = "<Configuration><Loggers><Root level=\"error\"/></Loggers></Configuration>";
        fs::write(folder.join("log4j2.xml"), log)?;
        let formatted = broker
            .java("kafka.tools.StorageTool")
            .args(["format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c"])
            .arg(broker.properties())
            .args(extras.scram.iter().flat_map(|user| ["--add-scram", user]))
            .output()?;
        match formatted.status.success() {
            true => Ok(broker),
            false => {
                let why = String::from_utf8_lossy(&formatted.stderr).into_owned();
                Err(io::Error::other(why))
            }
        }
    }

    fn properties(&self) -> PathBuf {
        self.folder.join("server.properties")
    }

    fn java(&self, class: &str) -> Command {
        let mut java = Command::new("java");
        java.args(["-cp", &self.classes, "-Xmx400m", "-XX:+UseSerialGC"]);
        let log = self.folder.join("log4j2.xml");
        java.arg(format!("-Dlog4j2.configurationFile={}", log.display()));
        java.arg(class);
        java
    }

    /// The broker's address.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Its second address, for which it has to have a door.
    pub fn door_address(&self) -> String {
        format!("127.0.0.1:{}", self.door_port)
    }

    /// Starts it again, with the data that it has.
    ///
    /// # Errors
    /// It does not listen in time.
    pub fn resume(&mut self) -> io::Result<()> {
        let log = File::create(self.folder.join("broker.log"))?;
        let child = self
            .java("kafka.Kafka")
            .arg(self.properties())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        self.child = Some(child);
        let begun = Instant::now();
        while begun.elapsed() < START {
            if TcpStream::connect(self.address()).is_ok() {
                return Ok(());
            }
            sleep(Duration::from_millis(100));
        }
        Err(io::Error::other("the broker does not listen"))
    }

    /// Kills it as SIGKILL does: nothing is flushed or told.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// All messages of a topic, of each partition in order, as Kafka's own consumer reads them.
    ///
    /// # Errors
    /// The consumer cannot be started, or writes no text.
    pub fn read(&self, topic: &str) -> io::Result<Vec<Message>> {
        let mut child = self
            .java("org.apache.kafka.tools.consumer.ConsoleConsumer")
            .args(["--bootstrap-server", &self.address(), "--topic", topic])
            .args(["--from-beginning", "--timeout-ms", "8000"])
            .args(["--formatter-property", "print.key=true"])
            .args(["--formatter-property", "print.partition=true"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let out = child.stdout.take();
        let out = out.ok_or_else(|| io::Error::other("no output"))?;
        let mut messages = Vec::new();
        for line in BufReader::new(out).lines() {
            let line = line?;
            // `Partition:2<tab>key<tab>text`
            let mut parts = line.splitn(3, '\t');
            let partition = parts.next().and_then(|part| part.split(':').nth(1));
            let (Some(partition), Some(key), Some(text)) = (
                partition.and_then(|number| number.parse().ok()),
                parts.next(),
                parts.next(),
            ) else {
                return Err(io::Error::other(line));
            };
            messages.push(Message {
                partition,
                key: key.to_owned(),
                text: text.to_owned(),
            });
        }
        child.wait()?;
        Ok(messages)
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The folder of the jars, which Maven fetches if they are not there.
fn fetch(cache: &Path) -> io::Result<PathBuf> {
    let (jars, pom) = (cache.join("jars"), cache.join("pom.xml"));
    fs::create_dir_all(&jars)?;
    fs::write(&pom, include_str!("pom.xml"))?;
    let is_done = |options: &[&str]| {
        let mut maven = Command::new("mvn");
        maven.args(options).arg("dependency:copy-dependencies");
        maven.arg("-f").arg(&pom);
        maven.arg(format!("-DoutputDirectory={}", jars.display()));
        maven.output().map(|output| output.status.success())
    };
    // Without a network first: most of the time they are there.
    if is_done(&["-q", "-B", "-o"])? || is_done(&["-q", "-B"])? {
        return Ok(jars);
    }
    Err(io::Error::other("Maven does not get its jars"))
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn settings(folder: &Path, [port, controller, door]: [u16; 3], extras: Extras<'_>) -> String {
    let by = extras.door.unwrap_or("SASL_PLAINTEXT");
    let door = extras.door.map(|by| format!(",{by}://127.0.0.1:{door}"));
    let door = door.unwrap_or_default();
    format!(
        "process.roles=broker,controller\n\
         node.id=1\n\
         controller.quorum.voters=1@127.0.0.1:{controller}\n\
         listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}{door}\n\
         advertised.listeners=PLAINTEXT://127.0.0.1:{port}{door}\n\
         controller.listener.names=CONTROLLER\n\
         listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,{by}:{by}\n\
         log.dirs={}\n\
         num.partitions=4\n\
         offsets.topic.replication.factor=1\n\
         transaction.state.log.replication.factor=1\n\
         transaction.state.log.min.isr=1\n\
         group.initial.rebalance.delay.ms=0\n\
         {}\n",
        folder.join("data").display(),
        extras.properties
    )
}
