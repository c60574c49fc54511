//! What other nodes write: told to them, and heard from them.
//!
//! What was committed here is noted, and one task tells of all that was noted, at most every [`PAUSE`]. What is heard makes
//! followers look at the log and watchers at the list. While nothing can be heard, the heads of followed logs are
//! looked at instead.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tokio::{sync::Notify, time::Instant};
use uuid::Uuid;
use warren_domain::{Partition, ProjectId, Seq, SessionId};
use warren_env::TaskKind;

use super::{ListChange, Live};
use crate::{Hints, ReadError};

/// Between two hints. A few nodes together stay below 200 in a second, which costs the database little.
const PAUSE: Duration = Duration::from_millis(20);

/// How many sessions one hint tells of: PostgreSQL takes 8,000 bytes.
const MOST: usize = 20;

/// How often followed logs are looked at while nothing can be heard.
const LOOK: Duration = Duration::from_secs(1);

/// How often watchers of the list are made to list again while nothing can be heard.
const LIST: Duration = Duration::from_secs(10);

/// What became of a session. Of two that were noted, the greater is told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum News {
    /// Its log is longer.
    Entries,
    /// A list shows something else.
    Changed,
    Created,
    Erased {
        partition: Partition,
        project_id: ProjectId,
    },
}

/// As it is sent.
#[derive(Debug, Serialize, Deserialize)]
struct Hint {
    /// Who tells: its own news are none to it.
    from: Uuid,
    sessions: BTreeMap<SessionId, News>,
}

/// What is to be told.
pub(super) struct Board {
    own: Uuid,
    news: Mutex<BTreeMap<SessionId, News>>,
    noted: Notify,
}

impl Board {
    pub(super) fn new() -> Self {
        Self { own: Uuid::now_v7(), news: Mutex::default(), noted: Notify::new() }
    }

    /// Notes that a session's log is longer, and what a list shows of it.
    pub(super) fn note(&self, session: SessionId, change: Option<&ListChange>) {
        let news = match change {
            None => News::Entries,
            Some(ListChange::Created(_)) => News::Created,
            Some(ListChange::Changed(_)) => News::Changed,
            Some(ListChange::Erased { partition, project_id, .. }) => {
                News::Erased { partition: partition.clone(), project_id: *project_id }
            }
            // Whether it is loaded, or has a sandbox, is a matter of one node.
            Some(ListChange::Runtime(_) | ListChange::Missed) => return,
        };
        let mut noted = self.lock();
        let entry = noted.entry(session).or_insert(News::Entries);
        if news > *entry {
            *entry = news;
        }
        drop(noted);
        self.noted.notify_one();
    }

    fn take(&self) -> Vec<Hint> {
        let news: Vec<_> = std::mem::take(&mut *self.lock()).into_iter().collect();
        let hint =
            |part: &[(SessionId, News)]| Hint { from: self.own, sessions: part.iter().cloned().collect() };
        news.chunks(MOST).map(hint).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SessionId, News>> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    /// Tells other nodes what is noted, and hears what they tell, for as long as the tasks run.
    pub(super) fn exchange(&self, board: &Arc<Board>, hints: &Arc<dyn Hints>) {
        let (telling, hearing) = (self.clone(), self.clone());
        let (board, own, channel) = (Arc::clone(board), board.own, Arc::clone(hints));
        self.tasks
            .spawn(TaskKind::LogWriter, async move { telling.tell_all(&board, channel.as_ref()).await });
        let channel = Arc::clone(hints);
        self.tasks.spawn(TaskKind::LogWriter, async move { hearing.hear_all(own, channel.as_ref()).await });
    }

    async fn tell_all(&self, board: &Board, hints: &dyn Hints) {
        loop {
            board.noted.notified().await;
            for hint in board.take() {
                let told = match serde_json::to_string(&hint) {
                    Ok(hint) => hints.tell(&hint).await,
                    Err(source) => Err(ReadError { doing: "write a hint", source: Box::new(source) }),
                };
                if let Err(error) = told {
                    // Those who listen have most likely lost their connection too, and look by themselves.
                    tracing::warn!(error = &error as &dyn std::error::Error, "other servers were not told");
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn hear_all(&self, own: Uuid, hints: &dyn Hints) {
        let mut look = Look::default();
        loop {
            let mut heard = match hints.listen().await {
                Ok(heard) => heard,
                Err(error) => {
                    look.complain(&error);
                    self.look_around(&mut look).await;
                    tokio::time::sleep(LOOK).await;
                    continue;
                }
            };
            // Whatever was told before is in the logs.
            look = Look::default();
            self.look_everywhere();
            loop {
                match heard.next().await {
                    Ok(hint) => self.hear(own, &hint).await,
                    Err(error) => {
                        look.complain(&error);
                        break;
                    }
                }
            }
        }
    }

    async fn hear(&self, own: Uuid, hint: &str) {
        let hint: Hint = match serde_json::from_str(hint) {
            Ok(hint) => hint,
            Err(error) => {
                // A newer release may tell more than this one understands.
                tracing::debug!(%error, "a hint cannot be read");
                return self.look_everywhere();
            }
        };
        if hint.from == own {
            return;
        }
        for (session, news) in hint.sessions {
            self.wake(session);
            match news {
                News::Entries => {}
                News::Changed => self.announce(ListChange::Changed(session)),
                News::Created => match self.sessions.session(session).await {
                    Ok(Some(record)) => self.announce(ListChange::Created(Arc::new(record))),
                    Ok(None) => {}
                    Err(_) => self.announce(ListChange::Missed),
                },
                News::Erased { partition, project_id } => {
                    self.announce(ListChange::Erased { session_id: session, partition, project_id });
                }
            }
        }
    }

    /// Something may have been missed.
    fn look_everywhere(&self) {
        self.hub.followed().into_iter().for_each(|session| self.wake(session));
        self.announce(ListChange::Missed);
    }

    /// Looks for what nobody told: at the heads of the logs that are followed.
    async fn look_around(&self, look: &mut Look) {
        let followed = self.hub.followed();
        look.heads.retain(|session, _| followed.contains(session));
        for session in followed {
            match self.log.head(session).await {
                Ok(head) => {
                    if look.heads.insert(session, head) != Some(head) {
                        self.wake(session);
                    }
                }
                // The database does not answer: nothing is new.
                Err(_) => return,
            }
        }
        if look.listed.is_none_or(|listed| listed.elapsed() >= LIST) {
            look.listed = Some(Instant::now());
            self.announce(ListChange::Missed);
        }
    }
}

/// What is known while nothing can be heard.
#[derive(Default)]
struct Look {
    heads: HashMap<SessionId, Option<Seq>>,
    listed: Option<Instant>,
    is_told: bool,
}

impl Look {
    /// Once for each time.
    fn complain(&mut self, error: &ReadError) {
        if !std::mem::replace(&mut self.is_told, true) {
            let error = error as &dyn std::error::Error;
            tracing::warn!(
                error,
                "what other servers write is not heard of; their logs are looked at instead"
            );
        }
    }
}
