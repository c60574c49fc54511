//! Agents' programs, as the runtime sees them.

use std::sync::Arc;

use async_trait::async_trait;
use warren_programs::{AgentStatus, Installed, NpmRecipe, Programs, Report};
use warren_runtime::{AcpRecipe, Known, Packages, Program, ProgramError};

/// What is installed on this machine.
pub(crate) struct OnDisk(pub(crate) Programs);

#[async_trait]
impl warren_runtime::Programs for OnDisk {
    fn installed(&self) -> Vec<Program> {
        let table = self.0.list().into_iter().filter_map(|status| status.installed).map(program);
        let npm = self.0.npm_list().into_iter().map(|(recipe, installed)| npm_program(recipe, installed));
        table.chain(npm).collect()
    }

    fn known(&self) -> Vec<Known> {
        let known = |status: AgentStatus| Known {
            name: status.agent.name.to_owned(),
            pinned: status.agent.version.to_owned(),
            installed: status.installed.map(|installed| (installed.version, installed.size_bytes)),
            is_agent: false,
        };
        let npm = |(recipe, installed): (NpmRecipe, Installed)| Known {
            name: recipe.id,
            pinned: recipe.version,
            installed: Some((installed.version, installed.size_bytes)),
            is_agent: true,
        };
        self.0.list().into_iter().map(known).chain(self.0.npm_list().into_iter().map(npm)).collect()
    }

    async fn install(&self, name: &str) -> Result<(), ProgramError> {
        let report: Report = Arc::new(|progress| tracing::debug!(?progress, "installing an agent"));
        // One that was installed by its package is there, or is not known any more.
        if self.0.npm_find(name).is_some() {
            return Ok(());
        }
        let installed = self.0.install(name, &report).await;
        installed.map(drop).map_err(|error| {
            let hint = error.hint().map(str::to_owned);
            ProgramError { message: format!("{:#}", anyhow::Error::from(error)), hint }
        })
    }

    async fn remove(&self, name: &str) -> Result<(), ProgramError> {
        let removed = self.0.remove(name).await;
        removed.map_err(|error| ProgramError {
            message: format!("{:#}", anyhow::Error::from(error)),
            hint: None,
        })
    }

    fn packages(&self) -> Packages {
        self.0.layer().as_ref().map(packages).unwrap_or_default()
    }
}

fn packages(layer: &Installed) -> Packages {
    Packages { node: layer.node_packages(), python: layer.python_packages() }
}

fn program(installed: Installed) -> Program {
    let place = format!("/opt/agents/{}", installed.name);
    Program {
        argv: installed.argv(&place),
        path: installed.path(&place),
        directory: installed.directory,
        name: installed.name,
        recipe: None,
    }
}

/// An agent by itself: its arguments belong to its program.
fn npm_program(recipe: NpmRecipe, installed: Installed) -> Program {
    let mut program = program(installed);
    program.argv.extend(recipe.args);
    Program {
        recipe: Some(AcpRecipe { env: recipe.env, needs: recipe.needs, hosts: recipe.hosts }),
        ..program
    }
}
