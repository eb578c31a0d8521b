//! How the process was started, before the standard library made up for what was missing: it opens
//! `/dev/null` in the place of a closed standard output, and nobody can tell afterwards.

use core::hint::black_box;
use core::sync::atomic::{AtomicBool, Ordering};

/// Whether standard output was closed when the process began (`>&-`), where the system tells.
pub fn began_without_stdout() -> bool {
    // Names it, so that the linker takes it in.
    black_box(&LOOK);
    // Relaxed: it was written before there was a second thread.
    WITHOUT_STDOUT.load(Ordering::Relaxed)
}

static WITHOUT_STDOUT: AtomicBool = AtomicBool::new(false);

// SAFETY: the C library calls what is in this section once, on the only thread, after it has made
// itself ready and before `main`. `look` needs nothing of Rust's run time.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

#[cfg(not(target_os = "linux"))]
static LOOK: () = ();

#[cfg(target_os = "linux")]
extern "C" fn look() {
    // SAFETY: F_GETFD takes no pointer and changes nothing; of a closed descriptor it fails.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    WITHOUT_STDOUT.store(flags < 0, Ordering::Relaxed);
}
