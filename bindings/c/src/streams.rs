//! The bytes of conversations.

use crate::handle::{Failure, Flowpin, call};
use crate::text::{c_string, optional};
use core::ffi::{c_char, c_int, c_void};
use flowpin_engine::{Conversation, RunError, StreamEnd, StreamPlace, StreamSink, Wanted};
use std::collections::HashMap;
use std::ffi::CString;

/// `struct flowpin_place`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Place {
    uid: *const c_char,
    protocol: u8,
    to_server: u8,
    client_port: u16,
    server_port: u16,
    handle: u32,
    client: *const c_char,
    server: *const c_char,
    offset: u64,
    time_ns: u64,
    packet_number: u64,
}

/// `enum flowpin_end`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// Its sender has said so.
    Fin,
    /// One side has broken it off.
    Reset,
    /// Neither: nothing more came.
    Ended,
}

type OnData = unsafe extern "C" fn(
    user: *mut c_void,
    at: *const Place,
    bytes: *const c_void,
    len: usize,
) -> c_int;
type OnGap = unsafe extern "C" fn(user: *mut c_void, at: *const Place, len: u64) -> c_int;
type OnEnd = unsafe extern "C" fn(user: *mut c_void, at: *const Place, how: End) -> c_int;

/// `struct flowpin_stream_calls`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct StreamCalls {
    data: Option<OnData>,
    gap: Option<OnGap>,
    end: Option<OnEnd>,
}

/// Who gets what the engine reports.
struct Calls<'a> {
    calls: StreamCalls,
    user: *mut c_void,
    run: &'a Flowpin,
    /// The names of open conversations, by their handles.
    names: HashMap<u32, (Conversation, Names)>,
    /// No more is wanted.
    is_over: bool,
}

/// A conversation's names, as C takes them.
struct Names {
    uid: CString,
    client: CString,
    server: CString,
}

impl Names {
    fn of(conversation: &Conversation) -> Self {
        Self {
            uid: c_string(&conversation.uid.to_string()),
            client: c_string(&conversation.client.ip().to_string()),
            server: c_string(&conversation.server.ip().to_string()),
        }
    }
}

impl Calls<'_> {
    fn call(
        &mut self,
        at: &StreamPlace<'_>,
        call: impl FnOnce(&StreamCalls, *mut c_void, &Place) -> c_int,
    ) {
        if self.is_over {
            return;
        }
        let conversation = *at.conversation;
        let fresh = || (conversation, Names::of(&conversation));
        let (known, names) = self.names.entry(at.handle).or_insert_with(fresh);
        // Handles are used again.
        if *known != conversation {
            (*known, *names) = fresh();
        }
        let place = Place {
            uid: names.uid.as_ptr(),
            protocol: conversation.protocol,
            to_server: at.to_server.into(),
            client_port: conversation.client.port(),
            server_port: conversation.server.port(),
            handle: at.handle,
            client: names.client.as_ptr(),
            server: names.server.as_ptr(),
            offset: at.offset,
            time_ns: at.time.0,
            packet_number: at.packet_number,
        };
        if call(&self.calls, self.user, &place) != 0 {
            self.is_over = true;
            self.run.stop();
        }
    }
}

impl StreamSink for Calls<'_> {
    fn data(&mut self, at: &StreamPlace<'_>, bytes: &[u8]) -> Result<(), RunError> {
        self.call(at, |calls, user, place| {
            // SAFETY: the program's own function, called as the header says.
            calls.data.map_or(0, |data| unsafe {
                data(user, place, bytes.as_ptr().cast(), bytes.len())
            })
        });
        Ok(())
    }

    fn gap(&mut self, at: &StreamPlace<'_>, len: u64) -> Result<(), RunError> {
        self.call(at, |calls, user, place| {
            // SAFETY: the program's own function, called as the header says.
            calls.gap.map_or(0, |gap| unsafe { gap(user, place, len) })
        });
        Ok(())
    }

    fn closed(&mut self, at: &StreamPlace<'_>, how: StreamEnd) -> Result<(), RunError> {
        let how = match how {
            StreamEnd::Fin => End::Fin,
            StreamEnd::Reset => End::Reset,
            StreamEnd::Ended => End::Ended,
        };
        self.call(at, |calls, user, place| {
            // SAFETY: the program's own function, called as the header says.
            calls.end.map_or(0, |end| unsafe { end(user, place, how) })
        });
        Ok(())
    }
}

/// Reassembles streams.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flowpin_streams(
    run: *mut Flowpin,
    connection: *const c_char,
    calls: *const StreamCalls,
    user: *mut c_void,
) -> c_int {
    let streams = |run: &Flowpin| {
        // SAFETY: the caller hands over text that ends in a zero, or NULL.
        let connection = unsafe { optional(connection, "the connection's name") }?;
        // SAFETY: the caller hands over functions, or NULL.
        let calls = unsafe { calls.as_ref() };
        let calls = *calls.ok_or_else(|| Failure::usage("no functions for streams"))?;
        let wanted = match connection {
            None => Wanted::All,
            Some(name) => name.parse().map_err(|error| {
                Failure::usage(format!("`{name}` does not name a connection: {error}"))
            })?,
        };
        let plan = run.plan()?;
        let mut calls = Calls {
            calls,
            user,
            run,
            names: HashMap::new(),
            is_over: false,
        };
        let report = flowpin_engine::streams(&plan, wanted, &mut calls, run.control(), &());
        if calls.is_over {
            run.may_go_on();
        }
        let report = report?;
        let inputs = report.inputs.iter();
        Failure::of_damage(inputs.map(|input| (&*input.path, input.damage.as_deref())))
    };
    // SAFETY: the caller hands over a run.
    unsafe { call(run, streams) }
}
