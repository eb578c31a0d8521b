//! All bodies of one worker that are decoded, hashed or written, within the budget of bodies.

use super::Context;
use super::layers::Encodings;
use super::output::FileOutput;
use super::parts::{FORM_BYTES, Form};
use super::state::BodyState;
use crate::options::BodyOptions;
use crate::state::NONE;
use flowpin_content::{CarriedFile, FileQuota};
use flowpin_memory::Budget;
use flowpin_record::MessageSink;

/// The bodies of one worker.
#[derive(Debug)]
pub(crate) struct Bodies {
    options: BodyOptions,
    states: Vec<Option<BodyState>>,
    free: Vec<u32>,
    /// The memory of bodies.
    budget: Budget,
    /// By shard: files that were written.
    quotas: Box<[FileQuota; 256]>,
    space: Vec<u8>,
}

/// Bytes that a decoder produces at once.
const SPACE: usize = 16 << 10;

/// A body, and what it needs for its next bytes.
pub(super) struct OpenBody<'a, S> {
    state: &'a mut BodyState,
    space: &'a mut [u8],
    file: FileOutput<'a, S>,
    budget: &'a Budget,
    /// What the body has taken of its shard's budget.
    cost: u64,
}

impl Bodies {
    pub(crate) fn new(options: &BodyOptions, budget: &Budget) -> Self {
        Self {
            options: *options,
            states: Vec::new(),
            free: Vec::new(),
            budget: budget.clone(),
            quotas: Box::new([FileQuota::default(); 256]),
            space: if options.are_read() {
                vec![0; SPACE]
            } else {
                Vec::new()
            },
        }
    }

    /// Whether the options ask for bodies at all.
    #[inline]
    pub(crate) const fn are_wanted(&self) -> bool {
        !self.space.is_empty()
    }

    /// Begins a body; [`NONE`] if its shard has no memory for it. `number`: of its file;
    /// `boundary`: of the parts of a form, empty if it is none.
    pub(super) fn begin(
        &mut self,
        encodings: Encodings,
        number: u64,
        shard: u8,
        boundary: &[u8],
    ) -> u32 {
        let mut cost = BodyState::least_cost(encodings, &self.options);
        let form = Form::new(boundary, number, &self.options);
        if form.is_some() {
            cost = cost.saturating_add(FORM_BYTES);
        }
        if !self.budget.take(shard, cost) {
            return NONE;
        }
        let mut state = BodyState::new(encodings, number, shard, &self.options);
        state.form = form.map(Box::new);
        if let Some(handle) = self.free.pop() {
            if let Some(place) = self.states.get_mut(handle as usize) {
                *place = Some(state);
            }
            return handle;
        }
        self.states.push(Some(state));
        u32::try_from(self.states.len().wrapping_sub(1)).unwrap_or(NONE)
    }

    /// Which of its connection's files a body is.
    pub(super) fn number(&self, handle: u32) -> Option<u64> {
        Some(self.states.get(handle as usize)?.as_ref()?.number)
    }

    /// Begins the file of a body; false if the quota of its shard is used up.
    pub(super) fn begin_file(&mut self, handle: u32) -> bool {
        let Some(Some(state)) = self.states.get_mut(handle as usize) else {
            return false;
        };
        let quota = self.quotas.get_mut(usize::from(state.shard));
        state.is_file = quota.is_some_and(|quota| quota.begin(self.options.quota()));
        state.is_file
    }

    /// A body with what it needs for its next bytes, which go to `sink` if it becomes a file.
    pub(super) fn open<'a, S: MessageSink>(
        &'a mut self,
        handle: u32,
        sink: &'a mut S,
    ) -> Option<OpenBody<'a, S>> {
        let state = self.states.get_mut(handle as usize)?.as_mut()?;
        let shard = usize::from(state.shard);
        Some(OpenBody {
            space: &mut self.space,
            file: FileOutput {
                sink,
                quota: self.quotas.get_mut(shard)?,
                options: &self.options,
                number: state.number,
                is_file: state.is_file,
                left_out: 0,
            },
            budget: &self.budget,
            cost: state.cost(&self.options),
            state,
        })
    }

    /// Accounts for missing bytes, and passes on what was decoded of those before. Returns how many
    /// zeros the file gets for them.
    pub(super) fn gap<S: MessageSink>(&mut self, handle: u32, len: u64, sink: &mut S) -> u64 {
        let Some(mut open) = self.open(handle, sink) else {
            return 0;
        };
        let (state, mut context) = open.parts();
        state.flush(&mut context);
        let mut zeros = state.gap(len, context.options);
        if let Some(form) = state.form.as_mut().filter(|_| !state.is_over) {
            form.gap(len, zeros, context.output);
        }
        if open.file.is_file {
            zeros = open.file.quota.take(zeros, open.file.options.quota());
        }
        open.charge();
        zeros
    }

    /// Ends a body, and returns its final state.
    pub(super) fn end<S: MessageSink>(&mut self, handle: u32, sink: &mut S) -> Option<BodyState> {
        let mut open = self.open(handle, sink)?;
        let (state, mut context) = open.parts();
        state.finish(&mut context);
        open.release();
        self.free.push(handle);
        self.states.get_mut(handle as usize)?.take()
    }

    /// The files of a form that are over since the last call, and how many were left out.
    pub(super) fn parts_over(&mut self, handle: u32) -> (Vec<CarriedFile>, u64) {
        let state = self.states.get_mut(handle as usize);
        let form = state.and_then(|state| state.as_mut()?.form.as_mut());
        form.map_or((Vec::new(), 0), |form| {
            (form.take_over(), form.take_left_out())
        })
    }

    /// Whether no body has bytes to come, and all memory was given back.
    pub(crate) fn is_empty(&self) -> bool {
        self.states.iter().all(Option::is_none) && self.budget.is_whole()
    }
}

impl<S: MessageSink> OpenBody<'_, S> {
    pub(super) fn parts(&mut self) -> (&mut BodyState, Context<'_>) {
        let options = self.file.options;
        let room = self.budget.left(self.state.shard);
        let context = Context {
            options,
            space: self.space,
            len_max: self.state.len.saturating_add(room),
            output: &mut self.file,
        };
        (self.state, context)
    }

    /// Charges the memory that the body takes now to its shard. Without that memory the rest of the
    /// body is left out.
    pub(super) fn charge(mut self) {
        let options = self.file.options;
        let (before, shard) = (self.cost, self.state.shard);
        self.cost = 0;
        let after = self.state.cost(options);
        if let Some(more) = after.checked_sub(before) {
            if !self.budget.take(shard, more) {
                self.state.no_room = true;
                self.state.give_up();
                self.cost = before.saturating_sub(self.state.cost(options));
            }
        } else {
            self.cost = before.saturating_sub(after);
        }
        self.release();
    }

    /// Gives back `cost`.
    fn release(self) {
        let left_out = self.file.left_out;
        self.state.left_out = self.state.left_out.saturating_add(left_out);
        self.budget.give_back(self.state.shard, self.cost);
    }
}
