//! What the connections of a trace share while it is made: the output, the clock, the counts.

use crate::conversation::Fate;
use crate::net::{Ends, Framing, Segment};
use crate::options::{Options, Troubles};
use crate::out::Capture;
use crate::random::{Random, Share};
use crate::script::{Current, Script};
use crate::talk::{Dialogue, Material, Message, Step};
use crate::truth::{Totals, Truth};
use std::io::{self, Write};

/// The output, the clock, the counts.
pub(crate) struct Trace<'a, W> {
    pub(crate) dialogues: Vec<Dialogue>,
    pub(crate) framing: Framing,
    pub(crate) random: Random,
    pub(crate) troubles: Shares,
    pub(crate) totals: Totals,
    pub(crate) truth: Truth<'a>,
    pub(crate) now_ns: u64,
    /// Whether the segment of data that was made last ends inside a line.
    pub(crate) ended_inside_line: bool,
    material: Material,
    capture: Capture<W>,
}

/// Which bytes a segment holds: dialogue, message, from, length.
type Said = (u16, Message, u32, u32);

impl<'a, W: Write> Trace<'a, W> {
    pub(crate) fn new(
        options: &Options,
        dialogues: Vec<Dialogue>,
        out: W,
        truth: Truth<'a>,
    ) -> Self {
        Self {
            dialogues,
            framing: Framing::new(options),
            random: Random::new(options.seed),
            troubles: Shares::new(&options.troubles),
            totals: Totals::default(),
            truth,
            now_ns: 0,
            ended_inside_line: false,
            material: Material::new(options.seed),
            capture: Capture::new(out, options.format, options.snap_len),
        }
    }

    /// The next message of a conversation.
    pub(crate) fn next_message(&mut self, script: &mut Script) -> Option<Current> {
        let dialogue = self.dialogues.get(usize::from(script.dialogue))?;
        let next = script.next(dialogue, &mut self.random)?;
        self.totals.messages += 1;
        Some(next)
    }

    /// Makes a segment without data.
    pub(crate) fn bare(&mut self, ends: &Ends, segment: Segment) {
        let frame = self.capture.begin();
        self.framing.tcp(ends, segment, 0, frame, |_| {});
    }

    /// Makes a segment with data; what is new is told to the truth.
    #[inline]
    pub(crate) fn data(&mut self, ends: &Ends, segment: Segment, said: Said, place: Option<u32>) {
        let (_, message, from, len) = said;
        let step = step(&self.dialogues, said);
        let frame = self.capture.begin();
        let material = &self.material;
        let (from, len) = (from as usize, len as usize);
        self.framing.tcp(ends, segment, len, frame, |out| {
            if let Some(step) = step {
                step.render(&message, material, from, len, out);
            }
        });
        let last = self.capture.last(len);
        self.ended_inside_line = !last.ends_with(b"\r\n");
        if let Some(place) = place
            && self.truth.wants_connections()
        {
            self.truth.say(place, segment.from_client, last);
        }
    }

    /// Makes a datagram, to be sent in so many pieces.
    pub(crate) fn datagram(
        &mut self,
        ends: &Ends,
        from_client: bool,
        said: Said,
        place: u32,
    ) -> u32 {
        let (_, message, _, len) = said;
        let step = step(&self.dialogues, said);
        let material = &self.material;
        let (truth, len) = (&mut self.truth, len as usize);
        self.framing.datagram(ends, from_client, len, |out| {
            let start = out.len();
            if let Some(step) = step {
                step.render(&message, material, 0, len, out);
            }
            truth.say(place, from_client, out.get(start..).unwrap_or_default());
        })
    }

    /// Makes piece `nth` of the last datagram.
    pub(crate) fn fragment(&mut self, ends: &Ends, from_client: bool, id: u16, nth: u32) {
        let frame = self.capture.begin();
        self.framing.fragment(ends, from_client, id, nth, frame);
    }

    /// Drops the frame that was made.
    pub(crate) fn abandon(&mut self) {
        self.capture.abandon();
    }

    /// Captures the frame that was made: its length, and how often it is seen.
    #[inline]
    pub(crate) fn end_frame(&mut self) -> io::Result<(u32, u32)> {
        let len = self.capture.end(self.now_ns)?;
        let mut copies = 1;
        if self.random.chance(self.troubles.duplicated)
            && self.capture.repeat(self.now_ns + 1, len)?
        {
            self.totals.duplicated += 1;
            copies = 2;
        }
        self.totals.packets += u64::from(copies);
        self.totals.frame_bytes += u64::from(len) * u64::from(copies);
        self.totals.last_ns = self.now_ns + u64::from(copies - 1);
        Ok((len, copies))
    }

    /// Writes what is left: the totals.
    pub(crate) fn finish(mut self) -> io::Result<Totals> {
        let (_, file_bytes) = self.capture.finish()?;
        self.totals.file_bytes = file_bytes;
        self.truth.finish(&self.totals)?;
        Ok(self.totals)
    }
}

fn step(dialogues: &[Dialogue], said: Said) -> Option<&Step> {
    let (dialogue, message, ..) = said;
    let dialogue = dialogues.get(usize::from(dialogue))?;
    dialogue.steps.get(usize::from(message.step))
}

/// How often what goes wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    any: bool,
    lost: Share,
    reordered: Share,
    retransmitted: Share,
    missing: Share,
    duplicated: Share,
}

impl Shares {
    fn new(troubles: &Troubles) -> Self {
        Self {
            any: *troubles != Troubles::default(),
            lost: Share::new(troubles.lost),
            reordered: Share::new(troubles.reordered),
            retransmitted: Share::new(troubles.retransmitted),
            missing: Share::new(troubles.missing),
            duplicated: Share::new(troubles.duplicated),
        }
    }

    /// What happens to the next segment. The last of a message has no successor that could
    /// overtake it.
    #[inline]
    pub(crate) fn fate(&self, is_last: bool, random: &mut Random) -> Fate {
        if !self.any {
            return Fate::Arrives;
        }
        if random.chance(self.missing) {
            Fate::Missing
        } else if is_last {
            Fate::Arrives
        } else if random.chance(self.lost) {
            Fate::Lost
        } else if random.chance(self.reordered) {
            Fate::Reordered
        } else if random.chance(self.retransmitted) {
            Fate::Retransmitted
        } else {
            Fate::Arrives
        }
    }

    /// Whether the fragments of a datagram come in reverse.
    pub(crate) fn reorders(&self, random: &mut Random) -> bool {
        random.chance(self.reordered)
    }
}
