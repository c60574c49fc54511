//! Measures what the project promises, each figure beside its reference of the same run, and prints one table.
//!
//! `cargo xtask bench [names…]`; the names are those of the modules here. The server is the real program, built with the
//! same profile; sandboxes are real; the disk is the one the temporary directory is on.
//! Start with [`Table`], then any of the modules.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that measures by the machine's clock, prints and may fail loudly"
)]

mod agents;
mod idle;
mod lines;
mod log;
mod long;
mod models;
mod recordings;
mod replay;
mod run;
mod sandbox;
mod server;
mod snapshots;
mod stats;
mod table;
mod wake;

use table::Table;

/// That of the shipped program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What can be measured here, in the order in which it is. `cargo xtask bench` knows one more, `web`.
const NAMES: [&str; 13] = [
    "sandbox",
    "idle",
    "snapshots",
    "wake",
    "replay",
    "log",
    "agents",
    "models",
    "recordings",
    "lines",
    "run",
    "server",
    "long",
];

#[tokio::main]
async fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    if let [verb, file] = names.as_slice()
        && verb == agents::PARSE_ONCE
    {
        return agents::parse_once(file.as_ref());
    }
    if let Some(unknown) = names.iter().find(|name| !NAMES.contains(&name.as_str())) {
        eprintln!(
            "error: there is no measurement `{unknown}`\nhint: the names are {} and web",
            NAMES.join(", ")
        );
        std::process::exit(2);
    }
    let wants = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let mut table = Table::new();
    if wants("sandbox") {
        sandbox::measure(&mut table).await;
    }
    if wants("idle") {
        idle::measure(&mut table).await;
    }
    if wants("snapshots") {
        snapshots::measure(&mut table).await;
    }
    if wants("wake") {
        wake::measure(&mut table).await;
    }
    if wants("replay") {
        replay::measure(&mut table).await;
    }
    if wants("log") {
        log::measure(&mut table).await;
    }
    if wants("agents") {
        agents::measure(&mut table);
    }
    if wants("models") {
        models::measure(&mut table).await;
    }
    if wants("recordings") {
        recordings::measure(&mut table).await;
    }
    if wants("lines") {
        lines::measure(&mut table).await;
    }
    if wants("run") {
        run::measure(&mut table).await;
    }
    if wants("server") {
        server::measure(&mut table).await;
    }
    if wants("long") {
        long::measure(&mut table).await;
    }
    table.print();
}
