//! Settings that change while a live run goes on (USR2): its filter, and its rules.
//!
//! ```text
//!  USR2 ─► thread: read settings ─► compile ─┬─► filter ─► interfaces, all or none
//!                                            └─► rules ──► Exchange ─► workers, at their next tick
//! ```
//!
//! Everything that may fail happens before anything changes, on a thread beside those of the run:
//! it costs them nothing but processor time and memory. So a reload that fails leaves the run as it
//! was.

use super::ground;
use crate::Control;
use crate::exchange::Exchange;
use crate::worker::identify::{database, left_out};
use core::time::Duration;
use flowpin_config::{Plan, Settings};
use flowpin_detect::{Database, Inbox};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

/// Reads a run's settings again.
type Read = Arc<dyn Fn() -> Result<Plan, String> + Send + Sync>;

/// Requests to read settings again, and what came of them.
#[derive(Clone, Default)]
pub(crate) struct Reloads {
    read: Option<Read>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    done: AtomicU64,
    failed: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    is_asked: bool,
    is_over: bool,
}

impl core::fmt::Debug for Reloads {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.debug_tuple("Reloads").field(&self.shared).finish()
    }
}

impl Reloads {
    pub(crate) fn reading(
        &self,
        read: impl Fn() -> Result<Plan, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            read: Some(Arc::new(read)),
            shared: Arc::clone(&self.shared),
        }
    }

    pub(crate) fn ask(&self) {
        self.state().is_asked = true;
        self.shared.changed.notify_all();
    }

    // Relaxed: sums for display.
    pub(crate) fn counts(&self) -> [u64; 2] {
        let Shared { done, failed, .. } = &*self.shared;
        [done, failed].map(|count| count.load(Ordering::Relaxed))
    }

    fn end(&self) {
        self.state().is_over = true;
        self.shared.changed.notify_all();
    }

    /// Waits for the next request; false at the end of the run.
    fn wait(&self) -> bool {
        let mut state = self.state();
        loop {
            if state.is_over {
                return false;
            }
            if core::mem::take(&mut state.is_asked) {
                return true;
            }
            let woken = self.shared.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The plan of a run that may take rules later: with none, which can be replaced.
pub(crate) fn open_to_rules(plan: &Plan, control: &Control) -> Option<Plan> {
    let compares = plan.streams.enabled && plan.identify.enabled && plan.parse.enabled;
    let is_it = plan.is_live() && control.reloads().read.is_some() && compares;
    (is_it && plan.rules.loaded.is_none()).then(|| {
        let mut plan = plan.clone();
        plan.rules.loaded = Some(Arc::default());
        plan
    })
}

/// What of a run can change.
pub(crate) struct Reloader<'a> {
    pub(crate) control: &'a Control,
    /// As the run has begun.
    pub(crate) plan: &'a Plan,
    /// Its rules, if there are any, and where alerts of packets that belong to no connection go.
    pub(crate) rules: Option<(Exchange, Inbox)>,
    /// The processors that the process may use.
    pub(crate) cpus: Vec<usize>,
}

/// Runs `work`, and beside it what reloads settings.
pub(crate) fn beside<T>(reloader: Option<Reloader<'_>>, work: impl FnOnce() -> T) -> T {
    let Some((reloader, read)) = reloader.and_then(|one| {
        let read = one.control.reloads().read.clone()?;
        Some((one, read))
    }) else {
        return work();
    };
    thread::scope(|scope| {
        let reloads = reloader.control.reloads();
        let thread = thread::Builder::new().name("reload".to_owned());
        // Without a thread there are no reloads.
        let _started = thread.spawn_scoped(scope, move || reloader.keep(&*read));
        let _end = End(reloads);
        work()
    })
}

/// Ends the thread when the run is over, however that ends.
struct End<'a>(&'a Reloads);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Reloader<'_> {
    /// Reloads whenever it is asked to, until the run is over.
    fn keep(self, read: &dyn Fn() -> Result<Plan, String>) {
        // Not where the thread that has started this one is pinned to.
        let _unpinned = flowpin_cpu::allow_current_thread(&self.cpus);
        let mut filter = self.plan.filter.clone();
        let reloads = self.control.reloads();
        while reloads.wait() {
            let (count, line) = match self.reload(read, &mut filter) {
                Ok(what) => (&reloads.shared.done, format!("reloaded: {what}")),
                Err(why) => {
                    let line = format!("not reloaded: {why}; the run goes on as it was");
                    (&reloads.shared.failed, line)
                }
            };
            count.fetch_add(1, Ordering::Relaxed);
            self.control.tell(&line);
        }
    }

    /// Takes the settings as they are now; what it has taken.
    fn reload(
        &self,
        read: &dyn Fn() -> Result<Plan, String>,
        filter: &mut String,
    ) -> Result<String, String> {
        let plan = read().map_err(|why| self.explained(why))?;
        let rules = self.compile(&plan)?;
        let mut taken = Vec::new();
        if plan.filter != *filter {
            let replaced = self.control.live_filter().replace(&plan.filter);
            replaced.map_err(|error| error.to_string())?;
            filter.clone_from(&plan.filter);
            taken.push(match filter.is_empty() {
                true => "no filter".to_owned(),
                false => "another filter".to_owned(),
            });
        }
        if let Some(database) = rules {
            taken.push(self.exchange(database));
        }
        let kept = self.kept(&plan);
        let mut text = match taken.is_empty() {
            true => "nothing has changed that can".to_owned(),
            false => taken.join(", "),
        };
        if !kept.is_empty() {
            let kept = kept.join(", ");
            text.push_str(&format!("; not before the next start: {kept}"));
        }
        Ok(text)
    }

    /// The rules of a plan, prepared; none if the run has none.
    fn compile(&self, plan: &Plan) -> Result<Option<Database>, String> {
        let Some((exchange, _)) = &self.rules else {
            return Ok(None);
        };
        if let Some(hash) = missing(self.plan, plan) {
            return Err(format!(
                "the rules need {hash}, which the run has begun without"
            ));
        }
        if plan.rules.loaded.is_none() && exchange.current().set().rules.is_empty() {
            return Ok(None);
        }
        let database = database(plan).ok_or("a run that has rules goes on with some")?;
        let database = database.instead_of(&exchange.current());
        database.map(Some).ok_or_else(|| {
            "the numbers of rules are used up after so many reloads: start the run again".to_owned()
        })
    }

    /// Gives rules to all who have some.
    fn exchange(&self, database: Database) -> String {
        let database = Arc::new(database);
        left_out(&database).for_each(|line| self.control.tell(&line));
        let count = database.set().rules.len() - database.refused().len();
        if let Some((exchange, inbox)) = &self.rules {
            // Freed here, and not by the last worker that lets go of them.
            let _before = exchange.current();
            inbox.replace(&database);
            exchange.put(database);
            let since = Instant::now();
            // At the latest at the next second's statistics.
            while !exchange.is_taken() && since.elapsed() < PATIENCE {
                thread::sleep(LOOK_EVERY);
            }
        }
        let mebibytes = flowpin_cpu::peak_resident_bytes() >> 20;
        let rules = if count == 1 { "rule" } else { "rules" };
        let pause = (self.rules.as_ref()).map_or(Duration::ZERO, |(exchange, _)| exchange.pause());
        let pause = pause.as_secs_f64() * 1e3;
        format!("{count} {rules} (peak memory {mebibytes} MiB, packets waited {pause:.1} ms)")
    }

    /// Settings that differ and cannot change.
    fn kept(&self, plan: &Plan) -> Vec<String> {
        let settings = Settings::from(self.plan);
        let mut names = settings.differing(&Settings::from(plan));
        names.retain(|name| {
            let is_of_rules = name.starts_with("[rules]") && self.rules.is_some();
            // What rules turn on is no setting of the user.
            let is_turned_on = [
                "[files] md5",
                "[files] sha1",
                "[files] sha256",
                "[parse] ja3",
            ];
            let is_taken = ["[input] filter", "[input] filter_file"];
            !is_of_rules && !is_taken.iter().chain(&is_turned_on).any(|one| one == name)
        });
        names
    }

    /// With a reason why a file cannot be read that could be.
    fn explained(&self, why: String) -> String {
        let live = &self.plan.live;
        if !why.contains("ermission denied") || !live.confine && live.user.is_none() {
            return why;
        }
        let folders = ground::read_folders(self.plan);
        let folders: Vec<_> = folders
            .iter()
            .map(|one| one.display().to_string())
            .collect();
        let user = live.user.as_deref().map(|user| format!(" as {user}"));
        let user = user.unwrap_or_default();
        format!("{why} (this run reads{user} below {})", folders.join(", "))
    }
}

/// What rules of another plan need, and the run does not have.
fn missing(has: &Plan, needs: &Plan) -> Option<&'static str> {
    let pairs = [
        (
            has.files.md5,
            needs.files.md5,
            "MD5 of files (`--hash md5`)",
        ),
        (
            has.files.sha1,
            needs.files.sha1,
            "SHA-1 of files (`--hash sha1`)",
        ),
        (
            has.files.sha256,
            needs.files.sha256,
            "SHA-256 of files (`--hash sha256`)",
        ),
        (has.parse.ja3, needs.parse.ja3, "JA3 (`--ja3`)"),
    ];
    let lacks = pairs.into_iter().find(|&(has, needs, _)| needs && !has);
    lacks.map(|(_, _, name)| name)
}

/// A worker takes rules within a second; it may be at work for longer.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(10);
