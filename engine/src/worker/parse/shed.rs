//! What parsing leaves out under overload (`--shed`).

use flowpin_capture::{Shedding, Work};
use flowpin_counters::{Loss, Losses};
use flowpin_packet::Shard;
use flowpin_record::{FilePart, Uid};
use std::collections::HashSet;

/// What is left out now.
#[derive(Debug)]
pub(super) struct Shed {
    shedding: Shedding,
    /// Bodies that have begun and are left out to their end.
    bodies: HashSet<(Uid, u64)>,
}

impl Shed {
    pub(super) fn new(shedding: &Shedding) -> Self {
        Self {
            shedding: shedding.clone(),
            bodies: HashSet::new(),
        }
    }

    pub(super) fn sheds_parsing(&self, shard: Shard) -> bool {
        self.shedding.sheds(Work::Parsing, shard.0)
    }

    /// Whether this part of a body is left out: a body is whole or it is left out whole, as is
    /// decided when it begins. One that is left out is counted.
    pub(super) fn sheds_body(
        &mut self,
        shard: Shard,
        uid: Uid,
        part: FilePart<'_>,
        losses: &mut Losses,
    ) -> bool {
        let body = (uid, part.number());
        match part {
            FilePart::Begin(_) if self.shedding.sheds(Work::Bodies, shard.0) => {
                losses.count(Loss::ShedBodies, 1);
                self.bodies.insert(body);
                true
            }
            FilePart::End(..) => self.bodies.remove(&body),
            _ => self.bodies.contains(&body),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Shed;
    use flowpin_capture::Shedding;
    use flowpin_counters::{Loss, Losses};
    use flowpin_packet::Shard;
    use flowpin_record::{FilePart, Uid};

    /// A body that has begun before an overload is whole; one that begins in it is left out to its
    /// end, also when the overload is over, and nothing of it is remembered then.
    #[test]
    fn bodies_are_whole_or_left_out() {
        let (shedding, mut losses) = (Shedding::default(), Losses::default());
        let mut shed = Shed::new(&shedding);
        let mut sheds = |part| shed.sheds_body(Shard(7), Uid(1), part, &mut losses);
        assert!(!sheds(FilePart::Begin(1)));
        shedding.set(4);
        assert!(sheds(FilePart::Begin(2)));
        assert!(!sheds(FilePart::Data(1, b"x")) && sheds(FilePart::Data(2, b"x")));
        shedding.set(0);
        assert!(!sheds(FilePart::End(1, true)) && sheds(FilePart::Missing(2, 9)));
        assert!(sheds(FilePart::End(2, true)) && !sheds(FilePart::Data(2, b"x")));
        assert!(!sheds(FilePart::Begin(2)));
        assert!(shed.bodies.is_empty());
        assert_eq!(losses.of(Loss::ShedBodies), 1);
    }
}
