//! Making the logs of a plan, and those of its files that must be there from the start.

use super::{ColumnLog, MessageLog, State, Writers};
use crate::OutputError;
use crate::batch::TextFormat;
use crate::bucket::Bucket;
use crate::error::STDOUT;
use crate::files::batches::{BatchSink, Batches};
use crate::files::frames::{column_frame, eve_frame, message_frame};
use crate::files::log::Log;
use crate::files::once::Once;
use crate::files::parquet_logs::ParquetLogs;
use crate::files::rotation::Rotation;
use crate::files::storage::{Disk, Storage, Target};
use crate::files::writing::Hands;
use crate::files::{MessageCount, OutputSummary};
use crate::format::{Formats, MessageSchemas};
use crate::stream::Stream;
use flowpin_config::{OutputPlan, PeerAddress};
use flowpin_record::{RecordType, Shown};
use std::path::PathBuf;

impl Writers {
    /// Makes the directory and the main files of `plan`, so that what is wrong is said at once.
    ///
    /// # Errors
    ///
    /// The directory or a file cannot be made.
    ///
    /// # Examples
    ///
    /// ```
    /// use flowpin_config::{Format, OutputPlan};
    /// use flowpin_output::{Formatter, Merger, Writers};
    /// use flowpin_packet::Timestamp;
    ///
    /// let plan = OutputPlan { formats: vec![Format::None], ..OutputPlan::default() };
    /// let (mut formatter, mut merger) = (Formatter::new(&plan), Merger::new(1));
    /// let mut writers = Writers::open(&plan)?;
    /// // … the worker calls `formatter.conn(key, &record)`, as a `RecordSink` …
    /// merger.push(0, formatter.take_batch(Timestamp::MAX));
    /// merger.drain(&mut writers, |_, batch| formatter.recycle(batch))?;
    /// writers.finish()?;
    /// assert_eq!(writers.summary().written, [0; flowpin_record::RecordType::COUNT]);
    /// # Ok::<(), flowpin_output::OutputError>(())
    /// ```
    pub fn open(plan: &OutputPlan) -> Result<Self, OutputError> {
        Self::open_in(plan, Box::<Disk>::default())
    }

    /// Like [`Writers::open`], with files made by `storage`.
    ///
    /// # Errors
    ///
    /// The directory or a file cannot be made.
    pub fn open_in(plan: &OutputPlan, storage: Box<dyn Storage>) -> Result<Self, OutputError> {
        Self::open_all(plan, &MessageSchemas::default(), storage)
    }

    /// Like [`Writers::open_in`], and for messages of these kinds.
    ///
    /// # Errors
    ///
    /// The directory or a file cannot be made.
    pub fn with_messages(
        plan: &OutputPlan,
        schemas: &MessageSchemas,
        storage: Box<dyn Storage>,
    ) -> Result<Self, OutputError> {
        Self::open_all(plan, schemas, storage)
    }

    /// Writes no file: hands the rows of Parquet's tables to `sink`, as record batches.
    pub fn into_batches(
        plan: &OutputPlan,
        schemas: &MessageSchemas,
        sink: Box<dyn BatchSink>,
    ) -> Self {
        let mut writers = Self::without_files(plan, schemas, Box::<Disk>::default());
        writers.batches = Some(Batches::new(schemas, plan.parquet_time, sink));
        writers
    }

    fn open_all(
        plan: &OutputPlan,
        schemas: &MessageSchemas,
        storage: Box<dyn Storage>,
    ) -> Result<Self, OutputError> {
        let formats = Formats::of(plan);
        let mut writers = Self::without_files(plan, schemas, storage);
        if plan.to_stdout {
            writers.open_stdout()?;
        } else if let Some(PeerAddress::Bucket { bucket, prefix }) = &plan.stream {
            let (reads, hooks) = writers.storage.for_streams();
            let bucket = Bucket::open(plan, bucket, prefix, &reads, hooks)?;
            bucket.folder().clone_into(&mut writers.plan.dir);
            writers.bucket = Some(bucket);
            writers.open_files(formats, schemas)?;
        } else if let Some(address) = &plan.stream {
            let (reads, hooks) = writers.storage.for_streams();
            let stream = Stream::open(plan, address, &reads, hooks)?;
            writers.open_eve(address.to_string().into(), stream.target());
            writers.stream = Some(stream);
        } else if formats.any() {
            writers.summary.earlier = writers.storage.clear(plan)?;
            std::fs::create_dir_all(&plan.dir).map_err(|source| OutputError::Directory {
                path: plan.dir.clone(),
                source,
            })?;
            writers.open_files(formats, schemas)?;
        }
        Ok(writers)
    }

    fn without_files(
        plan: &OutputPlan,
        schemas: &MessageSchemas,
        storage: Box<dyn Storage>,
    ) -> Self {
        Self {
            plan: plan.clone(),
            storage,
            eve: None,
            columns: Vec::new(),
            messages: Vec::new(),
            parquet: None,
            batches: None,
            hands: Hands::default(),
            stream: None,
            bucket: None,
            once: None,
            oldest: None,
            text_bytes: 0,
            summary: OutputSummary {
                messages: schemas
                    .iter()
                    .map(|ready| MessageCount {
                        name: ready.schema.name.clone().into_owned(),
                        built: 0,
                        written: 0,
                    })
                    .collect(),
                ..OutputSummary::default()
            },
            state: State::Open,
        }
    }

    fn open_stdout(&mut self) -> Result<(), OutputError> {
        let target = self.storage.stdout();
        let target = target.map_err(|source| OutputError::Write {
            path: PathBuf::from(STDOUT),
            kept_bytes: 0,
            source,
        })?;
        self.open_eve(PathBuf::from(STDOUT), target);
        Ok(())
    }

    /// One log without rotation, which is open already.
    fn open_eve(&mut self, path: PathBuf, target: Box<dyn Target>) {
        let never = OutputPlan::default();
        let rotation = Rotation::new(&never, "eve", "json");
        self.eve = Some(Log::over(path, target, eve_frame(), rotation));
    }

    fn open_files(
        &mut self,
        formats: Formats,
        schemas: &MessageSchemas,
    ) -> Result<(), OutputError> {
        let divides = self.plan.files > 1 && self.plan.file_threads;
        if divides {
            self.hands = Hands::new(self.plan.files.into());
        }
        let storage = self.storage.as_mut();
        if formats.eve {
            let log = Log::new(&self.plan, "eve", "json", eve_frame, &self.hands);
            let log = self.eve.insert(log);
            log.create_early(storage)?;
        }
        for format in [TextFormat::ZeekTsv, TextFormat::ZeekJson, TextFormat::Csv] {
            if !formats.text(format) {
                continue;
            }
            for record_type in RecordType::TABLES {
                let frame = || column_frame(format, record_type);
                let (stem, extension) = (record_type.file_stem(), format.extension());
                let mut log = Log::new(&self.plan, stem, extension, frame, &self.hands);
                if record_type == RecordType::Conn {
                    log.create_early(storage)?;
                }
                self.columns.push(ColumnLog {
                    format,
                    record_type,
                    log,
                });
            }
            for (schema, ready) in (0..).zip(schemas.iter()) {
                let has_log = match ready.schema.shown {
                    Shown::Everywhere | Shown::InColumns => true,
                    Shown::InEvents => false,
                    Shown::InZeek => format != TextFormat::Csv,
                };
                if !has_log {
                    continue;
                }
                let frame = || message_frame(format, ready);
                let (stem, extension) = (&ready.schema.file_stem, format.extension());
                let log = Log::new(&self.plan, stem, extension, frame, &self.hands);
                self.messages.push(MessageLog {
                    format,
                    schema,
                    log,
                });
            }
        }
        if formats.zeek_tsv || formats.zeek_json {
            self.once = Once::of(schemas);
        }
        if formats.parquet {
            let logs = self.parquet.insert(ParquetLogs::new(&self.plan, schemas)?);
            logs.create_early(storage)?;
        }
        Ok(())
    }
}
