//! The destination of the threads' records: the output on this thread, or on one of its own.

use crate::RunError;
use crate::input::InputStage;
use crate::output::{Delivery, Output, OutputSummary};
use crate::run::Context;
use flowpin_handoff::{ResultReceiver, ResultSender};
use flowpin_output::RecordBatch;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// The destination of records, for the input thread.
pub(super) enum Outlet<'scope> {
    /// The input thread merges and writes.
    Here(Box<Here>),
    /// A thread of its own does.
    Thread {
        sender: ResultSender<Delivery>,
        thread: ScopedJoinHandle<'scope, Result<OutputSummary, RunError>>,
        /// The receiver is gone: writing failed.
        failed: bool,
    },
}

/// Merging and writing on the input thread.
pub(super) struct Here {
    /// None after a failure: nobody may wait for the room of what will never be written.
    receiver: Option<ResultReceiver<Delivery>>,
    output: Output,
    /// The input stage's number among the sources.
    input_source: usize,
    /// Written batches of the input stage, to be reused.
    home: Vec<RecordBatch>,
    failure: Option<RunError>,
}

impl<'scope> Outlet<'scope> {
    pub(super) fn here(
        receiver: ResultReceiver<Delivery>,
        output: Output,
        input_source: usize,
    ) -> Self {
        let home = Vec::new();
        Self::Here(Box::new(Here {
            receiver: Some(receiver),
            output,
            input_source,
            home,
            failure: None,
        }))
    }

    pub(super) fn start(
        scope: &'scope Scope<'scope, '_>,
        context: &Context<'_>,
        sender: ResultSender<Delivery>,
        receiver: ResultReceiver<Delivery>,
        output: Output,
    ) -> Result<Self, RunError> {
        let cpu = context.cpu(context.workers + 1);
        let thread = Builder::new()
            .name("output".to_owned())
            .spawn_scoped(scope, move || {
                crate::run::pin(cpu);
                write_all(receiver, output)
            })
            .map_err(RunError::Thread)?;
        Ok(Self::Thread {
            sender,
            thread,
            failed: false,
        })
    }

    /// Takes a batch of the input stage.
    pub(super) fn deliver(&mut self, batch: RecordBatch) {
        match self {
            Self::Here(here) => here.output.push(here.input_source, batch),
            Self::Thread { sender, failed, .. } => *failed |= sender.send(batch.into()).is_err(),
        }
    }

    /// Merges and writes the results received so far, if that is this thread's work.
    pub(super) fn collect(&mut self) {
        if let Self::Here(here) = self {
            here.collect();
        }
    }

    /// Returns written batches to the input stage.
    pub(super) fn recycle(&mut self, input: &mut InputStage) {
        match self {
            Self::Here(here) => here.home.drain(..).for_each(|batch| input.recycle(batch)),
            Self::Thread { sender, .. } => input.recycle(sender.empty().records),
        }
    }

    /// Whether writing has failed, so that the run ends.
    pub(super) fn has_failed(&self) -> bool {
        match self {
            Self::Here(here) => here.failure.is_some(),
            Self::Thread { failed, .. } => *failed,
        }
    }

    /// Takes the remaining results, and completes all files.
    pub(super) fn close(self) -> Result<OutputSummary, RunError> {
        match self {
            Self::Here(here) => match (here.failure, here.receiver) {
                (Some(failure), _) => Err(failure),
                (None, Some(receiver)) => write_all(receiver, here.output),
                (None, None) => Ok(OutputSummary::default()),
            },
            Self::Thread { sender, thread, .. } => {
                drop(sender);
                // A panic there is a defect; the process reports it by itself.
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }
        }
    }
}

impl Here {
    fn collect(&mut self) {
        let Self {
            receiver,
            output,
            input_source,
            home,
            failure,
        } = self;
        let Some(results) = receiver else {
            return;
        };
        let mut any = false;
        while let Some((source, batch)) = results.try_recv() {
            any = true;
            output.push(source, batch);
        }
        if any {
            *failure = output
                .write(|source, batch| {
                    if source == *input_source {
                        home.push(batch);
                    } else {
                        give_back(results, source, batch);
                    }
                })
                .err();
        }
        if failure.is_some() {
            *receiver = None;
        }
    }
}

/// Writes all results until every sender is gone.
pub(in crate::run) fn write_all(
    mut receiver: ResultReceiver<Delivery>,
    mut output: Output,
) -> Result<OutputSummary, RunError> {
    while let Some((source, batch)) = receiver.recv() {
        output.push(source, batch);
        output.write(|source, batch| give_back(&mut receiver, source, batch))?;
    }
    output.close()
}

/// Returns a written batch to its worker.
pub(in crate::run) fn give_back(
    receiver: &mut ResultReceiver<Delivery>,
    source: usize,
    batch: RecordBatch,
) {
    receiver.done(source, batch.bytes());
    receiver.give_back(source, batch.into());
}
