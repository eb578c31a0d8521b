//! An interpreter for classic BPF programs (the Berkeley Packet Filter machine of 1993).
//!
//! Jumps only go forward, so every program ends; loads outside the frame and divisions by zero
//! reject it. Programs are checked once, when they are taken over from libpcap.

/// A filter program, checked: all jumps land inside, the last instruction returns.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    instructions: Box<[Instruction]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Instruction {
    code: u16,
    /// How far to jump if a condition holds, and if not.
    if_true: u8,
    if_false: u8,
    constant: u32,
}

impl Program {
    /// From libpcap's instructions, which the binding shows as text only.
    pub(super) fn new(compiled: &[pcap::BpfInstruction]) -> Option<Self> {
        let read = |instruction: &pcap::BpfInstruction| {
            let text = instruction.to_string();
            let mut fields = text.split(' ');
            Some(Instruction {
                code: fields.next()?.parse().ok()?,
                if_true: fields.next()?.parse().ok()?,
                if_false: fields.next()?.parse().ok()?,
                constant: fields.next()?.parse().ok()?,
            })
        };
        let instructions: Option<Box<[_]>> = compiled.iter().map(read).collect();
        instructions.and_then(Self::check)
    }

    fn check(instructions: Box<[Instruction]>) -> Option<Self> {
        let ends = instructions.last()?.code & CLASS == RETURN;
        let lands = instructions.iter().enumerate().all(|(at, i)| {
            let far = match i.code & (CLASS | OPERATION) {
                JUMP => i.constant as usize,
                code if code & CLASS == JUMP => usize::from(i.if_true.max(i.if_false)),
                _ => 0,
            };
            at.saturating_add(far) + 1 < instructions.len() + usize::from(far == 0)
        });
        (ends && lands).then_some(Self { instructions })
    }

    /// Its instructions: code, both jumps, constant.
    pub(crate) fn instructions(&self) -> impl Iterator<Item = (u16, u8, u8, u32)> {
        let all = self.instructions.iter();
        all.map(|one| (one.code, one.if_true, one.if_false, one.constant))
    }

    /// Runs the program on one frame.
    pub(crate) fn accepts(&self, frame: &[u8], wire_len: u32) -> bool {
        self.run(frame, wire_len).unwrap_or(0) != 0
    }

    /// What the program returns; none if it reads outside the frame or divides by zero.
    fn run(&self, frame: &[u8], wire_len: u32) -> Option<u32> {
        let mut machine = Machine {
            frame,
            wire_len,
            a: 0,
            x: 0,
            memory: [0; MEMORY_LEN],
        };
        let mut at = 0;
        loop {
            let instruction = *self.instructions.get(at)?;
            at += 1;
            match instruction.code & CLASS {
                LOAD => machine.a = machine.load(instruction)?,
                LOAD_X => machine.x = machine.load(instruction)?,
                STORE => *machine.cell(instruction.constant)? = machine.a,
                STORE_X => *machine.cell(instruction.constant)? = machine.x,
                ARITHMETIC => machine.a = machine.compute(instruction)?,
                JUMP => at += machine.jump(instruction)?,
                RETURN if instruction.code & RETURN_A != 0 => return Some(machine.a),
                RETURN => return Some(instruction.constant),
                // Only "X becomes A" and "A becomes X" are left.
                _ if instruction.code & A_BECOMES_X != 0 => machine.a = machine.x,
                _ => machine.x = machine.a,
            }
        }
    }
}

/// The machine's registers, and what it looks at.
struct Machine<'a> {
    frame: &'a [u8],
    wire_len: u32,
    a: u32,
    x: u32,
    memory: [u32; MEMORY_LEN],
}

impl Machine<'_> {
    fn cell(&mut self, index: u32) -> Option<&mut u32> {
        self.memory.get_mut(index as usize)
    }

    fn load(&mut self, i: Instruction) -> Option<u32> {
        Some(match i.code & MODE {
            IMMEDIATE => i.constant,
            ABSOLUTE => self.at(i.constant as usize, i.code & SIZE)?,
            INDIRECT => {
                let place = self.x.checked_add(i.constant)?;
                self.at(place as usize, i.code & SIZE)?
            }
            MEMORY => *self.cell(i.constant)?,
            LENGTH => self.wire_len,
            // The length of an IPv4 header: four times the low half of a byte.
            _ => (self.at(i.constant as usize, BYTE)? & 0xf) * 4,
        })
    }

    /// One, two or four bytes of the frame, in network order.
    fn at(&self, place: usize, size: u16) -> Option<u32> {
        let rest = self.frame.get(place..)?;
        Some(match size {
            BYTE => u32::from(*rest.first()?),
            HALF => u32::from(u16::from_be_bytes(*rest.first_chunk()?)),
            _ => u32::from_be_bytes(*rest.first_chunk()?),
        })
    }

    fn operand(&self, i: Instruction) -> u32 {
        if i.code & OPERAND_X != 0 {
            self.x
        } else {
            i.constant
        }
    }

    fn compute(&self, i: Instruction) -> Option<u32> {
        let (a, b) = (self.a, self.operand(i));
        Some(match i.code & OPERATION {
            0x00 => a.wrapping_add(b),
            0x10 => a.wrapping_sub(b),
            0x20 => a.wrapping_mul(b),
            0x30 => a.checked_div(b)?,
            0x40 => a | b,
            0x50 => a & b,
            0x60 => a.checked_shl(b).unwrap_or(0),
            0x70 => a.checked_shr(b).unwrap_or(0),
            0x80 => a.wrapping_neg(),
            0x90 => a.checked_rem(b)?,
            _ => a ^ b,
        })
    }

    /// How many instructions to pass over.
    fn jump(&self, i: Instruction) -> Option<usize> {
        let (a, b) = (self.a, self.operand(i));
        let holds = match i.code & OPERATION {
            0x00 => return usize::try_from(i.constant).ok(),
            0x10 => a == b,
            0x20 => a > b,
            0x30 => a >= b,
            _ => a & b != 0,
        };
        Some(usize::from(if holds { i.if_true } else { i.if_false }))
    }
}

// The parts of an instruction's code.
const CLASS: u16 = 0x07;
const LOAD: u16 = 0x00;
const LOAD_X: u16 = 0x01;
const STORE: u16 = 0x02;
const STORE_X: u16 = 0x03;
const ARITHMETIC: u16 = 0x04;
const JUMP: u16 = 0x05;
const RETURN: u16 = 0x06;

const SIZE: u16 = 0x18;
const HALF: u16 = 0x08;
const BYTE: u16 = 0x10;

const MODE: u16 = 0xe0;
const IMMEDIATE: u16 = 0x00;
const ABSOLUTE: u16 = 0x20;
const INDIRECT: u16 = 0x40;
const MEMORY: u16 = 0x60;
const LENGTH: u16 = 0x80;

const OPERATION: u16 = 0xf0;
const OPERAND_X: u16 = 0x08;
const RETURN_A: u16 = 0x10;
const A_BECOMES_X: u16 = 0x80;

const MEMORY_LEN: usize = 16;

#[cfg(test)]
mod tests {
    use super::{Instruction, JUMP, Program, RETURN};

    fn instruction(code: u16, if_true: u8, if_false: u8, constant: u32) -> Instruction {
        Instruction {
            code,
            if_true,
            if_false,
            constant,
        }
    }

    /// A jump that leaves the program is refused when the program is taken over.
    #[test]
    fn a_program_that_jumps_out_of_itself_is_refused() {
        let end = instruction(RETURN, 0, 0, 1);
        let by = |jump| Program::check(Box::new([jump, end, end])).is_some();
        assert!(by(instruction(JUMP, 0, 0, 1)));
        assert!(!by(instruction(JUMP, 0, 0, 2)));
        assert!(!by(instruction(JUMP, 0, 0, u32::MAX)));
        assert!(by(instruction(JUMP | 0x10, 1, 0, 0)));
        assert!(!by(instruction(JUMP | 0x10, 0, 2, 0)));
        assert!(Program::check(Box::new([])).is_none());
        assert!(Program::check(Box::new([instruction(0, 0, 0, 0)])).is_none());
    }

    /// Frames shorter than a load reaches are rejected, also where the place overflows.
    #[test]
    fn a_load_outside_the_frame_rejects() {
        let end = instruction(RETURN, 0, 0, 1);
        let absolute = Program::check(Box::new([instruction(0x20, 0, 0, u32::MAX), end])).unwrap();
        assert!(!absolute.accepts(&[1; 64], 64));
        let first_word = Program::check(Box::new([instruction(0x20, 0, 0, 0), end])).unwrap();
        assert!(!first_word.accepts(&[1; 3], 3));
        assert!(first_word.accepts(&[1; 4], 4));
    }
}
