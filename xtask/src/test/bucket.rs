//! An S3 server for one test run: `s3s-fs`, which keeps its bucket in the run's directory, on a free port, with a random
//! key.

use std::{
    fs,
    fs::File,
    net::{Ipv4Addr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, bail};

use super::postgres::{N_ATTEMPTS, START_TIMEOUT, free_port, random_hex, wait_until};
use crate::cargo;

/// The newest that our compiler can build.
const VERSION: &str = "0.14.1";
const BUCKET: &str = "warren";

/// Builds the server's program into the target directory, unless it is there. Returns where it is.
pub(super) fn install(root: &Path, target: &Path) -> Result<PathBuf> {
    let directory = target.join("tools").join(format!("s3s-fs-{VERSION}"));
    let program = directory.join("bin/s3s-fs");
    if !program.exists() {
        println!("building an S3 server for the tests");
        let mut install = cargo::mortal_cargo(root);
        // Not optimised: it is built in half the time, and serves small objects.
        install.args([
            "install",
            "s3s-fs",
            "--version",
            VERSION,
            "--locked",
            "--features",
            "binary",
            "--debug",
        ]);
        cargo::run(install.arg("--root").arg(&directory))?;
    }
    Ok(program)
}

/// A running server; stopped when dropped.
pub(super) struct Bucket {
    server: Child,
    url: String,
}

impl Bucket {
    pub(super) fn start(program: &Path, directory: &Path) -> Result<Bucket> {
        let directory = directory.join("s3");
        fs::create_dir_all(directory.join(BUCKET)).context("failed to make the bucket's directory")?;
        for _ in 1..N_ATTEMPTS {
            if let Ok(bucket) = serve(program, &directory) {
                return Ok(bucket);
            }
        }
        serve(program, &directory)
    }

    /// How to reach the bucket, with its key.
    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        // What it keeps is thrown away next: a hard stop loses nothing.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn serve(program: &Path, directory: &Path) -> Result<Bucket> {
    let (port, secret) = (free_port()?, random_hex()?);
    let log = directory.with_extension("log");
    let log_file = File::create(&log).context("failed to make the S3 server's log")?;
    let mut server = Command::new(program);
    server.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
    server.args(["--access-key", "warren", "--secret-key", &secret]).arg(directory);
    server
        .stdin(Stdio::null())
        .stdout(log_file.try_clone().context("failed to share a log")?)
        .stderr(log_file);
    let mut bucket = Bucket {
        server: server.spawn().context("failed to start the S3 server")?,
        url: format!("http://warren:{secret}@127.0.0.1:{port}/{BUCKET}"),
    };
    let mut ended = false;
    let settled = wait_until(START_TIMEOUT, || {
        ended = !matches!(bucket.server.try_wait(), Ok(None));
        ended || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
    });
    if ended || !settled {
        bail!("the S3 server did not start; its log:\n{}", fs::read_to_string(&log).unwrap_or_default());
    }
    Ok(bucket)
}
