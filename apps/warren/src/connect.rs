//! Finds the server a command talks to: the one the user named, the one that works in the data directory, or one of
//! the command's own.

use std::time::Duration;

use anyhow::{Result, bail};
use tokio::time::{Instant, sleep};
use warren_wire::SessionPage;

use crate::{
    answerers::notice,
    client::{CallError, Client},
    embed::Server,
    logins::Logins,
    report::{Advised, Outcome},
    setting::Setting,
    signals::Signals,
};

/// How long a server may take to begin or to end before it is given up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);
pub(crate) const PAUSE: Duration = Duration::from_millis(50);
/// Between finding a server and the run it is wanted for lie two requests.
const LAST_CALL: Duration = Duration::from_millis(250);

/// A server to talk to.
pub(crate) struct Connection {
    pub(crate) client: Client,
    whose: Whose,
}

/// Whose server it is.
enum Whose {
    /// The user named it.
    Named,
    /// It was found in the data directory. It may be another command's, and end with that.
    Found,
    /// The command's own.
    Own(Box<Server>),
}

impl Connection {
    /// Finds one, or starts one.
    pub(crate) async fn open(setting: &Setting) -> Result<Self> {
        if let Some(url) = setting.named_server() {
            return Self::to_named(setting, url).await;
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(lock) = setting.home.lock()? {
                let server = Server::start(setting, lock, "127.0.0.1:0".parse()?).await?;
                let client = Client::new(&server.url, Some(server.token.clone()))?;
                return Ok(Self { client, whose: Whose::Own(Box::new(server)) });
            }
            if let Some(client) = Self::to_holder(setting).await? {
                return Ok(Self { client, whose: Whose::Found });
            }
            // The server has the lock but does not answer: it is just beginning or ending.
            if Instant::now() > deadline {
                bail!(setting.home.held());
            }
            sleep(PAUSE).await;
        }
    }

    /// The server that is running already. `None` if there is none in the data directory.
    pub(crate) async fn to_running(setting: &Setting) -> Result<Option<Self>> {
        if let Some(url) = setting.named_server() {
            return Self::to_named(setting, url).await.map(Some);
        }
        let client = Self::to_holder(setting).await?;
        Ok(client.map(|client| Self { client, whose: Whose::Found }))
    }

    /// Whether the server goes on when the command ends.
    pub(crate) fn stays(&self) -> bool {
        !matches!(self.whose, Whose::Own(_))
    }

    /// What to tell whoever starts an agent, if the command's own server answers from a script.
    pub(crate) fn notice(&self) -> Option<String> {
        match &self.whose {
            Whose::Own(server) => notice(&server.answerers),
            Whose::Named | Whose::Found => None,
        }
    }

    /// Whether a failure may mean that the server, which was another command's, has ended with it: then another one can
    /// be found or started.
    pub(crate) fn may_have_left(&self, error: &anyhow::Error) -> bool {
        matches!(self.whose, Whose::Found)
            && error.downcast_ref::<CallError>().is_some_and(CallError::is_of_ending_server)
    }

    /// Ends the command's own server, after those who came to use it meanwhile; Ctrl-C does not wait for them.
    pub(crate) async fn close(self, signals: &mut Signals) {
        let Whose::Own(server) = self.whose else { return };
        // Nobody else finds it from now on; whoever found it just before has a moment to begin.
        server.withdraw();
        sleep(LAST_CALL).await;
        if is_busy(&self.client).await {
            eprintln!("waiting for other commands that use this server; Ctrl-C stops it");
            tokio::select! {
                () = until_idle(&self.client) => {}
                () = signals.next() => {}
            }
        }
        server.stop().await;
    }

    /// Ends the command's own server without waiting for anybody else.
    pub(crate) async fn abandon(self) {
        if let Whose::Own(server) = self.whose {
            server.stop().await;
        }
    }

    async fn to_named(setting: &Setting, url: &str) -> Result<Self> {
        check_address(url)?;
        let client = Client::new(url, token_for(setting, url)?)?;
        client.health().await?;
        Ok(Self { client, whose: Whose::Named })
    }

    async fn to_holder(setting: &Setting) -> Result<Option<Client>> {
        let (Some(holder), Some(token)) = (setting.home.holder(), setting.home.token()?) else {
            return Ok(None);
        };
        let client = Client::new(&holder.url, Some(token))?;
        Ok(client.health().await.is_ok().then_some(client))
    }
}

/// Refuses what is not the address of a server.
pub(crate) fn check_address(url: &str) -> Result<()> {
    let is_address = reqwest::Url::parse(url)
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some());
    if !is_address {
        let advice = "write it as `https://warren.example.com` or `http://127.0.0.1:7777`";
        bail!(Advised::new(format!("`{url}` is not the address of a server"), advice));
    }
    Ok(())
}

/// The token for a server that the user named: $WARREN_TOKEN, the data directory's own for the server that works there and for
/// no other address, or the one that `warren login` saved.
fn token_for(setting: &Setting, url: &str) -> Result<Option<String>> {
    if let Some(token) = setting.environment.get("WARREN_TOKEN") {
        return Ok(Some(token.to_owned()));
    }
    let bare = |url: &str| url.trim_end_matches('/').to_owned();
    match setting.home.holder() {
        Some(holder) if bare(&holder.url) == bare(url) => setting.home.token(),
        _ => Logins::of_user(&setting.environment).map_or(Ok(None), |logins| logins.token(url)),
    }
}

/// Does something with a server, found or started, until it is done or the user has enough.
pub(crate) async fn with_server(
    setting: &Setting,
    act: impl AsyncFnOnce(&Client) -> Result<()>,
) -> Result<Outcome> {
    let mut signals = Signals::catch()?;
    let connection = Connection::open(setting).await?;
    let done = tokio::select! {
        done = act(&connection.client) => done.map(|()| Outcome::Done),
        () = signals.next() => Ok(Outcome::Interrupted),
    };
    connection.close(&mut signals).await;
    done
}

async fn until_idle(client: &Client) {
    while is_busy(client).await {
        sleep(PAUSE).await;
    }
}

/// Whether any session has a run. A server that does not answer has none.
async fn is_busy(client: &Client) -> bool {
    let running = client.get::<SessionPage>("/api/sessions?state=running&limit=1").await;
    running.is_ok_and(|page| !page.sessions.is_empty())
}
