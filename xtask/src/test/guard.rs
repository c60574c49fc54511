//! A process that owns a test run's directory, PostgreSQL and S3 server, and outlives the run.
//!
//! It stands in a process group of its own, so that Ctrl-C does not reach it, and holds the reading end of a pipe
//! whose writing end only the run has. However the run ends — well, by a signal, by `kill -9` — the pipe closes,
//! and the guard stops the servers and removes the directory.

use std::{
    env, fs,
    io::{self, BufRead as _, BufReader, Write as _},
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{self, Child, Command, Stdio},
};

use anyhow::{Context, Result, bail};

use super::{bucket::Bucket, postgres::Postgres};

/// Arguments of the hidden verb.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Start PostgreSQL too.
    #[arg(long)]
    postgres: bool,
    /// Start this S3 server too.
    #[arg(long)]
    s3: Option<PathBuf>,
}

/// The guard's own main.
pub(crate) fn run(args: &Args) -> Result<()> {
    let directory = Directory::create()?;
    let postgres = args.postgres.then(|| Postgres::start(&directory.0)).transpose()?;
    let bucket = args.s3.as_ref().map(|program| Bucket::start(program, &directory.0)).transpose()?;
    let url = postgres.as_ref().map(Postgres::url).unwrap_or_default();
    let s3_url = bucket.as_ref().map(Bucket::url).unwrap_or_default();
    // The run may have ended while we were starting; then the next read says so.
    let _ = writeln!(io::stdout(), "{}\n{url}\n{s3_url}", directory.0.display());
    io::copy(&mut io::stdin(), &mut io::sink()).context("failed to wait for the end of the run")?;
    drop((postgres, bucket));
    directory.remove()
}

/// The run's directory; removed when dropped.
struct Directory(PathBuf);

impl Directory {
    fn create() -> Result<Directory> {
        let path = env::temp_dir().join(format!("warren-test-{}", process::id()));
        let fail = || format!("failed to make `{}`", path.display());
        fs::create_dir(&path).with_context(fail)?;
        let directory = Directory(path.clone());
        // Sandboxes and PostgreSQL run under other users: they must be able to pass, whatever the umask.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).with_context(fail)?;
        let temporary = temporary(&path);
        fs::create_dir(&temporary).with_context(fail)?;
        fs::set_permissions(&temporary, fs::Permissions::from_mode(0o1777)).with_context(fail)?;
        Ok(directory)
    }

    fn remove(self) -> Result<()> {
        fs::remove_dir_all(&self.0).with_context(|| format!("failed to remove `{}`", self.0.display()))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Already removed if all went well; if not, the error that brought us here matters more.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn temporary(directory: &Path) -> PathBuf {
    directory.join("tmp")
}

/// The run's side: the guard as a child.
pub(super) struct Guard {
    child: Child,
    directory: PathBuf,
    postgres_url: Option<String>,
    s3_url: Option<String>,
}

/// What a guard starts besides making a directory.
#[derive(Default)]
pub(super) struct Services {
    pub(super) postgres: bool,
    /// The S3 server's program.
    pub(super) s3: Option<PathBuf>,
}

impl Guard {
    /// Starts it and waits until what it owns can be used.
    pub(super) fn start(services: &Services) -> Result<Guard> {
        let program = env::current_exe().context("failed to find our own program")?;
        let mut command = Command::new(program);
        command.arg("guard").args(services.postgres.then_some("--postgres"));
        if let Some(program) = &services.s3 {
            command.arg("--s3").arg(program);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut child = command.spawn().context("failed to start the guard")?;
        let mut lines = BufReader::new(child.stdout.take().context("the guard has no output")?).lines();
        let (Some(Ok(directory)), Some(Ok(url)), Some(Ok(s3_url))) =
            (lines.next(), lines.next(), lines.next())
        else {
            bail!("the guard ended: {}", child.wait().context("failed to wait for the guard")?);
        };
        println!("temporary files in {directory}");
        if url.is_empty() {
            println!("no PostgreSQL: tests that need it will skip");
        }
        if s3_url.is_empty() {
            println!("no S3 server: tests that need it will skip");
        }
        Ok(Guard {
            child,
            directory: directory.into(),
            postgres_url: Some(url).filter(|url| !url.is_empty()),
            s3_url: Some(s3_url).filter(|url| !url.is_empty()),
        })
    }

    /// Where tests put their files.
    pub(super) fn temporary(&self) -> PathBuf {
        temporary(&self.directory)
    }

    /// How tests reach PostgreSQL.
    pub(super) fn postgres_url(&self) -> Option<&str> {
        self.postgres_url.as_deref()
    }

    /// How tests reach a bucket.
    pub(super) fn s3_url(&self) -> Option<&str> {
        self.s3_url.as_deref()
    }

    /// Ends it; an error if it could not stop or remove what it owns.
    pub(super) fn finish(mut self) -> Result<()> {
        for entry in fs::read_dir(self.temporary()).context("failed to list the tests' files")?.flatten() {
            println!("a test left {}", entry.path().display());
        }
        drop(self.child.stdin.take());
        let status = self.child.wait().context("failed to wait for the guard")?;
        if !status.success() {
            bail!("the guard failed: {status}");
        }
        Ok(())
    }
}
