//! Connects to a receiver by name. The name is resolved once, every address is checked, and then an allowed
//! address is dialled.
//!
//! The name is not resolved a second time, because its owner could change the address between two look-ups.

use std::net::SocketAddr;

use tokio::net::{TcpStream, lookup_host};

use crate::tester::address::{Host, Policy, Target};

/// The most addresses of one name that are tried.
const MOST_ADDRESSES: usize = 4;

/// Connects to a receiver.
pub(crate) async fn dial(target: &Target, policy: &Policy) -> Result<TcpStream, String> {
    let mut last = format!("{} has no address", target.authority);
    for address in resolve(target, policy).await? {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // Each delivery is one write, so waiting for more data would only delay it.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Err(error) => last = format!("cannot connect to {address}: {error}"),
        }
    }
    Err(last)
}

/// The allowed addresses. One refused address is an error for all, because a name that resolves to it is
/// suspicious.
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
