//! Writes the lock file of every agent, for `cargo xtask lock-agents`.
//!
//! `lock DIRECTORY REGISTRY [AGENT]...`

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to its terminal")]

use std::{error::Error, fs, path::PathBuf, process::ExitCode};

use warren_programs::{AGENTS, LockFile, lock_file};

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            let mut source = error.source();
            while let Some(cause) = source {
                eprintln!("  because: {cause}");
                source = cause.source();
            }
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    rustls::crypto::ring::default_provider().install_default().map_err(|_| "TLS was set up before")?;
    let mut words = std::env::args().skip(1);
    let (Some(directory), Some(registry)) = (words.next(), words.next()) else {
        return Err("usage: lock DIRECTORY REGISTRY [AGENT]...".into());
    };
    let (directory, names) = (PathBuf::from(directory), words.collect::<Vec<_>>());
    if let Some(unknown) = names.iter().find(|name| AGENTS.iter().all(|agent| agent.name != **name)) {
        return Err(format!("there is no agent `{unknown}`").into());
    }
    for agent in AGENTS.iter().filter(|agent| names.is_empty() || names.iter().any(|name| name == agent.name))
    {
        let path = directory.join(format!("{}.json", agent.name));
        let LockFile { text, missing } = lock_file(agent, &registry).await?;
        let is_current = fs::read_to_string(&path).is_ok_and(|found| found == text);
        if !is_current {
            fs::write(&path, text)?;
        }
        println!("{} {}@{}", if is_current { "current" } else { "written" }, agent.package, agent.version);
        for package in missing {
            eprintln!("warning: the registry has no `{package}`: it gets no hash and cannot be installed");
        }
    }
    Ok(())
}
