//! Fetches the content of all new files, several at once, before anything is changed.

use std::{
    cell::Cell,
    fs,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use warren_wire::TreeEntry;

use super::{Changes, apply::Step, content_path, plan::is_runnable};
use crate::{client::Client, render::size, report::Advised, terminal::Terminal};

/// Requests in flight: on one machine reading, sending and writing overlap, and over a network the round trips do.
pub(super) const N_AT_ONCE: usize = 8;

/// Where the new content of a step waits.
pub(super) fn staged(staging: &Path, n: usize) -> PathBuf {
    staging.join(n.to_string())
}

/// Fetches the files of all steps into the staging directory.
pub(super) async fn fetch(
    client: &Client,
    changes: &Changes,
    steps: &[Step<'_>],
    staging: &Path,
    terminal: &mut Terminal,
) -> Result<()> {
    let files: Vec<(usize, &Step<'_>, &TreeEntry)> =
        steps.iter().enumerate().filter_map(|(n, step)| Some((n, step, step.new_file()?))).collect();
    let n_files = files.len();
    let n_bytes: u64 = files.iter().map(|(_, _, after)| after.size_bytes).sum();
    let (n_fetched, fetched) = (Cell::new(0_usize), Cell::new(0_u64));
    let told = |terminal: &mut Terminal| {
        let (done, all) = (size(fetched.get()), size(n_bytes));
        terminal.status(Some(format!("fetching files: {} of {n_files}, {done} of {all}", n_fetched.get())));
    };
    let fetching = files.into_iter().map(|(n, step, after)| {
        let (n_fetched, fetched) = (&n_fetched, &fetched);
        async move {
            let path = content_path(&changes.to, after);
            let into = staged(staging, n);
            let done = save(client, &path, &into, after, fetched).await;
            n_fetched.set(n_fetched.get() + 1);
            done.with_context(|| step.failed("fetch"))
        }
    });
    let mut fetching = stream::iter(fetching).buffer_unordered(N_AT_ONCE);
    told(terminal);
    while fetching.try_next().await?.is_some() {
        told(terminal);
    }
    Ok(())
}

/// Writes a new file with the mode that new files have here.
async fn save(
    client: &Client,
    path: &str,
    into: &Path,
    after: &TreeEntry,
    fetched: &Cell<u64>,
) -> Result<()> {
    let mode = if is_runnable(after.mode) { 0o777 } else { 0o666 };
    let mut file = fs::File::options().write(true).create_new(true).mode(mode).open(into)?;
    let mut pieces = Box::pin(client.pieces(path).await?);
    let mut came = 0;
    while let Some(piece) = pieces.try_next().await? {
        file.write_all(&piece)?;
        came += piece.len() as u64;
        fetched.set(fetched.get() + piece.len() as u64);
    }
    if came != after.size_bytes {
        let message = format!("received {came} bytes instead of {}", after.size_bytes);
        bail!(Advised::new(message, "run the command again"));
    }
    Ok(())
}
