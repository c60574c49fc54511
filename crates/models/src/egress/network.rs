//! The network behind the proxy, small enough to be played by a test.

use std::{
    io,
    net::{IpAddr, SocketAddr, UdpSocket},
};

use async_trait::async_trait;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, lookup_host},
};

/// Looks names up and dials addresses.
#[async_trait]
pub trait EgressNetwork: Send + Sync {
    /// The addresses of a name, in the order in which they should be tried.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;

    /// A connection to exactly this address.
    async fn dial(&self, address: SocketAddr) -> io::Result<Box<dyn EgressStream>>;

    /// Whether this machine itself answers at the address.
    fn is_own(&self, address: IpAddr) -> bool;
}

/// A connection that was dialled.
pub trait EgressStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> EgressStream for S {}

/// The machine's own network.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemNetwork;

/// Nothing is there.
#[derive(Debug, Clone, Copy)]
pub(super) struct NoNetwork;

#[async_trait]
impl EgressNetwork for NoNetwork {
    async fn resolve(&self, _name: &str) -> io::Result<Vec<IpAddr>> {
        Err(io::ErrorKind::NetworkUnreachable.into())
    }

    async fn dial(&self, _address: SocketAddr) -> io::Result<Box<dyn EgressStream>> {
        Err(io::ErrorKind::NetworkUnreachable.into())
    }

    fn is_own(&self, _address: IpAddr) -> bool {
        false
    }
}

#[async_trait]
impl EgressNetwork for SystemNetwork {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        // The port is not looked up; the function only wants one.
        Ok(lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }

    async fn dial(&self, address: SocketAddr) -> io::Result<Box<dyn EgressStream>> {
        let stream = TcpStream::connect(address).await?;
        // Both ends decide what belongs together; waiting for more would only add to it.
        stream.set_nodelay(true)?;
        Ok(Box::new(stream))
    }

    /// Only a machine's own addresses can be bound: this asks the kernel, and needs no list that could be out of date.
    fn is_own(&self, address: IpAddr) -> bool {
        UdpSocket::bind((address, 0)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{EgressNetwork as _, SystemNetwork};

    #[test]
    fn the_machine_knows_its_own_addresses() {
        assert!(SystemNetwork.is_own([127, 0, 0, 1].into()));
        assert!(!SystemNetwork.is_own([1, 1, 1, 1].into()));
    }
}
