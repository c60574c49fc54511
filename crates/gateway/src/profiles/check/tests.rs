use serde_json::{Value, json};
use warren_domain::AgentProfile;

use super::check;
use crate::RequestError;

fn checked(profile: Value) -> Result<(), RequestError> {
    let mut profile: AgentProfile = serde_json::from_value(profile).expect("the shape of a profile");
    if profile.id.as_str().is_empty() {
        profile.id = "p".into();
    }
    check(&profile)
}

#[test]
fn a_profile_with_every_field_in_use_is_accepted() {
    let profile = json!({
        "id": "p.1_x-y",
        "model": "m",
        "tools": ["Bash"],
        "environmentVariables": {"A_1": "b", "lower": "", "JSON": "{\"a\":\n1}"},
        "command": ["agent", "--acp", ""],
        "skills": [{"name": "a skill", "supportingFiles": [{"path": "a/b.txt", "content": ""}]},
                   {"name": "b", "supportingFiles": [{"path": "a/b.txt", "content": ""}], "npmDependencies": ["x"]}],
        "subagents": [{"name": "a", "tools": ["Read"], "model": "m"}],
        "commands": [{"name": "a", "prompt": ""}],
        "bundledMCPs": [{"name": "one", "command": "node", "args": ["x.js", ""], "env": {"A": "b", "N": 5}},
                        {"name": "two", "command": ["node", "x.js"], "environment": {"A": "b"}, "type": "stdio"}],
        "externalMCPs": [{"name": "three", "url": "HTTPS://a.example:8443/mcp?x=1#y", "headers": {"X-A": "b\tc"}},
                         {"name": "four", "url": "${BASE:-https://a.example}/mcp", "timeout": 5},
                         {"name": "five", "type": "sse", "url": "http://[::1]:80"}],
        "defaultWorkspaceFiles": [{"path": "a/b", "content": ""}, {"path": "a/bc", "content": ""}, {"path": "ä", "content": ""}],
    });
    checked(profile).expect("accepted");
}

fn assert_refused(profile: &Value, field: &str) {
    let refused = checked(profile.clone()).expect_err(&profile.to_string());
    assert!(matches!(refused, RequestError::Invalid { .. }), "{profile}");
    assert!(refused.to_string().contains(field), "{profile}: {refused}");
}

#[test]
fn an_invalid_profile_is_refused_with_the_field_named() {
    let long = "x".repeat(256);
    let file = |path: &str| json!({"path": path, "content": ""});
    let table = [
        (json!({"id": "a/b"}), "`id`"),
        (json!({"model": " "}), "`model`"),
        (json!({"tools": ["Bash", ""]}), "`tools[1]`"),
        (json!({"environmentVariables": {"": "x"}}), "`environmentVariables.`"),
        (json!({"environmentVariables": {"A=B": "x"}}), "`environmentVariables.A=B`"),
        (json!({"environmentVariables": {"A B": "x"}}), "`environmentVariables.A B`"),
        (json!({"environmentVariables": {"A\0": "x"}}), "`environmentVariables.A\\0`"),
        (json!({"environmentVariables": {"A": "x\0"}}), "`environmentVariables.A`"),
        (json!({"command": []}), "`command`"),
        (json!({"command": [" ", "x"]}), "`command`"),
        (json!({"command": ["a", "b\0"]}), "`command[1]`"),
        (json!({"skills": [{"name": ""}]}), "`skills[0].name`"),
        (json!({"skills": [{"name": "a"}, {"name": "a"}]}), "`skills[1].name`"),
        (
            json!({"skills": [{"name": "a", "supportingFiles": [file("../x")]}]}),
            "`skills[0].supportingFiles[0].path`",
        ),
        (json!({"skills": [{"name": "a", "pipDependencies": [""]}]}), "`skills[0].pipDependencies[0]`"),
        (json!({"subagents": [{"name": "a\nb"}]}), "`subagents[0].name`"),
        (json!({"subagents": [{"name": "a", "model": ""}]}), "`subagents[0].model`"),
        (json!({"subagents": [{"name": "a", "tools": [" "]}]}), "`subagents[0].tools[0]`"),
        (json!({"commands": [{"name": "x".repeat(201), "prompt": ""}]}), "`commands[0].name`"),
        (
            json!({"defaultWorkspaceFiles": [file("a"), file("/etc/passwd")]}),
            "`defaultWorkspaceFiles[1].path`",
        ),
        (json!({"defaultWorkspaceFiles": [file("")]}), "`defaultWorkspaceFiles[0].path`"),
        (json!({"defaultWorkspaceFiles": [file("a\0b")]}), "`defaultWorkspaceFiles[0].path`"),
        (json!({"defaultWorkspaceFiles": [file(&long)]}), "`defaultWorkspaceFiles[0].path`"),
        (json!({"defaultWorkspaceFiles": [file("a/b"), file("a//b")]}), "`defaultWorkspaceFiles[1].path`"),
        (json!({"defaultWorkspaceFiles": [file("a/b/c"), file("a")]}), "`defaultWorkspaceFiles[0].path`"),
    ];
    for (profile, field) in table {
        assert_refused(&profile, field);
    }
}

#[test]
fn an_invalid_mcp_server_is_refused_with_the_field_named() {
    let server = |settings: Value| {
        let mut server = json!({"name": "s"});
        server.as_object_mut().expect("an object").extend(settings.as_object().expect("an object").clone());
        json!({"externalMCPs": [server]})
    };
    let table = [
        (json!({"bundledMCPs": [{"name": "", "command": "x"}]}), "`bundledMCPs[0].name`"),
        (
            json!({"bundledMCPs": [{"name": "a", "command": "x"}], "externalMCPs": [{"name": "a", "url": "http://x"}]}),
            "`externalMCPs[0].name`",
        ),
        (server(json!({})), "`externalMCPs[0]`"),
        (server(json!({"command": "x", "url": "http://x"})), "`externalMCPs[0]`"),
        (server(json!({"command": ""})), "`externalMCPs[0].command`"),
        (server(json!({"command": []})), "`externalMCPs[0].command`"),
        (server(json!({"command": ["x", 1]})), "`externalMCPs[0].command[1]`"),
        (server(json!({"command": 1})), "`externalMCPs[0].command`"),
        (server(json!({"command": "x", "args": "y"})), "`externalMCPs[0].args`"),
        (server(json!({"command": "x", "args": ["y", 1]})), "`externalMCPs[0].args[1]`"),
        (server(json!({"command": "x", "env": ["A=b"]})), "`externalMCPs[0].env`"),
        (server(json!({"command": "x", "env": {"A": {}}})), "`externalMCPs[0].env.A`"),
        (server(json!({"command": "x", "env": {"A=": "b"}})), "`externalMCPs[0].env.A=`"),
        (server(json!({"command": "x", "cwd": 1})), "`externalMCPs[0].cwd`"),
        (server(json!({"url": 1})), "`externalMCPs[0].url`"),
        (server(json!({"url": "ftp://x"})), "`externalMCPs[0].url`"),
        (server(json!({"url": "x.example/mcp"})), "`externalMCPs[0].url`"),
        (server(json!({"url": "http:///mcp"})), "`externalMCPs[0].url`"),
        (server(json!({"url": "http://a b"})), "`externalMCPs[0].url`"),
        (server(json!({"url": "http://x", "type": 1})), "`externalMCPs[0].type`"),
        (server(json!({"url": "http://x", "headers": "A: b"})), "`externalMCPs[0].headers`"),
        (server(json!({"url": "http://x", "headers": {"A b": "c"}})), "`externalMCPs[0].headers.A b`"),
        (server(json!({"url": "http://x", "headers": {"A": "c\r\nB: d"}})), "`externalMCPs[0].headers.A`"),
    ];
    for (profile, field) in table {
        assert_refused(&profile, field);
    }
}

#[test]
fn a_refusal_does_not_repeat_a_secret() {
    let at = |settings: Value| json!({"externalMCPs": [settings]});
    for profile in [
        at(json!({"name": "s", "url": "https://user:s3cret@a.example"})),
        at(json!({"name": "s", "url": "https://a.example", "headers": {"A": "s3cret\n"}})),
        at(json!({"name": "s", "command": "x", "env": {"A": "s3cret\0"}})),
        json!({"environmentVariables": {"A": "s3cret\0"}}),
    ] {
        let refused = checked(profile).expect_err("refused").to_string();
        assert!(!refused.contains("s3cret"), "{refused}");
    }
}
