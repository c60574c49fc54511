//! A PostgreSQL for one test run: its own cluster in the run's directory, on a free port, with a random password.
//!
//! Nothing about durability is turned down: tests that kill things must meet the server users have.

use std::{
    fs::{self, File},
    io::Read as _,
    net::{Ipv4Addr, TcpListener},
    os::unix::{fs as unix_fs, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::cargo;

pub(super) const START_TIMEOUT: Duration = Duration::from_secs(30);
const STOP_TIMEOUT: Duration = Duration::from_secs(10);
/// Between our choice of a free port and the server's use of it, somebody else may take it.
pub(super) const N_ATTEMPTS: usize = 3;

/// Where the server's programs are: Debian keeps them out of `PATH`, one directory a version.
pub(super) fn binaries() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let directories = versions.map(|version| version.path().join("bin"));
    let newest =
        directories.filter(|path| path.join("initdb").exists() && path.join("postgres").exists()).max();
    newest.or_else(|| cargo::is_there("initdb", "--version").then(PathBuf::new))
}

/// A running server; stopped when dropped.
pub(super) struct Postgres {
    server: Child,
    url: String,
}

impl Postgres {
    pub(super) fn start(directory: &Path) -> Result<Postgres> {
        let cluster = Cluster::create(directory)?;
        for _ in 1..N_ATTEMPTS {
            if let Ok(postgres) = cluster.serve() {
                return Ok(postgres);
            }
        }
        cluster.serve()
    }

    /// How to reach it, as its administrator.
    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // SIGINT is the server's "fast" stop: it ends all connections and leaves a clean cluster.
        let pid = i32::try_from(self.server.id()).ok().and_then(Pid::from_raw);
        let asked = pid.is_some_and(|pid| kill_process(pid, Signal::INT).is_ok());
        let ended = asked && wait_until(STOP_TIMEOUT, || matches!(self.server.try_wait(), Ok(Some(_))));
        if !ended {
            // The cluster is thrown away next: a hard stop loses nothing.
            let _ = self.server.kill();
            let _ = self.server.wait();
        }
    }
}

/// Initialised files, not served yet.
struct Cluster {
    binaries: PathBuf,
    directory: PathBuf,
    password: String,
    /// PostgreSQL refuses to run as root: the user to run as, if we are.
    user: Option<(u32, u32)>,
}

impl Cluster {
    fn create(directory: &Path) -> Result<Cluster> {
        let cluster = Cluster {
            binaries: binaries().context("PostgreSQL is not installed")?,
            directory: directory.join("postgres"),
            password: random_hex()?,
            user: rustix::process::geteuid().is_root().then(unprivileged_user).transpose()?,
        };
        fs::create_dir(&cluster.directory).context("failed to make the cluster's directory")?;
        if let Some((user, group)) = cluster.user {
            unix_fs::chown(&cluster.directory, Some(user), Some(group))
                .context("failed to give the cluster's directory away")?;
        }
        cluster.initialise()?;
        Ok(cluster)
    }

    fn initialise(&self) -> Result<()> {
        let password_file = self.directory.join("password");
        fs::write(&password_file, &self.password).context("failed to write the password file")?;
        let mut initdb = self.program("initdb");
        initdb.arg("--pgdata").arg(self.data()).arg("--pwfile").arg(password_file);
        initdb.args([
            "--username=warren",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ]);
        cargo::output(&mut initdb).map(drop)
    }

    fn serve(&self) -> Result<Postgres> {
        let port = free_port()?;
        let log = self.directory.join("log");
        let log_file = File::create(&log).context("failed to make PostgreSQL's log")?;
        let mut server = self.program("postgres");
        server.arg("-D").arg(self.data()).args(["-c", "listen_addresses=127.0.0.1"]);
        server.args([
            "-c",
            &format!("port={port}"),
            "-c",
            "unix_socket_directories=",
            "-c",
            "max_connections=200",
        ]);
        server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log_file);
        let mut postgres = Postgres {
            server: server.spawn().context("failed to start PostgreSQL")?,
            url: format!("postgres://warren:{}@127.0.0.1:{port}/postgres", self.password),
        };
        let mut ended = false;
        let settled = wait_until(START_TIMEOUT, || {
            ended = !matches!(postgres.server.try_wait(), Ok(None));
            ended || self.is_ready(port)
        });
        if ended || !settled {
            bail!("PostgreSQL did not start; its log:\n{}", fs::read_to_string(&log).unwrap_or_default());
        }
        Ok(postgres)
    }

    fn is_ready(&self, port: u16) -> bool {
        let mut probe = self.program("pg_isready");
        probe.args(["--quiet", "--host=127.0.0.1", &format!("--port={port}")]);
        probe.status().is_ok_and(|status| status.success())
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.binaries.join(name));
        // The caller's directory may be one this user cannot enter.
        command.current_dir(&self.directory);
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command
    }
}

/// The user Debian's package made for it, else `nobody`.
fn unprivileged_user() -> Result<(u32, u32)> {
    let passwd = fs::read_to_string("/etc/passwd").context("failed to read the list of users")?;
    let user = ["postgres", "nobody"].iter().find_map(|name| find_user(&passwd, name));
    user.context("there is no user `postgres` or `nobody` to run PostgreSQL as")
}

fn find_user(passwd: &str, name: &str) -> Option<(u32, u32)> {
    let fields: Vec<&str> =
        passwd.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|fields| fields[0] == name)?;
    Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
}

pub(super) fn random_hex() -> Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .context("failed to read randomness")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

pub(super) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("failed to find a free port")?;
    Ok(listener.local_addr().context("failed to find a free port")?.port())
}

pub(super) fn wait_until(timeout: Duration, mut done: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    loop {
        if done() {
            return true;
        }
        if started.elapsed() > timeout {
            return false;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_whole_name() {
        let passwd = "root:x:0:0::/root:/bin/sh\npostgresql:x:1:1:::\npostgres:x:101:104::/var:/bin/sh\n";
        assert_eq!(find_user(passwd, "postgres"), Some((101, 104)));
        assert_eq!(find_user(passwd, "nobody"), None);
    }
}
