//! Profiles: the configuration of an agent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ProfileId, ProjectId};

/// The configuration of an agent: instructions, skills, subagents, commands, tools, environment and files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentProfile {
    /// Its name in requests.
    #[serde(default = "unnamed")]
    pub id: ProfileId,
    /// The project it belongs to. If absent, it belongs to the whole partition: every project may use it, and only
    /// administrators write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// Its display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Comes before everything else the agent is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Instructions like those of a CLAUDE.md.
    #[serde(default, rename = "agentMDFile", skip_serializing_if = "Option::is_none")]
    pub agent_md_file: Option<String>,
    /// Skills of the agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<Skill>,
    /// Agents it may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subagents: Vec<Subagent>,
    /// Slash commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Command>,
    /// Tools it may use; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// MCP servers that come with the profile's own files.
    #[serde(default, rename = "bundledMCPs", skip_serializing_if = "Vec::is_empty")]
    pub bundled_mcps: Vec<McpServer>,
    /// External MCP servers.
    #[serde(default, rename = "externalMCPs", skip_serializing_if = "Vec::is_empty")]
    pub external_mcps: Vec<McpServer>,
    /// Environment of the agent. Not for secrets: programs in the sandbox can read it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment_variables: BTreeMap<String, String>,
    /// Hosts the agent may reach: `example.com`, `*.example.com`, optionally with a port. Nothing else leaves a
    /// sandbox.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub egress_allow: Vec<String>,
    /// Whether the agent may use tools that the model's provider runs, such as web search. They cost extra.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub provider_tools: bool,
    /// Files a new workspace starts with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub default_workspace_files: Vec<WorkspaceTemplateFile>,
    /// The command to start, for the agent `acp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// The model to use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A skill: instructions that an agent looks up when it needs them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// When to use it.
    #[serde(default)]
    pub description: String,
    /// The skill itself.
    #[serde(default)]
    pub skill_md: String,
    /// Files beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supporting_files: Vec<WorkspaceTemplateFile>,
    /// npm packages it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub npm_dependencies: Vec<String>,
    /// pip packages it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pip_dependencies: Vec<String>,
}

/// An agent that another one can call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Subagent {
    /// Its name.
    pub name: String,
    /// When to call it.
    #[serde(default)]
    pub description: String,
    /// Its prompt.
    #[serde(default)]
    pub prompt: String,
    /// Its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tools it may use; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
}

/// A slash command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Command {
    /// Its name.
    pub name: String,
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// The prompt.
    pub prompt: String,
}

/// An MCP server, in an agent-neutral form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// Its connection settings; each adapter writes them in its agent's format.
    #[serde(flatten)]
    pub settings: serde_json::Map<String, Value>,
}

/// A file a workspace starts with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkspaceTemplateFile {
    /// Relative path.
    pub path: String,
    /// Text content.
    pub content: String,
}

impl AgentProfile {
    /// A profile that gives the agent nothing beyond itself.
    #[must_use]
    pub fn empty(id: ProfileId) -> Self {
        Self {
            id,
            project_id: None,
            name: None,
            description: None,
            system_prompt: None,
            agent_md_file: None,
            skills: Vec::new(),
            subagents: Vec::new(),
            commands: Vec::new(),
            tools: None,
            bundled_mcps: Vec::new(),
            external_mcps: Vec::new(),
            environment_variables: BTreeMap::new(),
            egress_allow: Vec::new(),
            provider_tools: false,
            default_workspace_files: Vec::new(),
            command: None,
            model: None,
        }
    }
}

/// The profile a session was created with. It names no project, so it cannot point into another one than the session's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileRef {
    /// Whose profile it is: names are unique per owner.
    pub owner: ProfileOwner,
    /// Its name.
    pub id: ProfileId,
}

/// Whose a profile is, as seen from a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfileOwner {
    /// The whole partition's.
    Partition,
    /// The session's project's.
    Project,
}

impl ProfileOwner {
    /// The project to look in, for a session of `project`; `None` for the partition-wide profiles.
    #[must_use]
    pub fn project(self, project: ProjectId) -> Option<ProjectId> {
        match self {
            ProfileOwner::Partition => None,
            ProfileOwner::Project => Some(project),
        }
    }
}

impl ProfileRef {
    /// A partition-wide profile.
    #[must_use]
    pub fn of_partition(id: ProfileId) -> Self {
        Self { owner: ProfileOwner::Partition, id }
    }
}

fn unnamed() -> ProfileId {
    ProfileId(String::new())
}
