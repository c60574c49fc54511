//! The address a server is reached at.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use tokio::net::TcpListener;

use crate::advised::Advised;

/// Takes an address.
///
/// # Errors
/// When it cannot be had; says what to do then.
pub async fn bind(wanted: SocketAddr) -> Result<TcpListener, Advised> {
    TcpListener::bind(wanted).await.map_err(|error| refused(wanted, &error))
}

/// An address a client on this machine can use: nobody can connect to "any address".
pub(crate) fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V4(_) | IpAddr::V6(_) => {}
    }
    address
}

fn refused(wanted: SocketAddr, error: &io::Error) -> Advised {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => {
            "another program uses this port; stop it, or choose another port with `--listen`, such as 127.0.0.1:0"
        }
        io::ErrorKind::PermissionDenied => "ports below 1024 need root; choose another with `--listen`",
        _ => "check that the address belongs to this machine",
    };
    Advised::new(format!("failed to listen on {wanted}: {error}"), hint)
}
