//! From a receiver's name to a connection: resolved once, every address judged, and one of those that passed is dialled.
//!
//! The name is not resolved a second time: between two look-ups its owner could put another address behind it.

use std::net::SocketAddr;

use tokio::net::{TcpStream, lookup_host};

use crate::tester::address::{Host, Policy, Target};

/// Addresses of one name that are tried.
const MOST_ADDRESSES: usize = 4;

/// Connects to a receiver.
pub(crate) async fn dial(target: &Target, policy: &Policy) -> Result<TcpStream, String> {
    let mut last = format!("{} has no address", target.authority());
    for address in resolve(target, policy).await? {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // One write a delivery: holding it back would only delay it.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Err(error) => last = format!("cannot connect to {address}: {error}"),
        }
    }
    Err(last)
}

/// The addresses that may be dialled; an error if one is refused, since a name that leads there is up to no good.
async fn resolve(target: &Target, policy: &Policy) -> Result<Vec<SocketAddr>, String> {
    let found: Vec<SocketAddr> = match &target.host {
        Host::Address(address) => vec![SocketAddr::new(*address, target.port)],
        Host::Name(name) => {
            let found = lookup_host((name.as_str(), target.port)).await;
            let found = found.map_err(|error| format!("cannot resolve {name}: {error}"))?;
            found.take(MOST_ADDRESSES).collect()
        }
    };
    for address in &found {
        policy.judge(*address)?;
    }
    Ok(found)
}
