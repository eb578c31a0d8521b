//! The thread that puts files, oldest first, until the bucket has them.

use super::Place;
use super::queue::{Job, Queue};
use super::staging::Staging;
use super::store::{Store, Trouble};
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) struct Sender {
    store: Store,
    /// The bucket that the store is for: earlier runs may have left files for another.
    place: Place,
    queue: Arc<Queue>,
    /// When a part was last put.
    moved: Instant,
    ended: Option<Instant>,
    backoff: Duration,
}

const BACKOFF_MIN: Duration = Duration::from_millis(100);
const BACKOFF_MAX: Duration = Duration::from_secs(5);

impl Sender {
    pub(super) fn new(store: Store, place: Place, queue: Arc<Queue>) -> Self {
        Self {
            store,
            place,
            queue,
            moved: Instant::now(),
            ended: None,
            backoff: BACKOFF_MIN,
        }
    }

    /// Puts files until the end has come and all are put, or the bucket stays away.
    pub(super) fn run(mut self) {
        while let Some(job) = self.queue.first() {
            match self.put(&job) {
                Ok(()) => {
                    // The object is there: without its file it is not put again.
                    let _ = fs::remove_file(&job.file);
                    self.settle(&job, false);
                    self.backoff = BACKOFF_MIN;
                    self.queue.back();
                }
                Err(Trouble::File(error)) => {
                    self.queue
                        .tell(&format!("cannot read {}: {error}", job.file.display()));
                    self.settle(&job, true);
                }
                // Another run's bucket may be gone for good: it does not hold up this run's.
                Err(Trouble::Refused(why)) if job.folder.is_some() => {
                    let (file, place) = (job.file.display(), &job.place);
                    self.queue
                        .tell(&format!("{file} stays there: {place}: {why}"));
                    self.queue.done(false);
                }
                // What was refused may be mended while the run goes on.
                Err(Trouble::Away(why) | Trouble::Refused(why)) => {
                    self.queue.away(&why);
                    if self.is_hopeless() {
                        return;
                    }
                    self.pause();
                }
            }
        }
    }

    fn put(&mut self, job: &Job) -> Result<(), Trouble> {
        let moved = &mut self.moved;
        let mut has_moved = || *moved = Instant::now();
        if job.place.bucket == self.place.bucket {
            self.store.put(&job.file, &job.place, &mut has_moved)?;
        } else {
            let store = Store::open(&job.place.bucket).map_err(Trouble::Refused)?;
            store.put(&job.file, &job.place, &mut has_moved)?;
        }
        has_moved();
        Ok(())
    }

    fn settle(&self, job: &Job, is_lost: bool) {
        self.queue.done(is_lost);
        if let Some(folder) = &job.folder {
            Staging::clear(folder);
        }
    }

    /// Whether the run waits in vain for its end.
    fn is_hopeless(&mut self) -> bool {
        if !self.queue.is_ended() {
            return false;
        }
        let ended = *self.ended.get_or_insert_with(Instant::now);
        self.moved.max(ended).elapsed() > self.queue.patience()
    }

    fn pause(&mut self) {
        match self.queue.is_ended() {
            true => std::thread::sleep(BACKOFF_MIN),
            false => self.queue.pause(self.backoff),
        }
        self.backoff = (self.backoff * 2).min(BACKOFF_MAX);
    }
}
