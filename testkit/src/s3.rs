//! A server that speaks S3, for tests: moto, which keeps objects in memory, behind a proxy that can
//! be cut.

use crate::corpus;
use crate::python::Environment;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// A server, which ends with its value.
#[derive(Debug)]
pub struct Server {
    python: PathBuf,
    child: Child,
    /// The server's own address, and the proxy's.
    port: u16,
    proxy_port: u16,
    is_cut: Arc<AtomicBool>,
}

/// How long the server may take to start, on a busy machine.
const START: Duration = Duration::from_secs(60);

impl Server {
    /// Starts a server, with an environment below the target folder; says why if it cannot.
    pub fn start() -> Option<Self> {
        let environment = Environment {
            folder: &corpus::workspace().join("target/s3-python"),
            packages: &["moto[server]==5.2.5"],
            modules: "boto3, flask, moto",
            what: "S3",
        };
        let started = Self::start_by(environment.python()?);
        started
            .inspect_err(|why| corpus::skip("S3", &why.to_string()))
            .ok()
    }

    fn start_by(python: PathBuf) -> io::Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let child = Command::new(python.with_file_name("moto_server"))
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let is_cut = Arc::new(AtomicBool::new(false));
        let proxy_port = proxy(port, Arc::clone(&is_cut))?;
        let server = Self {
            python,
            child,
            port,
            proxy_port,
            is_cut,
        };
        let begun = Instant::now();
        while begun.elapsed() < START {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(server);
            }
            sleep(Duration::from_millis(50));
        }
        Err(io::Error::other("the server does not listen"))
    }

    /// What a program has to find in its environment.
    pub fn environment(&self) -> Vec<(String, String)> {
        let url = format!("http://localhost:{}", self.proxy_port);
        let all = [
            ("AWS_ENDPOINT_URL", url.as_str()),
            ("AWS_ACCESS_KEY_ID", "testing"),
            ("AWS_SECRET_ACCESS_KEY", "testing"),
            ("AWS_REGION", "us-east-1"),
        ];
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        all.map(owned).to_vec()
    }

    /// Whether connections fail from now on; those that are open end.
    pub fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::SeqCst);
    }

    /// Makes a bucket.
    ///
    /// # Errors
    /// The server refuses.
    pub fn make(&self, bucket: &str) -> io::Result<()> {
        self.python(&format!("s3.create_bucket(Bucket={bucket:?})"), None)
    }

    /// All objects of a bucket.
    ///
    /// # Errors
    /// The server refuses.
    pub fn objects(&self, bucket: &str, folder: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
        let script = format!(
            "for page in s3.get_paginator('list_objects_v2').paginate(Bucket={bucket:?}):\n    \
                 for one in page.get('Contents', []):\n        \
                     path = pathlib.Path(sys.argv[1]) / one['Key']\n        \
                     path.parent.mkdir(parents=True, exist_ok=True)\n        \
                     s3.download_file({bucket:?}, one['Key'], str(path))\n"
        );
        fs::create_dir_all(folder)?;
        self.python(&script, Some(folder))?;
        crate::product::files(folder)
    }

    /// How many uploads in parts were begun and never ended.
    ///
    /// # Errors
    /// There are any; the server refuses.
    pub fn check_uploads(&self, bucket: &str) -> io::Result<()> {
        let script =
            format!("assert not s3.list_multipart_uploads(Bucket={bucket:?}).get('Uploads')");
        self.python(&script, None)
    }

    fn python(&self, script: &str, folder: Option<&Path>) -> io::Result<()> {
        let head = format!(
            "import boto3, pathlib, sys\n\
             s3 = boto3.client('s3', endpoint_url='http://127.0.0.1:{}',\n    \
                 region_name='us-east-1', aws_access_key_id='testing',\n    \
                 aws_secret_access_key='testing')\n",
            self.port
        );
        let done = Command::new(&self.python)
            .args(["-c", &(head + script)])
            .args(folder)
            .output()?;
        match done.status.success() {
            true => Ok(()),
            false => {
                let why = String::from_utf8_lossy(&done.stderr).into_owned();
                Err(io::Error::other(why))
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Hands connections on to a port, until they are cut; where it listens.
fn proxy(to: u16, is_cut: Arc<AtomicBool>) -> io::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            if is_cut.load(Ordering::SeqCst) {
                continue;
            }
            let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else {
                continue;
            };
            let pair = (client.try_clone(), server.try_clone());
            let (Ok(from_client), Ok(from_server)) = pair else {
                continue;
            };
            for (from, onto) in [(from_client, server), (from_server, client)] {
                let is_cut = Arc::clone(&is_cut);
                thread::spawn(move || hand_on(from, onto, &is_cut));
            }
        }
    });
    Ok(port)
}

fn hand_on(mut from: TcpStream, mut to: TcpStream, is_cut: &AtomicBool) {
    let mut bytes = vec![0; 64 << 10];
    loop {
        match from.read(&mut bytes) {
            Ok(len @ 1..) if !is_cut.load(Ordering::SeqCst) => {
                let part = bytes.get(..len).unwrap_or_default();
                if to.write_all(part).is_err() {
                    break;
                }
            }
            _ => break,
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
