//! Programs enter the cgroups whose files the guest was given, though it has no privilege to open them.

use std::{fs, path::PathBuf, process::Command};

use warren_guest_api::{Hello, Request};

use crate::support::{GUEST, TestGuest};

/// A cgroup of version 1, removed at the end of the test.
pub(crate) struct Group {
    path: PathBuf,
}

impl Group {
    /// `None`, with a word about it, where there is no such controller or no right to use it.
    #[allow(clippy::print_stderr, reason = "a test that is left out says so")]
    pub(crate) fn create(controller: &str) -> Option<Self> {
        let name = format!("warren-guest-test-{}-{controller}", std::process::id());
        let path = PathBuf::from(format!("/sys/fs/cgroup/{controller}")).join(name);
        match fs::create_dir(&path) {
            Ok(()) => Some(Self { path }),
            Err(error) => {
                eprintln!("skipped: no cgroup v1 `{controller}` here ({error})");
                None
            }
        }
    }

    pub(crate) fn write(&self, file: &str, value: &str) {
        fs::write(self.path.join(file), value).expect("writes");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // It can be removed once its processes are gone, which the end of the guest sees to.
        for _ in 0..200 {
            if fs::remove_dir(&self.path).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

#[tokio::test]
async fn an_unprivileged_guest_puts_programs_into_cgroups_that_root_opened() {
    let Some(group) = Group::create("freezer") else { return };
    let procs = group.path.join("cgroup.procs");
    // As the launcher does it: root opens, then becomes somebody else.
    let script = format!(
        "exec 10>{procs}; exec setpriv --reuid 65534 --regid 65534 --clear-groups {GUEST} --cgroup-fds 10 \"$@\"",
        procs = procs.display()
    );
    let mut command = Command::new("/bin/bash");
    command.args(["-c", &script, "guest"]);
    // The roots belong to root and are of no use to this guest, but it does not need them.
    let guest = TestGuest::start_as(command);
    let hello: Hello = guest.ask(&Request::Hello).await.expect("answers");
    assert_eq!((hello.uid, hello.cgroups), (65534, 1));

    let name = group.path.file_name().expect("a name").to_str().expect("UTF-8").to_owned();
    let outcome = guest.shell("id -u; grep freezer /proc/self/cgroup; ls /proc/self/fd | wc -l").await;
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!((lines[0], lines[2]), ("65534", "4"), "{outcome:?}");
    assert!(lines[1].ends_with(&name), "{outcome:?}");
    let of_guest = fs::read_to_string(format!("/proc/{}/cgroup", guest.process.id())).expect("reads");
    assert!(!of_guest.contains(&name), "the guest itself stays where it is");
    drop(guest);
}
