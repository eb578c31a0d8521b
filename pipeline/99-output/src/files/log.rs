//! A log of text: one file, or several beside each other and their order.

use super::FileInfo;
use super::frames::Frame;
use super::order::{Order, SUFFIX, part_stem};
use super::rotation::Rotation;
use super::storage::{Storage, Target};
use super::text_log::TextLog;
use super::writing::Hands;
use crate::OutputError;
use flowpin_config::OutputPlan;
use flowpin_packet::Timestamp;
use std::path::PathBuf;

/// One log.
pub(super) struct Log {
    /// At least one.
    parts: Vec<TextLog>,
    /// Of more than one.
    order: Option<Order>,
}

impl Log {
    /// A log of a plan. `frame` makes what stands above and below the records of a file; `hands`
    /// write the files, if there are any.
    pub(super) fn new(
        plan: &OutputPlan,
        stem: &str,
        extension: &'static str,
        frame: impl Fn() -> Frame,
        hands: &Hands,
    ) -> Self {
        let count = plan.files.max(1);
        if count == 1 {
            let rotation = Rotation::new(plan, stem, extension);
            return Self::of(TextLog::new(frame(), rotation));
        }
        let part = |number: usize| {
            let stem = part_stem(stem, number, count);
            let rotation = Rotation::new(plan, &stem, extension);
            TextLog::new(frame(), rotation).divided_by(count.into(), hands.of(number))
        };
        let rotation = Rotation::new(plan, &format!("{stem}.{extension}"), &SUFFIX[1..]);
        Self {
            parts: (0..count.into()).map(part).collect(),
            order: Some(Order::new(rotation, count)),
        }
    }

    /// A log whose only file is open already: standard output, or a stream.
    pub(super) fn over(
        path: PathBuf,
        target: Box<dyn Target>,
        frame: Frame,
        rotation: Rotation,
    ) -> Self {
        Self::of(TextLog::over(path, target, frame, rotation))
    }

    fn of(log: TextLog) -> Self {
        Self {
            parts: vec![log],
            order: None,
        }
    }

    /// Creates the first files now, so that what is wrong with them is said at once.
    pub(super) fn create_early(&mut self, storage: &mut dyn Storage) -> Result<(), OutputError> {
        for part in &mut self.parts {
            part.create_early(storage)?;
        }
        match &mut self.order {
            Some(order) => order.create_early(storage),
            None => Ok(()),
        }
    }

    /// Appends a record. Those of one `tie` are in one file. Some records have no text in some
    /// formats.
    pub(super) fn write(
        &mut self,
        storage: &mut dyn Storage,
        (time, tie): (Timestamp, u64),
        text: &[u8],
    ) -> Result<(), OutputError> {
        if text.is_empty() {
            return Ok(());
        }
        let mut number = 0;
        if let Some(order) = &mut self.order {
            number = part_of(tie, self.parts.len());
            order.put(storage, time, number)?;
        }
        match self.parts.get_mut(number) {
            Some(part) => part.write(storage, time, text),
            None => Ok(()),
        }
    }

    /// Hands everything to the system that waits in buffers.
    pub(super) fn flush(&mut self, storage: &mut dyn Storage) -> Result<(), OutputError> {
        let order = self.order.as_mut();
        self.parts
            .iter_mut()
            .try_for_each(TextLog::flush)
            .and(order.map_or(Ok(()), |order| order.flush(storage)))
    }

    /// Makes files anew that were moved away.
    pub(super) fn reopen(&mut self, storage: &mut dyn Storage) -> Result<(), OutputError> {
        for part in &mut self.parts {
            part.reopen(storage)?;
        }
        match &mut self.order {
            Some(order) => order.reopen(storage),
            None => Ok(()),
        }
    }

    /// Ends the files; returns the first failure.
    pub(super) fn close(&mut self, storage: &mut dyn Storage) -> Result<(), OutputError> {
        let closed = self.parts.iter_mut().map(TextLog::close);
        let parts = closed.fold(Ok(()), Result::and);
        let order = self.order.as_mut();
        parts.and(order.map_or(Ok(()), |order| order.close(storage)))
    }

    /// The files, each part's in the order in which they were begun.
    pub(super) fn files(&self) -> impl Iterator<Item = &FileInfo> {
        let parts = self.parts.iter().flat_map(TextLog::files);
        parts.chain(self.order.iter().flat_map(Order::files))
    }
}

/// Which of `count` files a record of this identifier is in: any of its bits may be the same for
/// all (packets have numbers, connections hashes).
fn part_of(tie: u64, count: usize) -> usize {
    let mixed = (tie ^ (tie >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let part = mixed.checked_rem(count as u64).unwrap_or(0);
    usize::try_from(part).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::part_of;

    /// Numbers in a row, and hashes, spread over the files.
    #[test]
    fn records_spread_over_the_files() {
        for count in 1..=16 {
            let mut met = vec![0u32; count];
            for tie in 0..1600u64 {
                met[part_of(tie, count)] += 1;
                met[part_of(tie.wrapping_mul(0x2545_f491_4f6c_dd1d), count)] += 1;
            }
            let even = 3200 / u32::try_from(count).unwrap();
            let is_fair = |&many: &u32| many > even / 2 && many < even * 2;
            assert!(met.iter().all(is_fair), "{count}: {met:?}");
        }
    }
}
