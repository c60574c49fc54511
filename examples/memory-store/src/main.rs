//! A whole server whose store is this one: what starting a server on a backend of one's own takes.
//!
//! ```sh
//! cargo run --manifest-path examples/memory-store/Cargo.toml -- /tmp/warren-memory
//! ```

use std::{path::PathBuf, process::ExitCode};

use warren_config::{Environment, load};
use warren_embed::Embed;
use warren_env::Env;

fn main() -> ExitCode {
    // Before anything that starts a thread: sandboxes are started by this same program.
    if let Some(code) = warren_embed::launcher() {
        return code;
    }
    let Some(directory) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: memory-store DIRECTORY");
        return ExitCode::FAILURE;
    };
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        eprintln!("error: another TLS provider is installed already");
        return ExitCode::FAILURE;
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    match runtime.block_on(run(directory)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Serves until the end of standard input. The first line printed is the address, the second the administrator's token.
async fn run(directory: PathBuf) -> anyhow::Result<()> {
    // Keys are read as `warren` reads them: `warren.toml` in the directory, and `WARREN_…` of the environment.
    let config = load(&directory, None, &Environment::of_process())?.config;
    // One clock for both: the store says when a lease has expired, and the server when it asks.
    let env = Env::system();
    let store = memory_store::store(env.clone());
    let server = Embed::new(config, &directory).env(env).store(store).start().await?;
    println!("{}\n{}", server.url(), server.token());
    tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await?;
    server.stop().await;
    Ok(())
}
