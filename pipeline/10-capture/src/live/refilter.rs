//! Another filter for interfaces that are open.
//!
//! ```text
//!  who asks ── compiles for each link ──► LiveFilter ──► who reads: attaches ── answers
//! ```
//!
//! Compiling may take a second, so it is not done where packets are read. Either all interfaces get
//! the filter or none.

use super::port::{Port, PortFilter, PortLink};
use crate::error::CaptureError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Where another filter is handed to a capture that goes on.
#[derive(Clone, Debug, Default)]
pub struct LiveFilter(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    places: Mutex<Places>,
    /// Whether a filter waits. Who reads looks at this often.
    is_asked: AtomicBool,
}

#[derive(Debug, Default)]
struct Places {
    /// The link of each interface, once they are open.
    links: Vec<PortLink>,
    asked: Option<Asked>,
}

/// A filter for each interface, and who waits for the answer.
#[derive(Debug)]
struct Asked {
    filters: Vec<PortFilter>,
    answer: Sender<Result<(), CaptureError>>,
}

impl LiveFilter {
    /// Gives all open interfaces another filter, and waits until they have it. Empty: none.
    ///
    /// # Errors
    /// It does not compile, or the kernel refuses it; the run has not looked for ten seconds. Then
    /// the filter before stays.
    pub fn replace(&self, expression: &str) -> Result<(), CaptureError> {
        let links = self.places().links.clone();
        let filters = links.iter().map(|&link| PortFilter::of(expression, link));
        let filters = filters.collect::<Result<_, _>>()?;
        let (answer, answered) = channel();
        self.places().asked = Some(Asked { filters, answer });
        self.0.is_asked.store(true, Ordering::Release);
        answered.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            // Too late for it now.
            match self.places().asked.take() {
                Some(_) => Err(CaptureError::NotRead),
                None => answered.try_recv().unwrap_or(Err(CaptureError::NotRead)),
            }
        })
    }

    /// Interfaces with these links are open.
    pub(super) fn open(&self, links: Vec<PortLink>) {
        self.places().links = links;
    }

    /// Gives the interfaces the filter that waits, if one does.
    // PERF: for each read.
    #[inline]
    pub(super) fn apply(&self, ports: &mut [Port]) {
        if self.0.is_asked.load(Ordering::Relaxed) {
            self.apply_asked(ports);
        }
    }

    #[cold]
    fn apply_asked(&self, ports: &mut [Port]) {
        self.0.is_asked.store(false, Ordering::Relaxed);
        let Some(asked) = self.places().asked.take() else {
            return;
        };
        // Who has asked may have lost its patience.
        let _heard = asked.answer.send(refilter(ports, asked.filters));
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        // Nothing panics while it holds this.
        self.0.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refilter(ports: &mut [Port], filters: Vec<PortFilter>) -> Result<(), CaptureError> {
    let mut before = Vec::new();
    for (at, filter) in filters.into_iter().enumerate() {
        let Some(port) = ports.get_mut(at).filter(|port| !port.is_gone) else {
            before.push(None);
            continue;
        };
        match port.refilter(filter) {
            Ok(one) => before.push(Some(one)),
            Err(error) => {
                for (port, one) in ports.iter_mut().zip(before) {
                    // The kernel had it a moment ago.
                    let _back = one.map(|one| port.refilter(one));
                }
                return Err(error);
            }
        }
    }
    Ok(())
}

/// A run that does nothing for so long is in trouble anyway.
const PATIENCE: Duration = Duration::from_secs(10);
