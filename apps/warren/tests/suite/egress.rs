//! What leaves a sandbox: what is allowed, through the one proxy, and every decision is in the log.

use reqwest::StatusCode;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use warren_testkit::{Setup, TestEvent};

use super::real;

/// A web server of one word, on this machine.
async fn web_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = [0; 4096];
            let _ = stream.read(&mut head).await;
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nmarzipan";
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    port
}

/// A request to the proxy, in nothing but bash.
fn ask_proxy(url: &str) -> String {
    format!(
        "bash: exec 3<>/dev/tcp/127.0.0.1/4180; printf 'GET {url} HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3"
    )
}

fn decisions(events: &[TestEvent]) -> Vec<(String, bool)> {
    let decided = events.iter().filter(|event| event.kind() == "egress_decided");
    decided
        .map(|event| {
            let host = format!("{}:{}", event.json["host"].as_str().expect("a host"), event.json["port"]);
            (host, event.json["allowed"] == json!(true))
        })
        .collect()
}

fn outputs(events: &[TestEvent]) -> String {
    let results = events.iter().filter(|event| event.json["block"]["type"] == "tool_result");
    results.map(|event| event.json["block"]["output"].to_string()).collect()
}

#[tokio::test]
async fn only_what_is_allowed_is_reached_and_each_decision_is_in_the_log() {
    let port = web_server().await;
    let server =
        Setup::new().config(&format!("[egress]\nallow_private = [\"127.0.0.1:{port}\"]")).start().await;
    let client = server.admin();
    let session = client.session_create().await;

    let events = client.run(session, &ask_proxy(&format!("http://127.0.0.1:{port}/"))).await;
    assert!(outputs(&events).contains("marzipan"), "{}", outputs(&events));
    assert_eq!(decisions(&events), [(format!("127.0.0.1:{port}"), true)]);

    for (url, host) in [
        ("http://example.com/", "example.com:80"),
        ("http://169.254.169.254/latest/", "169.254.169.254:80"),
        (&format!("{}/health", server.url()), server.url().trim_start_matches("http://")),
    ] {
        let events = client.run(session, &ask_proxy(url)).await;
        assert!(outputs(&events).contains("403"), "{url}: {}", outputs(&events));
        assert_eq!(decisions(&events), [(host.to_owned(), false)]);
    }
}

#[tokio::test]
async fn every_agents_tools_reach_what_its_profile_allows_and_no_more() {
    let port = web_server().await;
    let config = format!("[egress]\nallow_private = [\"127.0.0.1:{port}\"]");
    let server = Setup::new().agents(&real::ALL).await.config(&config).start().await;
    let client = server.admin();
    client.put("/api/profiles/open", &json!({"egressAllow": ["allowed.test"]})).await.expect(StatusCode::OK);
    for agent in real::ALL {
        let session = real::session(&client, agent, json!({"agentProfileReference": "open"})).await;
        // What the proxy tells a tool is how it decided: nobody is behind a name that was made up.
        let ask = |url: &str| {
            format!("run: curl --noproxy '' -s -o /dev/null -w 'said:%{{http_code}}' {url}; true")
        };
        for (url, said, decided) in [
            (format!("http://127.0.0.1:{port}/"), "said:200", (format!("127.0.0.1:{port}"), true)),
            ("http://elsewhere.test/".to_owned(), "said:403", ("elsewhere.test:80".to_owned(), false)),
            ("http://allowed.test/".to_owned(), "said:502", ("allowed.test:80".to_owned(), true)),
        ] {
            let events = client.run(session, &ask(&url)).await;
            let output = real::outputs_of(&events);
            assert!(output.contains(said), "{agent}: {url}: {output}");
            // An agent does not try for more by itself either.
            assert_eq!(decisions(&events), [decided], "{agent}: {url}");
        }
        assert_eq!(decisions(&client.log(session).await).len(), 3, "{agent}: nothing else was tried");
    }
}

#[tokio::test]
async fn there_is_no_name_service_and_no_way_around_the_proxy() {
    let port = web_server().await;
    let server = Setup::new().start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let around = format!(
        "bash: (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo reached; getent hosts example.com && echo resolved; echo tried"
    );
    let said = outputs(&client.run(session, &around).await);
    assert!(said.contains("tried") && !said.contains("reached") && !said.contains("resolved"), "{said}");
}
