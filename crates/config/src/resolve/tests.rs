use std::{fs, path::Path};

use super::{Config, Credentials, Database, Provider};
use crate::{ConfigError, Environment, KEYS, Loaded, Origin, Secret, docs, load, show};

/// Loads `file` from a fresh data directory.
fn load_text(file: &str, environment: &Environment) -> Result<Loaded, ConfigError> {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("warren.toml"), file).expect("written");
    load(directory.path(), None, environment)
}

fn config(file: &str) -> Config {
    load_text(file, &Environment::default()).expect("a legal file").config
}

/// The error and its hint, without the temporary path.
fn refusal(file: &str, environment: &Environment) -> (String, String) {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("warren.toml"), file).expect("written");
    let error = load(directory.path(), None, environment).expect_err("refused");
    let text = error.to_string().replace(&directory.path().display().to_string(), "DIR");
    (text, error.hint().unwrap_or_default())
}

#[test]
fn nothing_written_gives_the_numbers_of_the_protocol() {
    let directory = tempfile::tempdir().expect("a directory");
    let loaded = load(directory.path(), None, &Environment::default()).expect("defaults are legal");
    let shown = show(&loaded.config);
    let value = |key| shown.iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_str());
    assert_eq!(value("listen"), Some("\"127.0.0.1:7777\""));
    assert_eq!(value("sandbox.idle_timeout_seconds"), Some("900"));
    assert_eq!(value("sandbox.health_interval_seconds"), Some("30"));
    assert_eq!(value("sandbox.max_restarts_per_hour"), Some("3"));
    assert_eq!(value("sandbox.resource_limits.memory"), Some("\"2GiB\""));
    assert_eq!(value("sandbox.resource_limits.cpu"), Some("1"));
    assert_eq!(value("sandbox.resource_limits.pids"), Some("512"));
    assert_eq!(value("sandbox.resource_limits.disk"), Some("\"5GiB\""));
    assert_eq!(value("sandbox.resource_limits.inodes"), Some("500000"));
    assert_eq!(value("runs.time_budget_seconds"), Some("1800"));
    assert_eq!(value("runs.soft_budget_percent"), Some("40"));
    assert_eq!(loaded.config.storage.database, Database::Sqlite(directory.path().join("warren.db")));
    assert_eq!(loaded.config.models.anthropic.credentials, Credentials::Missing);
    assert_eq!(loaded.origins.len(), 0);
}

/// A value for every key.
const FILE: &str = r#"
        listen = "0.0.0.0:80"
        [server]
        allowed_hosts = ["warren.example.org"]
        allowed_origins = ["https://App.example.org:443", "http://localhost:5173"]
        body_limit = "1MiB"
        secure_cookies = true
        [sandbox]
        backend = "local"
        files = "guest"
        required = ["namespaces", "landlock"]
        uid_range = "300000 - 300999"
        idle_timeout_seconds = 60
        health_interval_seconds = 5
        max_restarts_per_hour = 0
        max_concurrent = 7
workspace_isolation = true
        resource_limits = { memory = "1GiB", cpu = 0.5, pids = 64, disk = 1048577 }
        [runs]
        time_budget_seconds = 100
        soft_budget_percent = 75
        approval_seconds = 60
        silence_seconds = 9
        [plans]
        unpaid = { messages = 3 }
        paid = { messages_per_week = 70 }
        admin = "paid"
        project = "unlimited"
        [storage]
        database_url = "postgres://ada:s3cr3t@db.example.org/warren?sslpassword=x"
blobs_url = 'file:/srv/blobs'
outputs_template_path = '/srv/template'
        max_log_bytes_per_run = '5MiB'
        max_log_bytes_per_session = '6MiB'
        max_log_bytes_per_project = '7MiB'
        [previews]
base_url = 'https://preview.example.org'
allow_origins = ['https://api.example.org', 'wss://*.example.org:8443']
[knowledge]
base_path = '/srv/knowledge'
max_bytes = '5MiB'
[documents]
libreoffice = '/opt/libreoffice24.8'
timeout_seconds = 90
        [versions]
        exclude = ["node_modules"]
[egress]
        allow = ["example.org", "*.example.com:8443"]
        allow_private = ["10.0.0.5:8080"]
        [agents]
        directory = "/opt/warren/agents"
        registry = "https://ada:s3cr3t@npm.example.org/"
        allow_http_registry = true
        cache_directory = "/var/cache/warren"
        [models.anthropic]
        base_url = "https://proxy.example.org/"
        api_key_env = "MY_KEY"
        allow = ["claude-haiku-*"]
        [models.openai]
        base_url = "http://10.0.0.1:8000/v1/"
        allow = ["qwen3", "llama*"]
        [models.openai_responses]
        base_url = "https://api.openai.com/v1"
        api_key_env = "MY_OTHER_KEY"
        [models.prices]
        claude-x = { input = 1.5, output = 2 }
        [models]
        max_recorded_bytes_per_run = '3MiB'
        key_file = '/srv/providers.key'
        allow_http_base_url = true
        max_recorded_bytes_per_session = '4MiB'
        provider_tools = true
        [models.demo]
        delay_milliseconds = 0
    "#;

const SHOWN: &str = r#"listen = "0.0.0.0:80"
server.allowed_hosts = ["warren.example.org"]
server.allowed_origins = ["https://app.example.org", "http://localhost:5173"]
server.body_limit = "1MiB"
server.secure_cookies = true
sandbox.backend = "local"
sandbox.files = "guest"
sandbox.required = ["namespaces", "landlock"]
sandbox.uid_range = "300000-300999"
sandbox.idle_timeout_seconds = 60
sandbox.health_interval_seconds = 5
sandbox.max_restarts_per_hour = 0
sandbox.max_concurrent = 7
sandbox.workspace_isolation = true
sandbox.resource_limits.memory = "1GiB"
sandbox.resource_limits.cpu = 0.5
sandbox.resource_limits.pids = 64
sandbox.resource_limits.disk = "1048577B"
sandbox.resource_limits.inodes = 500000
runs.time_budget_seconds = 100
runs.soft_budget_percent = 75
runs.approval_seconds = 60
runs.silence_seconds = 9
plans.unpaid.messages = 3
plans.paid.messages_per_week = 70
plans.admin = "paid"
plans.project = "unlimited"
storage.database_url = "postgres://ada@db.example.org/warren"
storage.blobs_url = "file:/srv/blobs"
storage.max_log_bytes_per_run = "5MiB"
storage.max_log_bytes_per_session = "6MiB"
storage.max_log_bytes_per_project = "7MiB"
retention.versions = 20
retention.daily_days = 30
retention.deltas_days = 7
retention.recordings_days = 30
retention.grace_seconds = 86400
retention.interval_seconds = 3600
versions.exclude = ["node_modules"]
storage.outputs_template_path = "/srv/template"
previews.base_url = "https://preview.example.org"
previews.allow_origins = ["https://api.example.org", "wss://*.example.org:8443"]
knowledge.base_path = "/srv/knowledge"
knowledge.max_bytes = "5MiB"
documents.libreoffice = "/opt/libreoffice24.8"
documents.timeout_seconds = 90
egress.allow = ["example.org", "*.example.com:8443"]
egress.allow_private = ["10.0.0.5:8080"]
agents.directory = "/opt/warren/agents"
agents.registry = "https://ada@npm.example.org"
agents.allow_http_registry = true
agents.cache_directory = "/var/cache/warren"
models.anthropic.base_url = "https://proxy.example.org"
models.anthropic.api_key_env = "MY_KEY"
models.anthropic.api_key_file = 
models.anthropic.allow = ["claude-haiku-*"]
models.gemini.base_url = "https://generativelanguage.googleapis.com"
models.gemini.api_key_env = "GEMINI_API_KEY"
models.gemini.api_key_file = 
models.gemini.allow = 
models.openai.base_url = "http://10.0.0.1:8000/v1"
models.openai.api_key_env = "OPENAI_API_KEY"
models.openai.api_key_file = 
models.openai.allow = ["qwen3", "llama*"]
models.openai_responses.base_url = "https://api.openai.com/v1"
models.openai_responses.api_key_env = "MY_OTHER_KEY"
models.openai_responses.api_key_file = 
models.openai_responses.allow = ["qwen3", "llama*"]
models.prices = { "claude-x" = { input = 1.5, output = 2 } }
models.max_recorded_bytes_per_run = "3MiB"
models.max_recorded_bytes_per_session = "4MiB"
models.key_file = "/srv/providers.key"
models.allow_http_base_url = true
models.provider_tools = true
models.demo.delay_milliseconds = 0"#;

#[test]
fn every_key_can_be_set_in_the_file_and_is_shown_as_it_was_written() {
    let shown: Vec<String> =
        show(&config(FILE)).into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
    assert_eq!(shown.join("\n"), SHOWN);
}

#[test]
fn a_variable_counts_before_the_file_and_both_are_named_as_origins() {
    let environment = Environment::from([
        ("WARREN_LISTEN", "127.0.0.1:0"),
        ("WARREN_SANDBOX_REQUIRED", "network, seccomp"),
        ("WARREN_SANDBOX_RESOURCE_LIMITS_CPU", "2"),
        ("WARREN_SANDBOX_IDLE_TIMOUT_SECONDS", "1"),
        ("WARREN_LOG", "debug"),
    ]);
    let loaded =
        load_text("listen = '127.0.0.1:1'\n[runs]\ntime_budget_seconds = 7\n", &environment).expect("legal");
    assert_eq!(loaded.config.listen.port(), 0);
    assert_eq!(loaded.config.sandbox.required, ["network", "seccomp"]);
    assert_eq!(loaded.config.sandbox.limits.cpu_millis, 2000);
    assert_eq!(loaded.config.runs.hard_budget.as_secs(), 7);
    let keys: Vec<_> = loaded.origins.keys().copied().collect();
    assert_eq!(
        keys,
        ["listen", "runs.time_budget_seconds", "sandbox.required", "sandbox.resource_limits.cpu"]
    );
    assert_eq!(loaded.origins["listen"], Origin::Variable("WARREN_LISTEN".to_owned()));
    assert!(
        matches!(&loaded.origins["runs.time_budget_seconds"], Origin::File(path) if path.ends_with("warren.toml"))
    );
    assert_eq!(loaded.unknown_variables, ["WARREN_SANDBOX_IDLE_TIMOUT_SECONDS"]);
}

#[test]
fn what_cannot_be_is_refused_with_what_to_do() {
    let none = Environment::default();
    let cases = [
        ("lisen = 'x'", "unknown key `lisen` in `DIR/warren.toml`", "did you mean `listen`?"),
        (
            "[sandbox]\nidle_timeout = 3",
            "unknown key `sandbox.idle_timeout` in `DIR/warren.toml`",
            "did you mean `sandbox.idle_timeout_seconds`?",
        ),
        (
            "[cellar]\nversions = 3",
            "unknown key `cellar` in `DIR/warren.toml`",
            "`warren config show` lists all keys",
        ),
        (
            "[models.anthropic]\napi_key = 'sk'",
            "unknown key `models.anthropic.api_key` in `DIR/warren.toml`",
            "keys do not belong in this file; set `ANTHROPIC_API_KEY` in the server's environment, or name a file with \
             `models.anthropic.api_key_file`",
        ),
        (
            "listen = 'here'",
            "`listen` cannot be `here`",
            "write an address and a port, such as `127.0.0.1:7777`",
        ),
        (
            "[sandbox]\nbackend = 'docker'",
            "`sandbox.backend` cannot be `docker`",
            "the only backend is `local`",
        ),
        (
            "[sandbox]\nidle_timeout_seconds = 0",
            "`sandbox.idle_timeout_seconds` cannot be `0`",
            "write at least 1",
        ),
        (
            "[sandbox.resource_limits]\nmemory = 1",
            "`sandbox.resource_limits.memory` cannot be `1B`",
            "an agent needs at least 64MiB of memory",
        ),
        (
            "[storage]\ndatabase_url = 'mysql://u:p@h/d'",
            "`storage.database_url` cannot be of that scheme",
            "write `postgres://user@host/name` or `sqlite:PATH`",
        ),
        (
            "[runs]\nsoft_budget_percent = 101",
            "`runs.soft_budget_percent` cannot be `101`",
            "write a number from 1 to 100",
        ),
        (
            "[versions]\nexclude = ['a/b']",
            "`versions.exclude` cannot be `a/b`",
            "write names of directories, without a `/`",
        ),
        ("listen = 3", "`DIR/warren.toml` is not a valid configuration", ""),
        ("listen", "`DIR/warren.toml` is not a valid configuration", ""),
    ];
    for (file, error, hint) in cases {
        assert_eq!(refusal(file, &none), (error.to_owned(), hint.to_owned()), "{file}");
    }
}

#[test]
fn a_variable_that_cannot_be_is_refused_by_its_name() {
    let environment = Environment::from([("WARREN_SANDBOX_IDLE_TIMEOUT_SECONDS", "soon")]);
    let error =
        "the environment variable `WARREN_SANDBOX_IDLE_TIMEOUT_SECONDS` is not a whole number: `soon`";
    assert_eq!(refusal("", &environment).0, error);
}

#[test]
fn what_is_outside_is_refused_with_what_to_do() {
    let none = Environment::default();
    let cases = [
        (
            "[egress]\nallow = ['http://a.example']",
            "`egress.allow` cannot be `http://a.example`",
            "write `example.com`, `*.example.com` or an address, with `:port` for ports other than 80 and 443",
        ),
        (
            "[egress]\nallow_private = ['10.0.0.5']",
            "`egress.allow_private` cannot be `10.0.0.5`",
            "write one host or address with its port, such as `10.0.0.5:8080`",
        ),
        (
            "[previews]\nallow_origins = ['https://a.example; script-src *']",
            "`previews.allow_origins` cannot be `https://a.example; script-src *`",
            "write a scheme, a host and optionally a port, and no path: `https://api.example.com`, `wss://*.example.com`",
        ),
        (
            "[previews]\nallow_origins = ['a.example']",
            "`previews.allow_origins` cannot be `a.example`",
            "write a scheme, a host and optionally a port, and no path: `https://api.example.com`, `wss://*.example.com`",
        ),
        (
            "[agents]\nregistry = 'npm.example.org'",
            "`agents.registry` cannot be of that scheme",
            "write a URL that begins with `https://`",
        ),
        (
            "[sandbox]\nfiles = 'elsewhere'",
            "`sandbox.files` cannot be `elsewhere`",
            "write `host` or `guest`",
        ),
        (
            "[documents]\ntimeout_seconds = 0",
            "`documents.timeout_seconds` cannot be `0`",
            "write a number from 1 to 3600",
        ),
        (
            "[documents]\nlibreoffice = ''",
            "`documents.libreoffice` cannot be ``",
            "write `auto`, `off` or a path",
        ),
    ];
    for (file, error, hint) in cases {
        assert_eq!(refusal(file, &none), (error.to_owned(), hint.to_owned()), "{file}");
    }
}

#[test]
fn a_value_of_the_wrong_kind_is_shown_with_its_line() {
    let error = load_text("\n\nlisten = 3\n", &Environment::default()).expect_err("refused");
    let source = std::error::Error::source(&error).expect("says where").to_string();
    assert!(source.contains("line 3"), "{source}");
}

#[test]
fn the_provider_s_key_and_address_come_from_the_servers_environment() {
    let both =
        Environment::from([("ANTHROPIC_API_KEY", "sk-1"), ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9/")]);
    let anthropic =
        |file: &str, environment| load_text(file, environment).expect("legal").config.models.anthropic;

    let found = anthropic("", &both);
    assert_eq!(found.base_url, "http://127.0.0.1:9");
    assert_eq!(found.credentials, Credentials::Key(Secret::new("sk-1")));

    let only_address =
        Environment::from([("ANTHROPIC_BASE_URL", "http://127.0.0.1:9"), ("ANTHROPIC_API_KEY", "")]);
    assert_eq!(anthropic("", &only_address).credentials, Credentials::Missing);

    let local = "[models.anthropic]\nbase_url = 'http://10.0.0.1'";
    assert_eq!(anthropic(local, &Environment::default()).credentials, Credentials::NotNeeded);
}

#[test]
fn every_provider_has_its_own_variables() {
    let environment = Environment::from([
        ("GOOGLE_API_KEY", "g"),
        ("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1"),
        ("OPENAI_API_KEY", "o"),
        ("OPENAI_BASE_URL", "http://127.0.0.1:2/v1/"),
    ]);
    let models = load_text("", &environment).expect("legal").config.models;
    let provider = |url: &str, variable: &str, key: &str| Provider {
        base_url: url.to_owned(),
        api_key_env: variable.to_owned(),
        credentials: Credentials::Key(Secret::new(key)),
        has_key_file: false,
        allow: None,
    };
    assert_eq!(models.anthropic.credentials, Credentials::Missing);
    assert_eq!(models.gemini, provider("http://127.0.0.1:1", "GOOGLE_API_KEY", "g"));
    assert_eq!(models.openai, provider("http://127.0.0.1:2/v1", "OPENAI_API_KEY", "o"));
    assert_eq!(models.openai_responses, models.openai);

    let both = Environment::from([("GEMINI_API_KEY", "first"), ("GOOGLE_API_KEY", "second")]);
    let gemini = load_text("", &both).expect("legal").config.models.gemini;
    assert_eq!(gemini.credentials, Credentials::Key(Secret::new("first")));
}

#[test]
fn responses_go_where_chat_completions_go_unless_something_else_is_written() {
    let environment = Environment::from([("OPENAI_API_KEY", "o"), ("R", "r")]);
    let responses = |file: &str| {
        let found = load_text(file, &environment).expect("legal").config.models.openai_responses;
        (found.base_url, found.credentials)
    };
    let key = |key: &str| Credentials::Key(Secret::new(key));
    let at = "[models.openai]\nbase_url = 'http://10.0.0.1/v1'\n";
    assert_eq!(responses(at), ("http://10.0.0.1/v1".to_owned(), key("o")));
    let with_key = format!("{at}[models.openai_responses]\napi_key_env = 'R'");
    assert_eq!(responses(&with_key), ("http://10.0.0.1/v1".to_owned(), key("r")));
    let elsewhere = format!("{at}[models.openai_responses]\nbase_url = 'http://10.0.0.2'");
    assert_eq!(responses(&elsewhere), ("http://10.0.0.2".to_owned(), key("o")));
}

#[test]
fn models_allowed_in_chat_completions_are_allowed_in_responses_unless_something_else_is_written() {
    let environment = Environment::from([("OPENAI_API_KEY", "o")]);
    let allowed =
        |file: &str| load_text(file, &environment).expect("legal").config.models.openai_responses.allow;
    let list = |models: &[&str]| Some(models.iter().map(|model| (*model).to_owned()).collect::<Vec<_>>());
    let chat = "[models.openai]\nallow = ['gpt-5*']\n";
    assert_eq!(allowed(""), None);
    assert_eq!(allowed(chat), list(&["gpt-5*"]));
    assert_eq!(
        allowed(&format!("{chat}[models.openai_responses]\nbase_url = 'http://10.0.0.2'")),
        list(&["gpt-5*"])
    );
    assert_eq!(allowed(&format!("{chat}[models.openai_responses]\nallow = ['o3']")), list(&["o3"]));
    assert_eq!(allowed(&format!("{chat}[models.openai_responses]\nallow = []")), list(&[]));
}

#[test]
fn a_key_can_be_in_a_file_of_the_data_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("key"), "sk-2\n").expect("written");
    fs::write(directory.path().join("warren.toml"), "models.anthropic.api_key_file = 'key'")
        .expect("written");
    let loaded = load(directory.path(), None, &Environment::default()).expect("legal");
    assert_eq!(loaded.config.models.anthropic.credentials, Credentials::Key(Secret::new("sk-2")));
}

#[test]
fn the_registry_is_npm_s_own_unless_it_is_named_here() {
    let npm = Environment::from([("NPM_CONFIG_REGISTRY", "http://127.0.0.1:4873/")]);
    let registry = |file: &str, environment: &Environment| {
        load_text(file, environment).expect("legal").config.agents.registry.expose().to_owned()
    };
    let none = Environment::default();
    assert_eq!(registry("", &none), "https://registry.npmjs.org");
    assert_eq!(registry("", &npm), "http://127.0.0.1:4873");
    assert_eq!(registry("agents.registry = 'https://npm.example.org'", &npm), "https://npm.example.org");
}

#[test]
fn a_named_file_must_exist() {
    let error = load(Path::new("/nowhere"), Some(Path::new("/nowhere/x.toml")), &Environment::default());
    assert_eq!(error.expect_err("refused").to_string(), "failed to read `/nowhere/x.toml`");
}

#[test]
fn no_secret_is_in_any_text_made_of_the_options() {
    let environment = Environment::from([
        ("ANTHROPIC_API_KEY", "sk-secret"),
        ("GEMINI_API_KEY", "AIza-secret"),
        ("OPENAI_API_KEY", "sk-secret"),
    ]);
    let file = "storage.database_url = 'postgres://u:pw@secret@host/db?password=secret'\n\
                agents.registry = 'https://u:secret@host'";
    let loaded = load_text(file, &environment).expect("legal");
    let text = format!("{loaded:?} {:?} {environment:?}", show(&loaded.config));
    assert!(!text.contains("secret"), "{text}");
}

#[test]
fn every_variable_sets_its_own_key() {
    let mut variables: Vec<_> = KEYS.iter().filter_map(crate::Key::variable).collect();
    let n_variables = variables.len();
    variables.dedup();
    assert_eq!(variables.len(), n_variables);
    assert!(variables.iter().all(|name| docs().contains(name.as_str())));
}

#[test]
fn a_bucket_needs_its_keys_and_they_are_in_no_text() {
    let file = "[storage]\nblobs_url = 's3://b/p?region=eu-1'";
    let (error, hint) = refusal(file, &Environment::default());
    assert_eq!(error, "`storage.blobs_url` cannot be a bucket without its keys");
    assert_eq!(hint, "export AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY before the server starts");
    for wrong in ["b", "s3:b", "file:", "s3://me:key@b"] {
        let (error, _) = refusal(&format!("[storage]\nblobs_url = '{wrong}'"), &Environment::default());
        assert_eq!(error, "`storage.blobs_url` cannot be of that form", "{wrong}");
    }
    let keys = Environment::from([("AWS_ACCESS_KEY_ID", "me"), ("AWS_SECRET_ACCESS_KEY", "hidden-key")]);
    let config = load_text(file, &keys).expect("a configuration").config;
    let blobs = config.storage.blobs.clone().expect("a bucket");
    assert_eq!(blobs.keys.as_ref().map(|(id, key)| (id.as_str(), key.expose())), Some(("me", "hidden-key")));
    assert!(!format!("{config:?}{:?}", show(&config)).contains("hidden-key"));
}

#[test]
fn uid_range_is_a_first_and_a_last_uid_that_nobody_has_by_custom() {
    let range = |text: &str| {
        load_text(&format!("sandbox.uid_range = '{text}'"), &Environment::default())
            .map(|loaded| loaded.config.sandbox.uid_range)
    };
    assert_eq!(range("100000-100999").expect("legal"), Some((100_000, 100_999)));
    let illegal =
        ["", "200000", "2-1", "0-65533", "999-2000", "65000-66000", "200000-4294967295", "a-b", "1-2-3"];
    for text in illegal {
        assert!(range(text).is_err(), "{text}");
    }
}
