//! Counts the server resources that each peer uses: one client must not use all connections, or all places for slow bodies.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

/// Counts by peer, with a limit for each.
#[derive(Debug)]
pub(crate) struct Peers {
    most: usize,
    counts: Mutex<BTreeMap<IpAddr, usize>>,
}

/// One of a peer's places; it is returned on drop.
#[derive(Debug)]
pub(crate) struct Share {
    peers: Arc<Peers>,
    peer: IpAddr,
}

impl Peers {
    /// At most three quarters of all places for each peer.
    pub(crate) fn sharing(all: usize) -> Arc<Self> {
        Arc::new(Self { most: (all - all / 4).max(1), counts: Mutex::default() })
    }

    /// A place for a peer; `None` if it has reached its limit.
    pub(crate) fn take(self: &Arc<Self>, peer: IpAddr) -> Option<Share> {
        let peer = one_user(peer);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(peer).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(Share { peers: Arc::clone(self), peer })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut counts = self.peers.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.peer) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.peer);
            }
        }
    }
}

/// The address that identifies a user: an IPv6 user has a network of 64 bits.
fn one_user(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_gets_three_quarters_and_returns_them() {
        let peers = Peers::sharing(8);
        let (one, other) = ("2001:db8::1", "2001:db8::ffff");
        let take = |peer: &str| peers.take(peer.parse().expect("an address"));
        let mut held: Vec<_> = (0..6).map(|_| take(one).expect("a place")).collect();
        assert!(take(other).is_none(), "it is the same network");
        assert!(take("127.0.0.1").is_some() && take("::ffff:127.0.0.1").is_some());
        held.pop();
        assert!(take(other).is_some());
        drop(held);
        assert!(peers.counts.lock().expect("no panic").is_empty());
    }
}
