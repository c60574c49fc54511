//! The agents that can be installed, each in one pinned version.

/// One agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agent {
    /// The agent type, which is also the name of its directory.
    pub name: &'static str,
    /// Its npm package.
    pub package: &'static str,
    /// The version that its adapter was written for and is tested with.
    pub version: &'static str,
    /// Where the program is.
    pub program: Program,
    /// Packages of its optional dependencies that it works better with; those for other platforms are left out.
    /// `{platform}` stands for `linux-x64` and the like.
    pub extras: &'static [&'static str],
    /// Packages that it takes for granted on a machine and does not bring along: name and version. They are put where
    /// node would look for them; `{platform}` as in [`extras`](Self::extras).
    pub companions: &'static [(&'static str, &'static str)],
    /// Directories, relative to its own, whose programs it expects to find. `{platform}` and `{triple}` as in
    /// [`Program::Native`].
    pub path: &'static [&'static str],
    /// What it is given to show that it runs: it says something and ends.
    pub check: &'static [&'static str],
    /// The text of its lock file: the hash of every package it is made of. Written by `cargo xtask lock-agents`.
    pub lock: &'static str,
}

/// What is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// A native program in a package for one platform, which the agent's package names among its optional dependencies.
    Native {
        /// The name of that package. `{platform}` stands for `linux-x64` and the like.
        package: &'static str,
        /// The program's file in it. `{triple}` stands for `x86_64-unknown-linux-musl` and the like.
        file: &'static str,
    },
    /// JavaScript in the agent's own package.
    Node {
        /// The file that node is given.
        file: &'static str,
        /// The oldest node that runs it.
        least_version: u32,
    },
}

const VERSION: &[&str] = &["--version"];

/// Every agent there is.
pub const AGENTS: &[Agent] = &[
    Agent {
        name: "claude-code",
        package: "@anthropic-ai/claude-code",
        version: "2.1.325",
        program: Program::Native { package: "@anthropic-ai/claude-code-{platform}", file: "claude" },
        extras: &[],
        companions: &[],
        path: &[],
        check: VERSION,
        lock: include_str!("../agents/claude-code.json"),
    },
    Agent {
        name: "gemini-cli",
        package: "@google/gemini-cli",
        version: "0.61.0",
        program: Program::Node { file: "bundle/gemini.js", least_version: 20 },
        extras: &["@lydell/node-pty", "@lydell/node-pty-{platform}"],
        companions: &[],
        path: &[],
        check: VERSION,
        lock: include_str!("../agents/gemini-cli.json"),
    },
    Agent {
        name: "opencode",
        package: "opencode-ai",
        version: "1.18.33",
        program: Program::Native { package: "opencode-{platform}", file: "bin/opencode" },
        extras: &[],
        // It searches files by ripgrep, which it would get by itself from elsewhere.
        companions: &[("@vscode/ripgrep-{platform}", "1.18.0")],
        path: &["node_modules/@vscode/ripgrep-{platform}/bin"],
        check: VERSION,
        lock: include_str!("../agents/opencode.json"),
    },
    Agent {
        name: "codex",
        package: "@openai/codex",
        version: "0.166.0",
        program: Program::Native { package: "@openai/codex-{platform}", file: "vendor/{triple}/bin/codex" },
        extras: &[],
        companions: &[],
        path: &["vendor/{triple}/codex-path"],
        check: VERSION,
        lock: include_str!("../agents/codex.json"),
    },
    Agent {
        name: "codex-acp",
        package: "@zed-industries/codex-acp",
        version: "0.16.0",
        program: Program::Native { package: "@zed-industries/codex-acp-{platform}", file: "bin/codex-acp" },
        extras: &[],
        companions: &[],
        path: &[],
        check: &["--help"],
        lock: include_str!("../agents/codex-acp.json"),
    },
];

#[cfg(test)]
mod tests {
    use super::AGENTS;

    #[test]
    fn every_agent_has_a_name_of_its_own_that_can_be_a_directory() {
        for (n, agent) in AGENTS.iter().enumerate() {
            let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            assert!(agent.name.bytes().all(is_plain), "{}", agent.name);
            assert!(AGENTS[..n].iter().all(|before| before.name != agent.name), "{}", agent.name);
        }
    }
}
