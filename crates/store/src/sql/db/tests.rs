use std::{
    io::Read as _,
    net::{Ipv4Addr, TcpListener},
};

use sqlx::{Connection as _, PgConnection};

use super::Failed;

#[tokio::test]
async fn commit_whose_connection_is_closed_while_it_is_made_is_tried_again() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let url = format!("postgres://warren@{}/warren", listener.local_addr().expect("an address"));
    let closing = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody connects");
        // What is not read would reset the connection.
        stream.read_exact(&mut [0; 8]).expect("a client says something first");
    });
    let error = PgConnection::connect(&url).await.expect_err("nobody answers");
    closing.join().expect("it closed the connection");
    assert!(Failed::Before(error).may_pass());
}
