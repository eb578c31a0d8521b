//! All logs of a plan together, and the size limit over them.

mod opening;

use super::OutputSummary;
use super::batches::Batches;
use super::log::Log;
use super::once::{Decision, Once};
use super::parquet_logs::ParquetLogs;
use super::storage::Storage;
use super::writing::Hands;
use crate::OutputError;
use crate::batch::{RecordBatch, RecordRef, TextFormat};
use crate::bucket::Bucket;
use crate::stream::Stream;
use flowpin_config::OutputPlan;
use flowpin_counters::{Loss, Losses};
use flowpin_packet::Timestamp;
use flowpin_record::RecordType;
use std::io::ErrorKind;

/// Writes records to all files of a plan.
pub struct Writers {
    plan: OutputPlan,
    storage: Box<dyn Storage>,
    /// All types in one file.
    eve: Option<Log>,
    /// A file for each type, made when its first record comes.
    columns: Vec<ColumnLog>,
    /// Likewise for each kind of messages, in each format.
    messages: Vec<MessageLog>,
    parquet: Option<ParquetLogs>,
    /// Instead of all of these: rows for another program.
    batches: Option<Batches>,
    /// Threads that write files.
    hands: Hands,
    /// Where EVE's lines go instead of a file, if to another program.
    stream: Option<Stream>,
    /// Where Parquet's files go when they are whole, if to a bucket.
    bucket: Option<Bucket>,
    /// What is written once a day, if anything is.
    once: Option<Once>,
    /// The time of the first record that may still wait in a buffer.
    oldest: Option<Timestamp>,
    /// Bytes of text written so far.
    text_bytes: u64,
    summary: OutputSummary,
    state: State,
}

struct ColumnLog {
    format: TextFormat,
    record_type: RecordType,
    log: Log,
}

struct MessageLog {
    format: TextFormat,
    schema: u16,
    log: Log,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// The size limit was reached.
    Full,
    /// Finished, failed, or the reader of standard output went away.
    Ended,
}

impl core::fmt::Debug for Writers {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.debug_struct("Writers")
            .field("plan", &self.plan)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl Writers {
    /// Whether nothing is written any more: finished, failed, or the reader of standard output
    /// went away (which is success: the run may stop).
    pub fn is_closed(&self) -> bool {
        self.state == State::Ended
    }

    /// What was written so far.
    pub fn summary(&self) -> OutputSummary {
        let text = self
            .eve
            .iter()
            .chain(self.columns.iter().map(|column| &column.log))
            .chain(self.messages.iter().map(|messages| &messages.log));
        let mut files: Vec<_> = text.flat_map(Log::files).cloned().collect();
        files.extend(self.parquet.iter().flat_map(ParquetLogs::files));
        if let Some(bucket) = &self.bucket {
            for file in &mut files {
                file.path = bucket.shown(&file.path);
            }
        }
        let mut summary = self.summary.clone();
        summary.files.splice(0..0, files);
        summary
    }

    /// Appends a record to every file that it belongs to.
    #[inline]
    pub(crate) fn write(&mut self, record: &RecordRef<'_>) -> Result<(), OutputError> {
        if let Some(once) = &mut self.once {
            match once.decide(record) {
                Decision::Write => {}
                Decision::Repeated => return Ok(()),
                Decision::WriteAndForget => self.summary.losses.count(Loss::OnceForgotten, 1),
            }
        }
        if self.state == State::Open && self.plan.total_bytes_max.is_some() {
            self.check_limit(record);
        }
        match self.state {
            State::Open => {}
            State::Full => {
                self.summary.losses.count(Loss::RecordsOverLimit, 1);
                return Ok(());
            }
            State::Ended => return Ok(()),
        }
        // One that is in Parquet alone waits for its row group, which is no delay of the run.
        if record.text_len() > 0 {
            self.oldest.get_or_insert(record.time());
        }
        let done = self.write_everywhere(record);
        if done.is_ok() {
            self.count_written(record);
        }
        self.or_fail(done)
    }

    #[inline]
    fn count_written(&mut self, record: &RecordRef<'_>) {
        let (summary, entry) = (&mut self.summary, record.entry);
        if let Some(count) = summary.written.get_mut(entry.record_type as usize) {
            *count += 1;
        }
        if entry.record_type == RecordType::Message {
            let schema = usize::from(record.rows.messages.row(entry.row).schema);
            if let Some(count) = summary.messages.get_mut(schema) {
                count.written += 1;
            }
        }
    }

    #[inline]
    fn write_everywhere(&mut self, record: &RecordRef<'_>) -> Result<(), OutputError> {
        let storage = self.storage.as_mut();
        let place = (record.time(), record.entry.tie);
        self.text_bytes += record.text_len() as u64;
        if let Some(eve) = &mut self.eve {
            let text = record.text(TextFormat::Eve);
            let text = match &mut self.stream {
                // Some kinds of messages are no events.
                Some(stream) if !text.is_empty() => stream.identified(record.entry.key, text),
                _ => text,
            };
            eve.write(storage, place, text)?;
        }
        if record.entry.record_type == RecordType::Message {
            let schema = record.rows.messages.row(record.entry.row).schema;
            for messages in &mut self.messages {
                if messages.schema == schema {
                    let text = record.text(messages.format);
                    messages.log.write(storage, place, text)?;
                }
            }
        } else {
            for column in &mut self.columns {
                if column.record_type == record.entry.record_type {
                    column
                        .log
                        .write(storage, place, record.text(column.format))?;
                }
            }
        }
        if let Some(parquet) = &mut self.parquet {
            parquet.write(storage, record)?;
        }
        if let Some(batches) = &mut self.batches {
            batches.write(record)?;
            if batches.is_closed() {
                self.state = State::Ended;
            }
        }
        Ok(())
    }

    /// Stops writing for good if the record would pass the limit over all files.
    fn check_limit(&mut self, record: &RecordRef<'_>) {
        let parquet = self.parquet.as_ref().map_or(0, ParquetLogs::bytes_expected);
        let bytes = self.text_bytes + record.text_len() as u64 + parquet;
        if self.plan.total_bytes_max.is_some_and(|max| bytes > max) {
            self.state = State::Full;
        }
    }

    pub(crate) fn count_built(&mut self, batch: &RecordBatch) {
        for (sum, count) in self.summary.built.iter_mut().zip(batch.built) {
            *sum += count;
        }
        let messages = self.summary.messages.iter_mut();
        for (message, count) in messages.zip(&batch.built_messages) {
            message.built += count;
        }
    }

    /// All records of a tick were written: who reads standard output gets them now.
    pub(crate) fn end_of_tick(&mut self) -> Result<(), OutputError> {
        self.put_ended();
        if self.plan.is_one_place() {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Hands everything to the system, or to who takes record batches, that waits in buffers; for
    /// live input, now and then. Row groups of Parquet wait until they are full.
    ///
    /// # Errors
    ///
    /// The first failure to write.
    pub fn flush(&mut self) -> Result<(), OutputError> {
        if self.state == State::Ended {
            return Ok(());
        }
        let text = self.with_logs(Log::flush);
        let batches = self.batches.as_mut().map_or(Ok(()), Batches::flush);
        self.count_lost();
        self.or_fail(text.and(batches))
    }

    /// Makes files anew that were moved away (by `logrotate`, say); the records before stay in
    /// the old ones. A file that is still where it was is gone on with, and so is one whose place
    /// something else has taken: [`finish`](Self::finish) tells that.
    ///
    /// # Errors
    ///
    /// An old file cannot be completed.
    pub fn reopen(&mut self) -> Result<(), OutputError> {
        if self.state == State::Ended || self.plan.is_one_place() {
            return self.flush();
        }
        let done = self.reopen_all();
        self.or_fail(done)
    }

    fn reopen_all(&mut self) -> Result<(), OutputError> {
        self.with_logs(Log::reopen)?;
        let storage = self.storage.as_mut();
        self.parquet
            .as_mut()
            .map_or(Ok(()), |parquet| parquet.reopen(storage))
    }

    /// Everything was handed to the system: the time of the first record since it was before.
    pub const fn take_oldest(&mut self) -> Option<Timestamp> {
        self.oldest.take()
    }

    /// What was lost so far.
    pub const fn losses(&self) -> &Losses {
        &self.summary.losses
    }

    /// Records written so far, of all types.
    pub fn records_written(&self) -> u64 {
        self.summary.written.iter().sum()
    }

    /// Ends all files as their formats want it.
    ///
    /// # Errors
    ///
    /// The first failure to write; the other files are ended all the same.
    pub fn finish(&mut self) -> Result<(), OutputError> {
        if self.state == State::Ended {
            return Ok(());
        }
        self.state = State::Ended;
        let done = self.close_all();
        self.forgive_reader(done)
    }

    /// Does something with each log of text, up to the first failure.
    fn with_logs(
        &mut self,
        mut act: impl FnMut(&mut Log, &mut dyn Storage) -> Result<(), OutputError>,
    ) -> Result<(), OutputError> {
        let storage = self.storage.as_mut();
        let columns = self.columns.iter_mut().map(|column| &mut column.log);
        let messages = self.messages.iter_mut().map(|messages| &mut messages.log);
        let mut logs = self.eve.iter_mut().chain(columns).chain(messages);
        logs.try_for_each(|log| act(log, storage))
    }

    /// After a failure: ends the other files, and passes the failure on.
    fn or_fail(&mut self, done: Result<(), OutputError>) -> Result<(), OutputError> {
        if done.is_err() {
            self.state = State::Ended;
            // The first failure is the one to tell.
            let _ = self.close_all();
        }
        self.forgive_reader(done)
    }

    /// A reader that closes our standard output early has seen enough: that is success.
    fn forgive_reader(&mut self, done: Result<(), OutputError>) -> Result<(), OutputError> {
        match done {
            Err(OutputError::Write { source, .. })
                if self.plan.to_stdout && source.kind() == ErrorKind::BrokenPipe =>
            {
                self.summary.reader_left = true;
                Ok(())
            }
            done => done,
        }
    }

    /// Ends all files; returns the first failure.
    fn close_all(&mut self) -> Result<(), OutputError> {
        let mut first = Ok(());
        let text = self.with_logs(|log, storage| {
            let closed = log.close(storage);
            if first.is_ok() {
                first = closed;
            }
            Ok(())
        });
        let text = text.and(first);
        let parquet = self.parquet.as_mut().map_or(Ok(()), ParquetLogs::close);
        let batches = self.batches.as_mut().map_or(Ok(()), Batches::flush);
        let stream = self.stream.as_mut().map_or(Ok(()), Stream::end);
        self.put_ended();
        let bucket = self.bucket.as_mut().map_or(Ok(()), Bucket::end);
        self.count_lost();
        text.and(parquet).and(batches).and(stream).and(bucket)
    }

    /// Puts files into the bucket that are whole.
    fn put_ended(&mut self) {
        if let (Some(bucket), Some(parquet)) = (&self.bucket, &mut self.parquet) {
            parquet.take_ended().for_each(|file| bucket.put(file));
        }
    }

    /// Enters what a stream could neither send nor hold.
    fn count_lost(&mut self) {
        let of_stream = self.stream.as_mut().map_or(0, Stream::newly_lost);
        let of_bucket = self.bucket.as_mut().map_or(0, Bucket::newly_lost);
        let lost = of_stream + of_bucket;
        self.summary.losses.count(Loss::RecordsNotSent, lost);
    }
}
