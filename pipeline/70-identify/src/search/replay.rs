//! Access to the bytes and datagrams kept before a verdict, and their replay in order of arrival.

use super::{Search, Searches, side_of};
use crate::Datagram;

impl Searches {
    /// The bytes of one direction before the verdict, as far as they are kept.
    pub fn kept(&self, search: Search, to_server: bool) -> &[u8] {
        let progress = search
            .handle()
            .and_then(|handle| self.memory.slab.get(handle));
        progress
            .and_then(|progress| progress.sides.get(usize::from(side_of(to_server))))
            .map_or(&[], |side| self.memory.blocks.bytes(side.kept))
    }

    /// The offset in the stream where the kept bytes of one direction end; `None` if none are kept.
    pub fn kept_until(&self, search: Search, to_server: bool) -> Option<u64> {
        let progress = self.memory.slab.get(search.handle()?)?;
        let side = progress.sides.get(usize::from(side_of(to_server)))?;
        let len = u64::try_from(side.kept.len()).unwrap_or(u64::MAX);
        (len > 0).then(|| side.start.saturating_add(len))
    }

    /// Replays the kept bytes before the verdict in order of arrival: calls `visit` with whether
    /// the client sent them, their offset in the stream, and the bytes. Junk before the verdict's
    /// protocol is left out.
    pub fn replay(&self, search: Search, mut visit: impl FnMut(bool, u64, &[u8])) {
        let handle = search.handle();
        let Some(progress) = handle.and_then(|handle| self.memory.slab.get(handle)) else {
            return;
        };
        if progress.datagrams > 0 {
            return;
        }
        let kept = progress
            .sides
            .map(|side| self.memory.blocks.bytes(side.kept));
        let [mut client, mut server] = progress.sides.map(|side| side.start);
        let mut junk = progress.sides.map(|side| usize::from(side.junk));
        progress.order.for_each_turn(kept, |to_server, bytes| {
            let [of_client, of_server] = &mut junk;
            let (at, junk) = if to_server {
                (&mut client, of_client)
            } else {
                (&mut server, of_server)
            };
            let (before, bytes) = bytes.split_at(bytes.len().min(*junk));
            *junk = junk.saturating_sub(before.len());
            *at = at.saturating_add(u64::try_from(before.len()).unwrap_or(0));
            if !bytes.is_empty() {
                visit(to_server, *at, bytes);
            }
            *at = at.saturating_add(u64::try_from(bytes.len()).unwrap_or(0));
        });
    }

    /// The numbers of the client's and the server's bytes that [`replay`](Self::replay) leaves out
    /// as junk.
    pub fn junk(&self, search: Search) -> [u16; 2] {
        let handle = search.handle();
        let progress = handle.and_then(|handle| self.memory.slab.get(handle));
        progress.map_or([0; 2], |progress| {
            progress.sides.each_ref().map(|side| side.junk)
        })
    }

    /// The number of directions of a stream with bytes before the verdict that were not kept.
    pub fn cut(&self, search: Search) -> u8 {
        let handle = search.handle();
        let progress = handle.and_then(|handle| self.memory.slab.get(handle));
        progress.map_or(0, |progress| {
            progress.sides.map(|side| u8::from(side.cut)).iter().sum()
        })
    }

    /// Replays the kept datagrams before the verdict in order of arrival; returns the number of
    /// later ones that were not kept.
    pub fn replay_datagrams<'a>(&'a self, search: Search, visit: impl FnMut(Datagram<'a>)) -> u8 {
        let handle = search.handle();
        let Some(progress) = handle.and_then(|handle| self.memory.slab.get(handle)) else {
            return 0;
        };
        if progress.datagrams == 0 {
            return 0;
        }
        let logs = progress
            .sides
            .map(|side| self.memory.blocks.bytes(side.kept));
        progress.earlier.tell(logs, visit)
    }
}
