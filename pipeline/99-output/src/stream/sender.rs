//! The thread that sends: one connection after the other, and what was lost with the last one.

use super::peer::{Connection, Peer, TURN, is_wait};
use super::queue::{Next, Queue, Unsent};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) struct Sender {
    peer: Peer,
    connection: Option<Connection>,
    queue: Arc<Queue>,
    /// Lines that the peer may not have read: the last ones, oldest first.
    window: VecDeque<Arc<Vec<u8>>>,
    window_bytes: usize,
    /// How many of these were sent over this connection.
    sent: usize,
    /// When something was last sent, or the end came.
    moved: Instant,
    ended: Option<Instant>,
    /// Connections lost since the end came.
    lost_since: u32,
    connected: Instant,
    backoff: Duration,
}

/// More than two systems hold on the way, by their usual limits.
const WINDOW_BYTES: usize = 16 << 20;
/// A connection that lasts so long begins with a new measure of patience.
const LASTING: Duration = Duration::from_secs(10);
/// How many connections may be lost in the end of a run.
const LOST_MAX: u32 = 5;
const BACKOFF_MIN: Duration = Duration::from_millis(100);
const BACKOFF_MAX: Duration = Duration::from_secs(5);

impl Sender {
    pub(super) fn new(peer: Peer, connection: Option<Connection>, queue: Arc<Queue>) -> Self {
        Self {
            peer,
            connection,
            queue,
            window: VecDeque::new(),
            window_bytes: 0,
            sent: 0,
            moved: Instant::now(),
            ended: None,
            lost_since: 0,
            connected: Instant::now(),
            backoff: BACKOFF_MIN,
        }
    }

    /// Sends until the end has come and all is sent, or the peer stays away.
    pub(super) fn run(mut self) {
        while !self.is_hopeless() {
            let Some(mut connection) = self.connection.take() else {
                self.reconnect();
                continue;
            };
            match self.step(&mut connection) {
                Ok(true) => self.connection = Some(connection),
                // The last word is the peer's: it has not read all if it resets.
                Ok(false) => match connection.close() {
                    Ok(()) => return self.queue.close(Vec::new()),
                    Err(error) => self.lose(&error),
                },
                Err(error) => self.lose(&error),
            }
        }
        let unsent = self.window.into_iter().fold(Vec::new(), |mut all, lines| {
            all.extend_from_slice(&lines);
            all
        });
        self.queue.close(vec![Unsent::Lines(unsent)]);
    }

    /// Whether the run waits in vain for its end.
    fn is_hopeless(&mut self) -> bool {
        if !self.queue.is_ended() {
            return false;
        }
        let ended = *self.ended.get_or_insert_with(Instant::now);
        let moved = self.moved.max(ended);
        // A peer that reads slowly is waited for, unless the user wants the run to stop.
        let since = if self.queue.is_stopped() {
            ended
        } else {
            moved
        };
        since.elapsed() > self.queue.patience() || self.lost_since >= LOST_MAX
    }

    fn lose(&mut self, error: &io::Error) {
        self.sent = 0;
        self.lost_since += u32::from(self.ended.is_some());
        self.queue.away(error);
        // A peer that resets each connection is not asked more and more often.
        if self.connected.elapsed() > LASTING {
            self.backoff = BACKOFF_MIN;
        }
        self.pause();
    }

    fn reconnect(&mut self) {
        match self.peer.connect() {
            Ok(connection) => {
                self.connection = Some(connection);
                self.connected = Instant::now();
                self.queue.back();
            }
            Err(error) => {
                self.queue.away(&error);
                self.pause();
            }
        }
    }

    fn pause(&mut self) {
        match self.queue.is_ended() {
            true => std::thread::sleep(BACKOFF_MIN),
            false => self.queue.pause(self.backoff),
        }
        self.backoff = (self.backoff * 2).min(BACKOFF_MAX);
    }

    /// Sends the next lines; false if there are no more.
    fn step(&mut self, connection: &mut Connection) -> io::Result<bool> {
        if let Some(lines) = self.window.get(self.sent) {
            let lines = Arc::clone(lines);
            self.send(connection, &lines)?;
            self.sent += 1;
            self.trim();
            return Ok(true);
        }
        let lines = match self.queue.take(TURN) {
            Next::Lines(lines) => lines,
            Next::Segment(segment) => {
                let lines = segment.lines();
                let lines = lines.inspect_err(|error| self.queue.unreadable(&segment, error));
                let Ok(lines) = lines else {
                    return Ok(true);
                };
                // The window has its lines now, which go to the spool again if all else fails.
                self.queue.done(&segment);
                lines
            }
            Next::Nothing => return Ok(true),
            Next::End => return Ok(false),
        };
        self.window_bytes += lines.len();
        self.window.push_back(Arc::new(lines));
        Ok(true)
    }

    /// Forgets what is sent, and read by all that is known of systems.
    fn trim(&mut self) {
        while self.sent > 0 && self.window_bytes > WINDOW_BYTES {
            let Some(oldest) = self.window.pop_front() else {
                return;
            };
            self.window_bytes -= oldest.len();
            self.sent -= 1;
        }
    }

    /// Sends lines as a whole.
    fn send(&mut self, connection: &mut Connection, lines: &[u8]) -> io::Result<()> {
        let mut rest = lines;
        while !rest.is_empty() {
            match connection.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    rest = rest.get(count..).unwrap_or_default();
                    self.moved = Instant::now();
                }
                Err(error) if is_wait(&error) => {
                    if self.is_hopeless() {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
