//! The proxy as a sandbox sees it, on a network that is played.

mod bench;

use std::{collections::HashMap, sync::Arc, time::Duration};

use rustls::{ClientConfig, ClientConnection, RootCertStore, crypto::ring, pki_types::ServerName};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{EgressOptions, EgressSlots, PrivateTargets};
use bench::{Bench, Net, Seen, decision, head, ip, name};

const PUBLIC: &str = "93.184.216.34";

fn body(answer: &str) -> serde_json::Value {
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("JSON")
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).expect("a status")
}

fn greeting(server: &'static str) -> Vec<u8> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let server = ServerName::try_from(server).expect("a name");
    let mut client = ClientConnection::new(Arc::new(config), server).expect("a client");
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).expect("written");
    bytes
}

#[tokio::test]
async fn a_host_that_no_rule_allows_is_refused_and_never_looked_up() {
    let mut bench = Bench::new(name("secret.evil.example", &[PUBLIC]), &["good.example"]);
    let answer = bench.ask("CONNECT Secret.evil.example:443 HTTP/1.1\r\nhost: good.example\r\n\r\n").await;
    assert!(
        answer.starts_with("HTTP/1.1 403 Forbidden\r\ncontent-type: application/problem+json\r\n"),
        "{answer}"
    );
    let expect = serde_json::json!({
        "title": "the host may not be reached",
        "status": 403,
        "code": "EGRESS_DENIED",
        "detail": "`secret.evil.example:443` may not be reached from this sandbox: no rule allows it",
        "host": "secret.evil.example",
        "port": 443,
        "hint": "add `secret.evil.example` to `egress.allow` in warren.toml, or to `egressAllow` of the profile",
    });
    assert_eq!(body(&answer), expect);
    assert_eq!(bench.decisions(), [decision("secret.evil.example", 443, false, "no rule allows it")]);
    assert_eq!(bench.seen(), Seen::default());
}

#[tokio::test]
async fn the_url_decides_whom_a_request_is_for_and_what_concerns_one_connection_stays_on_it() {
    let mut bench = Bench::new(name("good.example", &[PUBLIC]), &["good.example"]);
    let mut sandbox = bench.connect();
    let request = "POST http://GOOD.example/a?b=c HTTP/1.1\r\nHost: 169.254.169.254\r\nConnection: x-hop, close\r\n\
                   X-Hop: 1\r\nX-Kept: 2\r\nProxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\n\
                   TE: trailers\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nhi";
    sandbox.write_all(request.as_bytes()).await.expect("written");
    let mut host = bench.arrived().await;
    let expect = "POST /a?b=c HTTP/1.1\r\nhost: good.example\r\nx-kept: 2\r\ncontent-length: 2\r\nvia: 1.1 warren\r\n\r\n";
    assert_eq!(head(&mut host).await, expect);
    let mut sent = [0; 2];
    host.read_exact(&mut sent).await.expect("the body");
    assert_eq!(&sent, b"hi");
    let answer =
        "HTTP/1.1 200 OK\r\nkeep-alive: timeout=5\r\nx-kept: 3\r\ncontent-length: 2\r\ndate: now\r\n\r\nyo";
    host.write_all(answer.as_bytes()).await.expect("answered");
    let mut got = String::new();
    sandbox.read_to_string(&mut got).await.expect("read");
    let expect = "HTTP/1.1 200 OK\r\ndate: now\r\nx-kept: 3\r\ncontent-length: 2\r\nvia: 1.1 warren\r\n\
                  connection: close\r\n\r\nyo";
    assert_eq!(got, expect);
    assert_eq!(bench.decisions(), [decision("good.example", 80, true, "good.example")]);
    assert_eq!(
        bench.seen(),
        Seen { looked_up: vec!["good.example".to_owned()], dialled: vec![format!("{PUBLIC}:80")] }
    );
}

#[tokio::test]
async fn each_request_of_one_connection_is_decided_for_itself() {
    let mut bench = Bench::new(name("good.example", &[PUBLIC]), &["good.example"]);
    let mut sandbox = bench.connect();
    sandbox
        .write_all(b"GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n")
        .await
        .expect("written");
    let mut host = bench.arrived().await;
    head(&mut host).await;
    host.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.expect("answered");
    assert_eq!(status(&head(&mut sandbox).await), "204");
    sandbox.write_all(b"GET http://10.0.0.1/ HTTP/1.1\r\nHost: good.example\r\n\r\n").await.expect("written");
    assert_eq!(status(&head(&mut sandbox).await), "403");
    assert_eq!(
        bench.decisions(),
        [
            decision("good.example", 80, true, "good.example"),
            decision("10.0.0.1", 80, false, "no rule allows it"),
        ]
    );
}

#[tokio::test]
async fn a_tunnel_carries_both_ways_when_the_greeting_names_the_host() {
    let mut bench = Bench::new(name("good.example", &[PUBLIC]), &["*.example"]);
    let mut sandbox = bench.connect();
    sandbox.write_all(b"CONNECT good.example:443 HTTP/1.1\r\n\r\n").await.expect("written");
    assert_eq!(status(&head(&mut sandbox).await), "200");
    let hello = greeting("good.example");
    // In pieces: nothing may depend on how the bytes arrive.
    for piece in hello.chunks(50) {
        sandbox.write_all(piece).await.expect("written");
    }
    sandbox.write_all(b"more").await.expect("written");
    let mut host = bench.arrived().await;
    let mut got = vec![0; hello.len() + 4];
    host.read_exact(&mut got).await.expect("read");
    assert_eq!(got, [hello, b"more".to_vec()].concat());
    host.write_all(b"back").await.expect("written");
    drop(host);
    let mut back = Vec::new();
    sandbox.read_to_end(&mut back).await.expect("read");
    assert_eq!(back, b"back");
    assert_eq!(bench.decisions(), [decision("good.example", 443, true, "*.example")]);
}

#[tokio::test]
async fn a_greeting_for_another_host_never_leaves() {
    let mut bench = Bench::new(name("good.example", &[PUBLIC]), &["*.example"]);
    let mut sandbox = bench.connect();
    sandbox.write_all(b"CONNECT good.example:443 HTTP/1.1\r\n\r\n").await.expect("written");
    assert_eq!(status(&head(&mut sandbox).await), "200");
    sandbox.write_all(&greeting("other.example")).await.expect("written");
    let mut alert = Vec::new();
    sandbox.read_to_end(&mut alert).await.expect("read");
    assert_eq!(alert, [21, 3, 3, 0, 2, 2, 112]);
    let mut sent = Vec::new();
    bench.arrived().await.read_to_end(&mut sent).await.expect("closed");
    assert_eq!(sent, b"");
    let why = "the TLS ClientHello names another host than `good.example:443`";
    assert_eq!(
        bench.decisions(),
        [decision("good.example", 443, true, "*.example"), decision("other.example", 443, false, why)]
    );
}

#[tokio::test]
async fn what_is_not_tls_does_not_pass_as_tls() {
    let mut bench = Bench::new(name("good.example", &[PUBLIC]), &["good.example"]);
    let mut sandbox = bench.connect();
    let request = b"CONNECT good.example:443 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: other.example\r\n\r\n";
    sandbox.write_all(request).await.expect("written");
    let mut answer = Vec::new();
    sandbox.read_to_end(&mut answer).await.expect("read");
    let mut sent = Vec::new();
    bench.arrived().await.read_to_end(&mut sent).await.expect("closed");
    assert_eq!(sent, b"");
    assert_eq!(
        bench.decisions(),
        [
            decision("good.example", 443, true, "good.example"),
            decision("good.example", 443, false, "no TLS ClientHello was sent"),
        ]
    );
}

#[tokio::test]
async fn a_name_that_changes_its_address_is_looked_up_once_and_the_checked_address_dialled() {
    let answers = vec![vec![ip(PUBLIC)], vec![ip("127.0.0.1")]];
    let net = Net { names: HashMap::from([("rebind.example", answers)]), ..Net::default() };
    let mut bench = Bench::new(net, &["rebind.example"]);
    let mut sandbox = bench.connect();
    sandbox.write_all(b"CONNECT rebind.example:443 HTTP/1.1\r\n\r\n").await.expect("written");
    assert_eq!(status(&head(&mut sandbox).await), "200");
    let seen = Seen { looked_up: vec!["rebind.example".to_owned()], dialled: vec![format!("{PUBLIC}:443")] };
    assert_eq!(bench.seen(), seen);
    // The next request looks again, and is refused.
    let answer = bench.ask("CONNECT rebind.example:443 HTTP/1.1\r\n\r\n").await;
    assert_eq!(status(&answer), "403");
    assert_eq!(
        bench.decisions(),
        [
            decision("rebind.example", 443, true, "rebind.example"),
            decision("rebind.example", 443, false, "a loopback address"),
        ]
    );
    assert_eq!(bench.seen().dialled, seen.dialled);
}

#[tokio::test]
async fn no_spelling_of_a_forbidden_address_is_dialled_even_if_a_rule_names_it() {
    let cases = [
        ("127.0.0.1", "a loopback address"),
        ("2130706433", "a loopback address"),
        ("0x7f.1", "a loopback address"),
        ("0177.0.0.1", "a loopback address"),
        ("127.0.0.1.", "a loopback address"),
        ("0", "the unspecified address"),
        ("169.254.169.254", "a metadata service's address"),
        ("0xa9fea9fe", "a metadata service's address"),
        ("10.1", "a private address"),
        ("[::1]", "a loopback address"),
        ("[::ffff:10.0.0.1]", "an IPv6 address that stands for an IPv4 one"),
        ("[64:ff9b::7f00:1]", "an IPv6 address that stands for an IPv4 one"),
        ("[fd00::1]", "a private address"),
        ("8.8.4.4", "this machine's own address"),
    ];
    for (host, why) in cases {
        let net = Net { own: vec![ip("8.8.4.4")], ..Net::default() };
        let mut bench = Bench::new(net, &[host]);
        let plain = bench.ask(&format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n")).await;
        let tunnel = bench.ask(&format!("CONNECT {host}:443 HTTP/1.1\r\n\r\n")).await;
        assert_eq!((status(&plain), status(&tunnel)), ("403", "403"), "{host}");
        let rules: Vec<String> = bench.decisions().into_iter().map(|decision| decision.rule).collect();
        assert_eq!(rules, [why, why], "{host}");
        assert_eq!(bench.seen(), Seen::default(), "{host}");
    }
}

#[tokio::test]
async fn of_a_names_addresses_only_those_that_may_be_are_tried_in_their_order() {
    let net = name("good.example", &["10.0.0.1", "1.1.1.1", "::1", "1.0.0.1", "9.9.9.9"]);
    let mut bench = Bench::new(Net { dead: vec![ip("1.1.1.1")], ..net }, &["good.example:22"]);
    let mut sandbox = bench.connect();
    sandbox.write_all(b"CONNECT good.example:22 HTTP/1.1\r\n\r\n").await.expect("written");
    assert_eq!(status(&head(&mut sandbox).await), "200");
    assert_eq!(bench.seen().dialled, ["1.1.1.1:22", "1.0.0.1:22"]);
    // Not port 443, so a server that speaks first is heard.
    bench.arrived().await.write_all(b"SSH-2.0-x\r\n").await.expect("written");
    let mut said = [0; 11];
    sandbox.read_exact(&mut said).await.expect("read");
    assert_eq!(&said, b"SSH-2.0-x\r\n");
}

#[tokio::test]
async fn the_operator_may_allow_a_private_place_but_not_the_server_itself() {
    let options = EgressOptions {
        allow_private: PrivateTargets::parse(["10.0.0.5:8080", "127.0.0.1:7777", "0.0.0.0:7777"])
            .expect("read"),
        listeners: vec![([0, 0, 0, 0], 7777).into()],
        ..EgressOptions::default()
    };
    let mut bench = Bench::with(options, Net::default(), Some(&[]), EgressSlots::default());
    let mut sandbox = bench.connect();
    sandbox.write_all(b"CONNECT 10.0.0.5:8080 HTTP/1.1\r\n\r\n").await.expect("written");
    assert_eq!(status(&head(&mut sandbox).await), "200");
    for target in ["10.0.0.5:80", "10.0.0.6:8080", "127.0.0.1:7777", "0.0.0.0:7777"] {
        let answer = bench.ask(&format!("CONNECT {target} HTTP/1.1\r\n\r\n")).await;
        assert_eq!(status(&answer), "403", "{target}");
    }
    assert_eq!(
        bench.decisions(),
        [
            decision("10.0.0.5", 8080, true, "egress.allow_private"),
            decision("10.0.0.5", 80, false, "no rule allows it"),
            decision("10.0.0.6", 8080, false, "no rule allows it"),
            decision("127.0.0.1", 7777, false, "this server listens there"),
            decision("0.0.0.0", 7777, false, "this server listens there"),
        ]
    );
    assert_eq!(bench.seen().dialled, ["10.0.0.5:8080"]);
}

#[tokio::test]
async fn without_a_run_nothing_is_reached() {
    let options = EgressOptions {
        allow: super::EgressRules::parse(["good.example"]).expect("rules"),
        ..EgressOptions::default()
    };
    let mut bench = Bench::with(options, name("good.example", &[PUBLIC]), None, EgressSlots::default());
    assert_eq!(status(&bench.ask("CONNECT good.example:443 HTTP/1.1\r\n\r\n").await), "403");
    assert_eq!(bench.decisions(), [decision("good.example", 443, false, "no run is active")]);
}

#[tokio::test]
async fn what_names_no_target_is_told_what_this_is() {
    let mut bench = Bench::new(Net::default(), &[]);
    let requests = [
        "GET / HTTP/1.1\r\nHost: good.example\r\n\r\n",
        "GET https://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n",
        "GET http://good.example@10.0.0.1/ HTTP/1.1\r\nHost: good.example\r\n\r\n",
        "GET http://a%20b/ HTTP/1.1\r\nHost: x\r\n\r\n",
        "CONNECT good.example HTTP/1.1\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
    ];
    for request in requests {
        assert_eq!(status(&bench.ask(request).await), "400", "{request}");
    }
    assert_eq!(bench.decisions(), []);
}

#[tokio::test]
async fn a_request_with_two_lengths_is_one_request_or_none() {
    let mut bench = Bench::new(name("good.example", &[PUBLIC]), &["good.example"]);
    let mut sandbox = bench.connect();
    let request = "POST http://good.example/ HTTP/1.1\r\nHost: good.example\r\nContent-Length: 4\r\n\
                   Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n";
    sandbox.write_all(request.as_bytes()).await.expect("written");
    // Whatever is made of it, the second request is never part of the first one.
    let first = bench.next_decision().await;
    if first.host == "good.example" {
        let mut host = bench.arrived().await;
        let got = head(&mut host).await;
        assert!(got.contains("transfer-encoding: chunked") && !got.contains("content-length"), "{got}");
        let mut end = [0; 5];
        host.read_exact(&mut end).await.expect("the end of the body");
        assert_eq!(&end, b"0\r\n\r\n");
        host.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.expect("answered");
        assert_eq!(bench.seen().dialled, [format!("{PUBLIC}:80")]);
    }
}

#[tokio::test]
async fn a_host_that_cannot_be_reached_is_a_502_that_says_why() {
    let net = Net { dead: vec![ip(PUBLIC)], ..name("good.example", &[PUBLIC]) };
    let mut bench = Bench::new(net, &["good.example", "unknown.example"]);
    let dead = bench.ask("CONNECT good.example:443 HTTP/1.1\r\n\r\n").await;
    let unknown = bench.ask("CONNECT unknown.example:443 HTTP/1.1\r\n\r\n").await;
    assert_eq!((status(&dead), status(&unknown)), ("502", "502"));
    assert_eq!(body(&dead)["detail"], "`good.example:443` cannot be reached: nobody answers there");
    assert_eq!(
        body(&unknown)["detail"],
        "`unknown.example:443` cannot be reached: the name cannot be resolved"
    );
    assert_eq!(
        bench.decisions(),
        [
            decision("good.example", 443, true, "good.example"),
            decision("unknown.example", 443, true, "unknown.example"),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_answer_is_given_up_in_time() {
    let net = Net { silent: vec![ip(PUBLIC)], ..name("good.example", &[PUBLIC]) };
    let bench = Bench::new(net, &["good.example"]);
    let began = tokio::time::Instant::now();
    let answer = bench.ask("CONNECT good.example:443 HTTP/1.1\r\n\r\n").await;
    assert_eq!(body(&answer)["detail"], "`good.example:443` cannot be reached: nobody answered in time");
    assert_eq!(began.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_tunnel_that_falls_silent_is_closed() {
    let mut bench = Bench::new(name("good.example", &[PUBLIC]), &["good.example:22"]);
    let mut sandbox = bench.connect();
    sandbox.write_all(b"CONNECT good.example:22 HTTP/1.1\r\n\r\n").await.expect("written");
    assert_eq!(status(&head(&mut sandbox).await), "200");
    let mut host = bench.arrived().await;
    assert_eq!(sandbox.read(&mut [0; 1]).await.expect("closed"), 0);
    assert_eq!(host.read(&mut [0; 1]).await.expect("closed"), 0);
}

#[tokio::test]
async fn a_sandbox_has_only_so_many_connections_and_gets_them_back() {
    let net = name("good.example", &[PUBLIC]);
    let options = EgressOptions::default();
    let mut bench = Bench::with(options, net, Some(&["good.example:22"]), EgressSlots::new(1));
    let mut first = bench.connect();
    first.write_all(b"CONNECT good.example:22 HTTP/1.1\r\n\r\n").await.expect("written");
    assert_eq!(status(&head(&mut first).await), "200");
    let request = "CONNECT good.example:22 HTTP/1.1\r\n\r\n";
    assert_eq!(status(&bench.ask(request).await), "503");
    let mut host = bench.arrived().await;
    drop(first);
    // The host sees the end of the tunnel, and answers it with its own.
    assert_eq!(host.read(&mut [0; 1]).await.expect("closed"), 0);
    drop(host);
    let again = async {
        while status(&bench.ask_head(request).await) != "200" {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), again).await.expect("the place is free again");
}

#[tokio::test]
async fn no_bytes_make_the_proxy_dial_or_fail() {
    let bench = Bench::new(name("good.example", &[PUBLIC]), &["good.example"]);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..300 {
        let mut bytes = b"CONNECT good.example:443 HTTP/1.1\r\nHost: a\r\n".to_vec();
        for _ in 0..6 {
            // A small generator of its own, so that a failure is the same failure next time.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let [at, to, ..] = state.to_le_bytes();
            let at = usize::from(at) % bytes.len();
            bytes[at] = to;
        }
        bytes.extend_from_slice(b"\r\n");
        let mut io = bench.connect();
        io.write_all(&bytes).await.expect("written");
        io.shutdown().await.expect("closed");
        let _ = io.read_to_end(&mut Vec::new()).await;
    }
    assert!(
        bench
            .seen()
            .dialled
            .iter()
            .all(|dialled| *dialled == format!("{PUBLIC}:443") || *dialled == format!("{PUBLIC}:80"))
    );
}

#[tokio::test]
async fn a_large_answer_comes_through_the_machines_own_network_whole() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let target = format!("localhost:{}", listener.local_addr().expect("bound").port());
    let options = EgressOptions {
        allow_private: PrivateTargets::parse([&target]).expect("a target"),
        ..EgressOptions::default()
    };
    let bench = Bench::real(options);
    let content = vec![b'x'; 3_000_000];
    let host = async {
        let (mut io, _) = listener.accept().await.expect("dialled");
        let mut request = vec![0; 4096];
        assert_ne!(io.read(&mut request).await.expect("a request"), 0);
        // Without a length: the end of the connection is the end of the answer.
        io.write_all(b"HTTP/1.0 200 OK\r\n\r\n").await.expect("answered");
        io.write_all(&content).await.expect("answered");
    };
    let request = format!("GET http://{target}/ HTTP/1.0\r\n\r\n");
    let ((), answer) = tokio::join!(host, bench.ask(&request));
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    assert_eq!(body.len(), content.len());
}
