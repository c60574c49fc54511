//! OpenCode's settings: what a run is given by its environment, and what a profile is given by a file.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use warren_domain::{AgentProfile, McpServer, PermissionMode, Subagent};

use crate::{ModelApi, ModelEndpoint};

/// The model that is asked for when nobody names one.
const DEFAULT_MODEL: &str = "claude-sonnet-4-5";

/// What a run asks for.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) profile: &'a AgentProfile,
    pub(super) endpoints: &'a [ModelEndpoint],
    pub(super) model: Option<&'a str>,
    pub(super) permission_mode: PermissionMode,
}

/// A model API that OpenCode can speak without downloading anything.
struct Provider {
    id: &'static str,
    name: &'static str,
    npm: &'static str,
}

impl<'a> Wanted<'a> {
    /// The model's name as its API knows it.
    pub(super) fn model(&self) -> &'a str {
        self.model.or(self.profile.model.as_deref()).unwrap_or(DEFAULT_MODEL)
    }

    /// The endpoint that has a model: Anthropic's for its own, chat completions for all others, and either for want of
    /// the other.
    pub(super) fn endpoint(&self, model: &str) -> Option<&'a ModelEndpoint> {
        let find = |api: ModelApi| self.endpoints.iter().find(|endpoint| endpoint.api == api);
        let second = match api_of(model) {
            ModelApi::Anthropic => ModelApi::OpenAiChat,
            _ => ModelApi::Anthropic,
        };
        find(api_of(model)).or_else(|| find(second))
    }

    /// The model as a message names it.
    pub(super) fn model_ref(&self) -> Value {
        let provider = self.endpoint(self.model()).and_then(|endpoint| provider(endpoint.api));
        json!({"providerID": provider.map_or("", |it| it.id), "modelID": self.model()})
    }

    /// What may change from run to run.
    pub(super) fn run(&self, workspace: &str) -> Value {
        let providers = self.providers();
        let enabled: Vec<&String> = providers.keys().collect();
        let model = self.qualified(self.model());
        json!({
            "model": model,
            // Titles and summaries are asked for there.
            "small_model": model,
            "enabled_providers": enabled,
            "provider": providers,
            "permission": self.permission(),
            "instructions": [format!("{workspace}/AGENTS.md")],
        })
    }

    /// What belongs to the profile.
    pub(super) fn profile(&self, instructions: &[String]) -> Value {
        let servers = self.profile.bundled_mcps.iter().chain(&self.profile.external_mcps);
        let commands = self.profile.commands.iter();
        json!({
            "$schema": "https://opencode.ai/config.json",
            "autoupdate": false,
            "share": "disabled",
            // Versions keep the workspace: a second history of it would only cost time.
            "snapshot": false,
            "lsp": false,
            "formatter": false,
            "instructions": instructions,
            "mcp": servers.map(|server| (server.name.clone(), mcp(server))).collect::<Map<_, _>>(),
            "agent": self.profile.subagents.iter().map(|it| (it.name.clone(), self.agent(it))).collect::<Map<_, _>>(),
            "command": commands
                .map(|it| (it.name.clone(), json!({"template": it.prompt, "description": it.description})))
                .collect::<Map<_, _>>(),
        })
    }

    fn providers(&self) -> BTreeMap<String, Value> {
        let mut all: BTreeMap<String, Value> = BTreeMap::new();
        let others = self.profile.subagents.iter().filter_map(|subagent| subagent.model.as_deref());
        for model in std::iter::once(self.model()).chain(others) {
            let Some(endpoint) = self.endpoint(model) else { continue };
            let Some(provider) = provider(endpoint.api) else { continue };
            let settings = all.entry(provider.id.to_owned()).or_insert_with(|| provider.settings(endpoint));
            settings["models"][model] = model_settings(model);
        }
        all
    }

    fn qualified(&self, model: &str) -> String {
        let provider = self.endpoint(model).and_then(|endpoint| provider(endpoint.api));
        provider.map_or_else(|| model.to_owned(), |provider| format!("{}/{model}", provider.id))
    }

    /// Who may do what without asking. The last rule that fits counts, and `*` comes first by its name.
    fn permission(&self) -> Value {
        let asks = self.permission_mode == PermissionMode::Ask;
        let allowed = if asks { "ask" } else { "allow" };
        let mut rules = Map::new();
        match &self.profile.tools {
            Some(tools) => {
                rules.insert("*".to_owned(), json!("deny"));
                rules.extend(tools.iter().map(|tool| (permission_name(tool), json!(allowed))));
            }
            None => _ = rules.insert("*".to_owned(), json!(allowed)),
        }
        if asks {
            // Looking at the workspace, planning and asking need no permission.
            for harmless in HARMLESS.iter().filter(|it| self.has_tool(it)) {
                rules.insert((*harmless).to_owned(), json!("allow"));
            }
        }
        Value::Object(rules)
    }

    fn has_tool(&self, permission: &str) -> bool {
        self.profile
            .tools
            .as_ref()
            .is_none_or(|tools| tools.iter().any(|tool| permission_name(tool) == permission))
    }

    fn agent(&self, subagent: &Subagent) -> Value {
        let mut settings = json!({
            "mode": "subagent",
            "description": subagent.description,
            "prompt": subagent.prompt,
        });
        if let Some(model) = &subagent.model {
            settings["model"] = json!(self.qualified(model));
        }
        if let Some(tools) = &subagent.tools {
            let mut rules = Map::from_iter([("*".to_owned(), json!("deny"))]);
            let allowed = if self.permission_mode == PermissionMode::Ask { "ask" } else { "allow" };
            rules.extend(tools.iter().map(|tool| (permission_name(tool), json!(allowed))));
            settings["permission"] = Value::Object(rules);
        }
        settings
    }
}

/// The API that has a model: Anthropic's has its own, chat completions all others.
pub(super) fn api_of(model: &str) -> ModelApi {
    if model.starts_with("claude") { ModelApi::Anthropic } else { ModelApi::OpenAiChat }
}

const HARMLESS: &[&str] =
    &["read", "glob", "grep", "list", "lsp", "todoread", "todowrite", "task", "skill", "question"];

impl Provider {
    fn settings(&self, endpoint: &ModelEndpoint) -> Value {
        json!({
            "npm": self.npm,
            "name": self.name,
            "options": {"baseURL": format!("{}/v1", endpoint.base_url), "apiKey": endpoint.placeholder_key},
            "models": {},
        })
    }
}

fn provider(api: ModelApi) -> Option<Provider> {
    match api {
        ModelApi::Anthropic => {
            Some(Provider { id: "warren-anthropic", name: "Anthropic", npm: "@ai-sdk/anthropic" })
        }
        ModelApi::OpenAiChat => {
            Some(Provider { id: "warren-openai", name: "OpenAI", npm: "@ai-sdk/openai-compatible" })
        }
        ModelApi::Gemini | ModelApi::OpenAiResponses => None,
    }
}

/// OpenCode knows nothing of a model that it is not told. What it costs, the host knows.
fn model_settings(model: &str) -> Value {
    json!({
        "name": model,
        "tool_call": true,
        "reasoning": true,
        "attachment": true,
        "modalities": {"input": ["text", "image", "pdf"], "output": ["text"]},
        "limit": {"context": 200_000, "output": 32_000},
    })
}

/// All tools that write files go by one permission.
fn permission_name(tool: &str) -> String {
    let lower = tool.to_ascii_lowercase();
    match lower.as_str() {
        "write" | "edit" | "multiedit" | "patch" | "apply_patch" => "edit".to_owned(),
        "bash" | "read" | "glob" | "grep" | "list" | "task" | "webfetch" | "websearch" | "todowrite"
        | "skill" | "question" => lower,
        // Names of servers' tools are kept as they are.
        _ => tool.to_owned(),
    }
}

fn mcp(server: &McpServer) -> Value {
    let setting = |name: &str| server.settings.get(name);
    if let Some(url) = setting("url") {
        let mut remote = json!({"type": "remote", "url": url, "enabled": true, "oauth": false});
        if let Some(headers) = setting("headers") {
            remote["headers"] = headers.clone();
        }
        return remote;
    }
    let words = |name: &str| match setting(name) {
        Some(Value::Array(words)) => words.clone(),
        Some(word) => vec![word.clone()],
        None => Vec::new(),
    };
    let command: Vec<Value> = words("command").into_iter().chain(words("args")).collect();
    let environment = setting("env").or_else(|| setting("environment"));
    json!({
        "type": "local", "command": command, "enabled": true,
        "environment": environment.cloned().unwrap_or_else(|| json!({})),
    })
}
