//! Parquet files to a bucket of S3: each grows on disk as any other, and is put when it is whole.
//!
//! ```text
//!  Writers ─► file in the folder for staging ─ whole ─► queue ─► a thread ─► bucket
//!                                └ until it is in the bucket
//! ```
//!
//! Owns what is whole and not in the bucket yet. Guarantees that objects appear whole, that a file
//! is removed after its object is there and not before, unless it is counted, and that files that
//! wait stay below a cap. What Parquet is, is the files' matter (`files`).

mod queue;
mod sender;
mod staging;
mod store;
#[cfg(test)]
mod tests;

use crate::files::FileInfo;
use crate::{OutputError, StreamHooks};
use flowpin_config::{OutputPlan, PeerAddress};
use flowpin_disk::Reads;
use object_store::path::Path as Key;
use queue::{Job, Queue};
use sender::Sender;
use staging::{Left, Staging};
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use store::{Store, Trouble};

/// A bucket that is open.
pub(crate) struct Bucket {
    place: Place,
    staging: Staging,
    queue: Arc<Queue>,
    sender: Option<JoinHandle<()>>,
    /// Lost records that were counted already.
    counted: u64,
}

/// Where objects go.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    bucket: String,
    prefix: String,
}

impl Place {
    fn of(text: &str) -> Option<Self> {
        match text.trim().parse() {
            Ok(PeerAddress::Bucket { bucket, prefix }) => Some(Self { bucket, prefix }),
            _ => None,
        }
    }

    /// The object of a file.
    fn key(&self, file: &Path) -> Key {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let parts = self.prefix.split('/').filter(|part| !part.is_empty());
        parts.chain([name.as_ref()]).collect()
    }
}

impl Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bucket, prefix } = self;
        match prefix.is_empty() {
            true => write!(out, "s3://{bucket}"),
            false => write!(out, "s3://{bucket}/{prefix}"),
        }
    }
}

impl Bucket {
    /// Asks for the bucket of a plan, and begins to put what earlier runs have left.
    ///
    /// # Errors
    /// The bucket is away, and records may not wait for it; it is not to be used so; the folder for
    /// staging cannot be made.
    pub(crate) fn open(
        plan: &OutputPlan,
        bucket: &str,
        prefix: &str,
        reads: &Reads,
        hooks: StreamHooks,
    ) -> Result<Self, OutputError> {
        let place = Place {
            bucket: bucket.to_owned(),
            prefix: prefix.to_owned(),
        };
        let address = place.to_string();
        let unusable = |why| OutputError::Unusable {
            address: address.clone(),
            why,
        };
        let store = Store::open(bucket).map_err(unusable)?;
        let away = match store.is_empty(prefix) {
            Ok(is_empty) if is_empty || plan.replace => None,
            Ok(_) => return Err(unusable(NOT_EMPTY.to_owned())),
            Err(Trouble::Refused(why)) => return Err(unusable(why)),
            Err(Trouble::Away(why)) if !store::has_credentials() => {
                let why = format!(
                    "there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY \
                     ({why})"
                );
                return Err(unusable(why));
            }
            Err(Trouble::Away(why)) => Some(why),
            Err(Trouble::File(error)) => Some(error.to_string()),
        };
        let failed = |source| OutputError::Away {
            address: address.clone(),
            source,
        };
        if let Some(why) = away.as_ref().filter(|_| plan.spool.is_none()) {
            return Err(failed(std::io::Error::other(why.clone())));
        }
        let (staging, left) = Staging::open(plan.spool.as_deref(), &place, reads)?;
        let queue = Arc::new(Queue::new(plan, hooks, &address));
        for Left {
            folder,
            place,
            files,
        } in left
        {
            let folder: Arc<Path> = folder.into();
            let jobs = files
                .into_iter()
                .map(|file| Job::left(file, &folder, &place));
            queue.push_left(jobs);
        }
        if let Some(why) = away {
            queue.away(&why);
        }
        let sender = Sender::new(store, place.clone(), Arc::clone(&queue));
        let thread = Builder::new().name("bucket".into());
        let sender = thread.spawn(move || sender.run()).map_err(failed)?;
        Ok(Self {
            place,
            staging,
            queue,
            sender: Some(sender),
            counted: 0,
        })
    }

    /// The folder in which files grow.
    pub(crate) fn folder(&self) -> &Path {
        &self.staging.folder
    }

    /// Puts a file that is whole. Waits, if too much waits already and the run may.
    pub(crate) fn put(&self, file: &FileInfo) {
        self.queue.push(Job::new(file, &self.place));
    }

    /// What a file is called for the user: its object.
    pub(crate) fn shown(&self, file: &Path) -> PathBuf {
        let place = Place {
            prefix: String::new(),
            ..self.place.clone()
        };
        format!("{place}/{}", self.place.key(file)).into()
    }

    /// Records lost since the last call.
    pub(crate) fn newly_lost(&mut self) -> u64 {
        let lost = self.queue.lost();
        let new = lost - self.counted;
        self.counted = lost;
        new
    }

    /// All files are whole: waits until they are in the bucket, as long as that moves on.
    ///
    /// # Errors
    /// The bucket stayed away; what waits is put by the next run.
    pub(crate) fn end(&mut self) -> Result<(), OutputError> {
        let Some(sender) = self.sender.take() else {
            return Ok(());
        };
        self.queue.end();
        // A panic has reported itself.
        let _ = sender.join();
        let bytes = self.queue.bytes();
        match bytes {
            0 => Ok(()),
            bytes => Err(OutputError::StayedAway {
                address: self.place.to_string(),
                spooled: Some(self.staging.base().to_owned()),
                bytes,
                lost: 0,
            }),
        }
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

const NOT_EMPTY: &str = "it has objects already, and those of two runs would be mixed: choose \
    another prefix, or --force to replace those that have the same names";
