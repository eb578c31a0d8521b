//! A real Kafka for tests: one broker in a folder of its own, started, killed, and read.
//!
//! The jars come by Maven, once; where Java, Maven or the jars are missing, there is no broker, and
//! the test says so.

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
    child: Option<Child>,
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
        let started = Self::prepare(cache, folder).and_then(|mut broker| {
            broker.resume()?;
            Ok(broker)
        });
        started
            .inspect_err(|why| corpus::skip("Kafka", &why.to_string()))
            .ok()
    }

    fn prepare(cache: &Path, folder: &Path) -> io::Result<Self> {
        let jars = cache.join("jars");
        fs::create_dir_all(&jars)?;
        fs::create_dir_all(folder)?;
        let pom = cache.join("pom.xml");
        fs::write(&pom, include_str!("pom.xml"))?;
        let copied = Command::new("mvn")
            .args(["-q", "-B", "-o", "dependency:copy-dependencies", "-f"])
            .arg(&pom)
            .arg(format!("-DoutputDirectory={}", jars.display()))
            .output()?;
        if !copied.status.success() {
            let online = Command::new("mvn")
                .args(["-q", "-B", "dependency:copy-dependencies", "-f"])
                .arg(&pom)
                .arg(format!("-DoutputDirectory={}", jars.display()))
                .stdout(Stdio::null())
                .status()?;
            if !online.success() {
                return Err(io::Error::other("Maven does not get its jars"));
            }
        }
        let ports = [free_port()?, free_port()?];
        let broker = Self {
            folder: folder.to_owned(),
            classes: format!("{}/*", jars.display()),
            port: ports[0],
            child: None,
        };
        fs::write(broker.properties(), settings(folder, ports))?;
        let log = "<Configuration><Loggers><Root level=\"error\"/></Loggers></Configuration>";
        fs::write(folder.join("log4j2.xml"), log)?;
        let formatted = broker
            .java("kafka.tools.StorageTool")
            .args(["format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c"])
            .arg(broker.properties())
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

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn settings(folder: &Path, [port, controller]: [u16; 2]) -> String {
    format!(
        "process.roles=broker,controller\n\
         node.id=1\n\
         controller.quorum.voters=1@127.0.0.1:{controller}\n\
         listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}\n\
         advertised.listeners=PLAINTEXT://127.0.0.1:{port}\n\
         controller.listener.names=CONTROLLER\n\
         log.dirs={}\n\
         num.partitions=4\n\
         offsets.topic.replication.factor=1\n\
         transaction.state.log.replication.factor=1\n\
         transaction.state.log.min.isr=1\n\
         group.initial.rebalance.delay.ms=0\n",
        folder.join("data").display()
    )
}
