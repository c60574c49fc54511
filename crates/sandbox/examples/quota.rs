//! Checks whether a directory has project quotas, and whether they hold: `cargo run -p warren-sandbox --example quota -- DIRECTORY`.
//!
//! Needs root. Makes a directory in `DIRECTORY`, fills it up to a small quota in several ways, and removes it.
#![allow(clippy::print_stdout, reason = "it reports to whoever runs it")]

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    process::ExitCode,
    thread,
    time::Duration,
};

use rustix::{
    io::Errno,
    thread::{CapabilitySet, capabilities, set_capabilities},
};
use warren_sandbox::quota::{self, Project, Usage};

const MIB: u64 = 1 << 20;
const LIMIT: Usage = Usage { bytes: 4 * MIB, inodes: 64 };

fn main() -> ExitCode {
    let Some(directory) = std::env::args_os().nth(1) else {
        println!("usage: quota DIRECTORY");
        return ExitCode::FAILURE;
    };
    match check(Path::new(&directory)) {
        Ok(()) => {
            println!("project quotas hold here");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("no: {error}");
            ExitCode::FAILURE
        }
    }
}

fn check(directory: &Path) -> io::Result<()> {
    if !quota::is_enforced(File::open(directory)?) {
        return Err(io::Error::other(
            "the file system does not enforce project quotas; mount it with `-o prjquota`",
        ));
    }
    println!("the file system says that it enforces project quotas");
    // Whoever has this capability is not held by a quota of ext4. Sandboxes never have it.
    let mut own = capabilities(None)?;
    own.effective.remove(CapabilitySet::SYS_RESOURCE);
    set_capabilities(None, own)?;

    let inside = directory.join(format!("quota-check-{}", std::process::id()));
    fs::create_dir(&inside)?;
    let outside = directory.join(format!("quota-check-{}-outside", std::process::id()));
    let project = Project { id: 3_000_000_000 + std::process::id(), is_inherited: true };
    let checked = Check { inside: &inside, top: File::open(&inside)?, project }.run(&outside);
    let released = quota::limit(File::open(directory)?, project.id, None);
    fs::remove_dir_all(&inside)?;
    if outside.exists() {
        fs::remove_file(&outside)?;
    }
    checked.and(released)
}

struct Check<'a> {
    inside: &'a Path,
    top: File,
    project: Project,
}

impl Check<'_> {
    fn run(&self, outside: &Path) -> io::Result<()> {
        quota::set_project(&self.top, self.project)?;
        quota::limit(&self.top, self.project.id, Some(LIMIT))?;
        self.expect("a new directory counts itself", |used| used.inodes == 1)?;
        self.bytes()?;
        self.inodes()?;
        fs::write(outside, "x")?;
        let moved = fs::rename(outside, self.inside.join("moved"));
        report("a file of another project cannot be moved in (EXDEV)", is(&moved, Errno::XDEV))?;
        let linked = fs::hard_link(outside, self.inside.join("linked"));
        report("nor linked (EXDEV)", is(&linked, Errno::XDEV))?;
        quota::limit(&self.top, self.project.id, None)?;
        let filled = fill(&mut File::create(self.inside.join("free"))?, 2 * LIMIT.bytes);
        report("without its limit the project can grow", filled? == 2 * LIMIT.bytes)
    }

    /// Files are refused beyond the limit, whether they have a name or not.
    fn bytes(&self) -> io::Result<()> {
        let path = self.inside.join("named");
        let mut named = File::create(&path)?;
        report("a new file has the project", quota::project(&named)?.id == self.project.id)?;
        self.refused("a file", &mut named)?;
        fs::remove_file(&path)?;
        self.expect("it counts when it is deleted but open", |used| used.bytes > LIMIT.bytes - MIB)?;
        drop(named);
        self.expect("it does not when it is closed", |used| used.bytes < MIB)?;
        let mut unnamed =
            OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).mode(0o600).open(self.inside)?;
        self.refused("a file that never had a name", &mut unnamed)?;
        drop(unnamed);
        self.expect("it does not count when it is closed", |used| used.bytes < MIB)
    }

    fn refused(&self, what: &str, file: &mut File) -> io::Result<()> {
        let refused = fill(file, 4 * LIMIT.bytes).map(drop);
        report(&format!("writing {what} beyond the limit fails with {}", code(&refused)), is_full(&refused))?;
        self.expect("the limit is reached, and not passed", |used| {
            (LIMIT.bytes - MIB..=LIMIT.bytes).contains(&used.bytes)
        })
    }

    fn inodes(&self) -> io::Result<()> {
        let make = |number: u64| File::create(self.inside.join(number.to_string())).map(drop);
        let refused = (0..2 * LIMIT.inodes).try_for_each(make);
        report(&format!("making files beyond the limit fails with {}", code(&refused)), is_full(&refused))?;
        self.expect("the limit on inodes is reached", |used| used.inodes == LIMIT.inodes)?;
        (0..LIMIT.inodes - 1).try_for_each(|number| fs::remove_file(self.inside.join(number.to_string())))
    }

    /// Checks what the project uses. XFS gives back what was deleted a moment later.
    fn expect(&self, what: &str, is_so: impl Fn(Usage) -> bool) -> io::Result<()> {
        let mut used = quota::usage(&self.top, self.project.id)?;
        for _ in 0..50 {
            if is_so(used) {
                break;
            }
            thread::sleep(Duration::from_millis(100));
            used = quota::usage(&self.top, self.project.id)?;
        }
        report(&format!("{what} ({} bytes, {} inodes)", used.bytes, used.inodes), is_so(used))
    }
}

fn fill(file: &mut File, bytes: u64) -> io::Result<u64> {
    let block = [1; 4096];
    for _ in 0..bytes / 4096 {
        file.write_all(&block)?;
    }
    file.sync_all()?;
    Ok(bytes)
}

/// XFS says of a project that its disk is full.
fn is_full(done: &io::Result<()>) -> bool {
    is(done, Errno::DQUOT) || is(done, Errno::NOSPC)
}

fn code(done: &io::Result<()>) -> String {
    done.as_ref().err().map_or_else(|| "nothing".to_owned(), ToString::to_string)
}

fn is(done: &io::Result<()>, errno: Errno) -> bool {
    done.as_ref().is_err_and(|error| error.raw_os_error() == Some(errno.raw_os_error()))
}

fn report(what: &str, is_so: bool) -> io::Result<()> {
    println!("{} {what}", if is_so { "ok " } else { "NO " });
    if is_so { Ok(()) } else { Err(io::Error::other(format!("wrong: {what}"))) }
}
