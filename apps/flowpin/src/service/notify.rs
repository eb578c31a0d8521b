//! systemd: that the run captures, that it still moves, and that it ends (sd_notify(3)).
//!
//! The watchdog is fed as long as the run moves, not as long as this thread does: a run that hangs
//! is started again.

use flowpin_engine::Control;
use std::env;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::thread::{self, Builder};
use std::time::Duration;

/// The service manager, if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Notifier(Option<Arc<UnixDatagram>>);

impl Notifier {
    /// The one that started this process, if it asked to be told.
    pub(crate) fn of_environment() -> Self {
        let path = env::var_os("NOTIFY_SOCKET");
        Self(path.and_then(|path| connect(path.as_bytes()).ok().map(Arc::new)))
    }

    /// The run captures; from here on, it is reported, as often as is asked for, that it moves.
    pub(crate) fn ready(&self, control: &Control) {
        self.tell("READY=1");
        let Some(every) = watchdog() else {
            return;
        };
        let (notifier, control) = (self.clone(), control.clone());
        let watch = move || {
            let mut last = control.pulses();
            loop {
                thread::sleep(every / 3);
                let now = control.pulses();
                if now != last {
                    last = now;
                    notifier.tell("WATCHDOG=1");
                }
            }
        };
        // Without the thread, the manager starts the run again: it says so itself.
        let _started = Builder::new().name("watchdog".to_owned()).spawn(watch);
    }

    /// The run ends.
    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1");
    }

    fn tell(&self, state: &str) {
        if let Some(socket) = &self.0 {
            // A manager that does not listen needs not be told.
            let _ = socket.send(state.as_bytes());
        }
    }
}

/// A path, or a name in the abstract namespace, which begins with `@`.
fn connect(path: &[u8]) -> io::Result<UnixDatagram> {
    let address = match path {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        path => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(path))?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address)?;
    Ok(socket)
}

/// How often the manager wants to hear, if it does.
fn watchdog() -> Option<Duration> {
    let micros = env::var("WATCHDOG_USEC").ok()?.parse().ok()?;
    (micros > 0).then(|| Duration::from_micros(micros))
}
