//! Real connections.

use std::{future::Future, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use warren_server::{ServeOptions, serve};

use crate::support::TestServer;

async fn listening(
    server: &TestServer,
    options: ServeOptions,
) -> (std::net::SocketAddr, impl Future<Output = ()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    (address, serve(listener, server.router.clone(), server.tasks.clone(), options))
}

async fn ask(address: std::net::SocketAddr, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(text.as_bytes()).await.expect("written");
    stream
}

async fn all(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).await.expect("the server closes in order");
    text
}

#[tokio::test]
async fn a_stopping_server_finishes_its_answers_and_closes() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let (address, serving) = listening(&server, ServeOptions::default()).await;
    let clients = async {
        let head = format!("Host: localhost\r\nAuthorization: Bearer {}\r\n", server.owner);
        let events =
            format!("GET /api/sessions/{session}/events HTTP/1.1\r\n{head}Accept: text/event-stream\r\n\r\n");
        let mut stream = ask(address, &events).await;
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains("session_created") {
            let n = stream.read_buf(&mut seen).await.expect("events");
            assert_ne!(n, 0, "{}", String::from_utf8_lossy(&seen));
        }
        server.tasks.cancel();
        all(stream).await
    };
    let ((), rest) = tokio::join!(serving, clients);
    assert!(rest.ends_with("0\r\n\r\n"), "the stream ends as streams should: {rest:?}");
    assert!(server.tasks.wait(Duration::from_secs(10)).await, "no connection is left");
    assert!(TcpStream::connect(address).await.is_err(), "and none is taken");
}

#[tokio::test]
async fn a_client_that_never_finishes_its_header_is_hung_up_on() {
    let server = TestServer::start().await;
    let options = ServeOptions { header_timeout: Duration::from_millis(100), ..ServeOptions::default() };
    let (address, serving) = listening(&server, options).await;
    let clients = async {
        let slow = ask(address, "GET /health HTTP/1.1\r\nHost: loc").await;
        assert_eq!(all(slow).await, "");
        let quick =
            ask(address, "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
        assert!(all(quick).await.starts_with("HTTP/1.1 200"));
        server.tasks.cancel();
    };
    tokio::join!(serving, clients);
}

#[tokio::test]
async fn a_client_that_is_refused_while_it_sends_hears_why() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let (address, serving) = listening(&server, ServeOptions::default()).await;
    let head = format!("Host: localhost\r\nAuthorization: Bearer {}\r\n", server.owner);
    let put = format!("PUT /api/sessions/{session}/fs?path=a HTTP/1.1\r\n{head}Content-Length: 60000000\r\n");
    let clients = async {
        let mut sending = ask(address, &format!("{put}\r\n")).await;
        let piece = vec![0; 1_000_000];
        for _ in 0..60 {
            sending.write_all(&piece).await.expect("the server lets it finish");
        }
        let heard = all(sending).await;
        assert!(heard.starts_with("HTTP/1.1 413") && heard.contains("TOO_LARGE"), "{heard}");

        // Who asks first is told so, and not asked to send what was refused.
        let asking = ask(address, &format!("{put}Expect: 100-continue\r\n\r\n")).await;
        let heard = all(asking).await;
        assert!(heard.starts_with("HTTP/1.1 413") && !heard.contains("100 Continue"), "{heard}");
        server.tasks.cancel();
    };
    tokio::join!(serving, clients);
}

#[tokio::test]
async fn a_client_that_is_refused_and_never_stops_sending_is_hung_up_on() {
    let server = TestServer::start().await;
    let (address, serving) = listening(&server, ServeOptions::default()).await;
    let clients = async {
        let post = "POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000000\r\n\r\n";
        let mut sending = ask(address, post).await;
        let piece = vec![0; 1_000_000];
        let mut n_sent = 0;
        while sending.write_all(&piece).await.is_ok() {
            n_sent += 1;
            assert!(n_sent < 1000, "it is read for ever");
        }
        server.tasks.cancel();
    };
    tokio::join!(serving, clients);
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_their_turn() {
    let server = TestServer::start().await;
    let options = ServeOptions { max_connections: 1, ..ServeOptions::default() };
    let (address, serving) = listening(&server, options).await;
    let get = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let clients = async {
        let holding = TcpStream::connect(address).await.expect("a connection");
        let waiting = ask(address, get).await;
        drop(holding);
        assert!(all(waiting).await.starts_with("HTTP/1.1 200"));
        server.tasks.cancel();
    };
    tokio::join!(serving, clients);
}
