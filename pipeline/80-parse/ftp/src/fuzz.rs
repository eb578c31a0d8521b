//! The fuzzing entry point: any bytes, whole and in pieces.

use crate::Ftp;
use crate::options::FtpOptions;
use flowpin_parser::ParserSetup;
use flowpin_parser::testing::{Records, turns};

/// Splits `data` into turns: the output is the same for whole turns and for pieces, no call takes
/// much memory, and all of it is given back.
#[doc(hidden)]
pub fn fuzz_ftp(data: &[u8]) {
    let Some((&settings, data)) = data.split_first() else {
        return;
    };
    let turns: Vec<&[u8]> = data.split(|&byte| byte == 0xa5).collect();
    let options = options(if settings & 1 == 0 { 16 } else { 4096 });
    let whole = outputs(options, &turns, usize::MAX);
    let pieces = outputs(options, &turns, usize::from(settings >> 1) + 1);
    assert_eq!(whole, pieces, "{turns:02x?}");
}

pub(crate) fn options(line_bytes_max: u32) -> FtpOptions {
    FtpOptions {
        all_commands: true,
        line_bytes_max,
        commands_max: 4,
        reply_bytes_max: 64,
        reply_lines_max: 8,
    }
}

/// The records and channels of alternating turns, the client's first, cut into pieces of `piece`
/// bytes; an empty turn is a gap.
pub(crate) fn outputs(options: FtpOptions, all: &[&[u8]], piece: usize) -> Records {
    let setup = ParserSetup::default();
    match Ftp::with_options(options, &setup) {
        Ok(ftp) => turns(ftp, &setup, 0, all, piece),
        Err(_) => Records::default(),
    }
}
