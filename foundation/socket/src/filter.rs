//! The program that the kernel runs on each frame: what is not for us, the user's filter, and how
//! much is kept.
//!
//! Classic BPF: the machine that libpcap compiles for, with the kernel's own loads beside it
//! (linux/filter.h: the queue of a frame, and whether this host sent it).

/// An instruction of classic BPF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// What it does.
    pub code: u16,
    /// How far to jump if a condition holds.
    pub if_true: u8,
    /// And if not.
    pub if_false: u8,
    /// Its number.
    pub constant: u32,
}

/// The longest program that the kernel takes (`BPF_MAXINSNS`), less what is put before it.
pub const INSTRUCTIONS_MAX: usize = 4096 - 8;

/// What a program is made of beside the user's filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passes {
    /// Leave out what this host sends: on a loopback interface it is received, too.
    pub(crate) incoming_only: bool,
    /// Of this receive queue only, by the kernel's number for it.
    pub(crate) queue: Option<u32>,
    /// Bytes kept of each frame.
    pub(crate) snap_len: u32,
}

impl Passes {
    /// The program, with the user's filter in it; empty for none.
    pub(crate) fn program(&self, filter: &[Instruction]) -> Vec<Instruction> {
        let mut program = Vec::with_capacity(filter.len() + 8);
        let mut only = |load: i32, value: u32, is: bool| {
            let (if_true, if_false) = if is { (1, 0) } else { (0, 1) };
            program.extend([
                #[expect(
                    clippy::cast_sign_loss,
                    reason = "the kernel's own places are negative"
                )]
                instruction(LOAD_WORD, 0, 0, (libc::SKF_AD_OFF + load) as u32),
                instruction(JUMP_EQUAL, if_true, if_false, value),
                instruction(RETURN, 0, 0, 0),
            ]);
        };
        if self.incoming_only {
            only(libc::SKF_AD_PKTTYPE, OUTGOING, false);
        }
        if let Some(queue) = self.queue {
            only(libc::SKF_AD_QUEUE, queue, true);
        }
        let snap = |constant: u32| constant.min(self.snap_len);
        program.extend(filter.iter().map(|one| match one.code {
            RETURN => instruction(RETURN, 0, 0, snap(one.constant)),
            _ => *one,
        }));
        if filter.is_empty() {
            program.push(instruction(RETURN, 0, 0, self.snap_len));
        }
        program
    }
}

const fn instruction(code: u16, if_true: u8, if_false: u8, constant: u32) -> Instruction {
    Instruction {
        code,
        if_true,
        if_false,
        constant,
    }
}

const LOAD_WORD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;
/// Returns its number.
const RETURN: u16 = 0x06;

/// `PACKET_OUTGOING`.
const OUTGOING: u32 = libc::PACKET_OUTGOING as u32;

#[cfg(test)]
mod tests {
    use super::{Instruction, Passes, RETURN, instruction};

    const KEPT: Instruction = instruction(RETURN, 0, 0, 262_144);
    const DROPPED: Instruction = instruction(RETURN, 0, 0, 0);

    /// The snap length is what a filter returns for a frame that passes, and never for another.
    #[test]
    fn a_filter_keeps_as_much_as_is_wanted() {
        let passes = Passes {
            incoming_only: false,
            queue: None,
            snap_len: 96,
        };
        let program = passes.program(&[KEPT, DROPPED]);
        let returns: Vec<_> = program.iter().map(|one| one.constant).collect();
        assert_eq!(returns, [96, 0]);
        assert_eq!(passes.program(&[]), [instruction(RETURN, 0, 0, 96)]);
    }

    /// What is put before the filter jumps over its own refusal only.
    #[test]
    fn queue_and_direction_stand_before_the_filter() {
        let passes = Passes {
            incoming_only: true,
            queue: Some(3),
            snap_len: u32::MAX,
        };
        let program = passes.program(&[KEPT]);
        assert_eq!(program.len(), 7);
        assert_eq!((program[1].if_true, program[1].if_false), (0, 1));
        assert_eq!((program[4].if_true, program[4].if_false), (1, 0));
        assert_eq!(program[4].constant, 3);
        assert_eq!([program[2], program[5]], [DROPPED, DROPPED]);
        assert_eq!(program[6], KEPT);
    }
}
