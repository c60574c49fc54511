//! Serves the demo model on loopback in all its dialects, to point real agents at.
//!
//! `cargo run -p warren-models --example demo_server -- 18900` (a free port unless given) prints the address and serves
//! until it is interrupted. Any key will do.

use tokio::net::TcpListener;
use warren_env::Tasks;
use warren_models::{Pace, demo};

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse::<u16>().ok()).unwrap_or(0);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    announce(&format!("listening on http://{}", listener.local_addr()?));
    demo::serve(listener, Pace::default(), &Tasks::new()).await
}

#[expect(clippy::print_stdout, reason = "whoever starts it reads the address there")]
fn announce(line: &str) {
    println!("{line}");
}
