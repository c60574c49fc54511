//! Agents' programs, as the runtime sees them.

use warren_programs::{Installed, Programs};
use warren_runtime::Program;

/// What is installed on this machine.
pub(super) struct OnDisk(pub(super) Programs);

impl warren_runtime::Programs for OnDisk {
    fn installed(&self) -> Vec<Program> {
        self.0.list().into_iter().filter_map(|status| status.installed).map(program).collect()
    }
}

fn program(installed: Installed) -> Program {
    let place = format!("/opt/agents/{}", installed.name);
    Program {
        argv: installed.argv(&place),
        path: installed.path(&place),
        directory: installed.directory,
        name: installed.name,
    }
}
