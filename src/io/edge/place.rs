//! The places of requests whose bodies do not arrive at once: a number for the server, and one for each peer.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::io::edge::Shared;
use crate::io::peers::Share;

/// A permit of a waiting request; it is returned on drop.
pub(super) struct Place<A> {
    shared: Arc<Shared<A>>,
    _share: Option<Share>,
}

impl<A> Place<A> {
    pub(super) fn take(shared: &Arc<Shared<A>>, peer: IpAddr) -> Option<Self> {
        let before = shared.in_flight.fetch_add(1, Ordering::Relaxed);
        let share = shared.bodies.take(peer);
        let is_free = before < shared.limits.in_flight && share.is_some();
        let place = Self { shared: Arc::clone(shared), _share: share };
        is_free.then_some(place)
    }
}

impl<A> Drop for Place<A> {
    fn drop(&mut self) {
        self.shared.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
