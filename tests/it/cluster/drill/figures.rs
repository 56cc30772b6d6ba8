//! What the processes of a drill counted, from their metrics.

use crate::harness::{Request, Server};

use super::Drill;

/// Events that must occur in a drill.
pub(super) const COUNTED: [&str; 5] = [
    "sandbox_takeovers_total",
    "sandbox_handovers_total",
    "sandbox_fenced_total",
    "sandbox_lost_leases_total",
    "sandbox_unknown_outcomes_total",
];

impl Drill {
    /// Adds the counts of a process that ends now.
    pub(super) fn count(&self, server: &Server) {
        let Ok(answer) = Request::new("GET", "/_sandbox/metrics").try_send(server.port()) else {
            return;
        };
        let mut figures = self.figures.lock().unwrap();
        for line in answer.text().lines() {
            let Some((name, count)) = line.split_once(' ') else { continue };
            if let Some(name) = COUNTED.iter().find(|known| **known == name) {
                *figures.entry((*name).to_owned()).or_default() += count.parse::<u64>().unwrap();
            }
        }
    }
}
