//! Who answers, where something else counts than what the gateway was made with.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use tokio::sync::Mutex;
use warren_env::Env;

use crate::{Format, Pace, Timeouts, UpstreamOptions, upstream::Upstream};

/// Says what counts instead of the gateway's own options.
#[async_trait]
pub trait Overrides: Send + Sync {
    /// What counts now, for the formats that it says something about. Asked before each call, so that a change counts for
    /// the next one. `None`: it cannot be told now, and what was said last still counts.
    async fn current(&self) -> Option<Vec<(Format, UpstreamOptions)>>;
}

/// What was said last, and the connections made for it.
pub(crate) struct Overridden {
    source: Arc<dyn Overrides>,
    applied: Mutex<HashMap<Format, (UpstreamOptions, Arc<Upstream>)>>,
}

impl Overridden {
    pub(crate) fn new(source: Arc<dyn Overrides>) -> Self {
        Self { source, applied: Mutex::default() }
    }

    /// Who answers calls of a format now; `None`: whom the gateway was made with.
    pub(crate) async fn of(&self, format: Format, timeouts: &Timeouts, env: &Env) -> Option<Arc<Upstream>> {
        // Held while it is asked: an answer that is older than another's never takes its place.
        let mut applied = self.applied.lock().await;
        if let Some(current) = self.source.current().await {
            applied.retain(|format, _| current.iter().any(|(other, _)| other == format));
            for (format, options) in current {
                if applied.get(&format).is_some_and(|(known, _)| *known == options) {
                    continue;
                }
                match Upstream::new(options.clone(), timeouts, Pace::default(), env) {
                    Ok(upstream) => _ = applied.insert(format, (options, Arc::new(upstream))),
                    Err(error) => {
                        applied.remove(&format);
                        let error = &error as &dyn std::error::Error;
                        tracing::warn!(
                            error,
                            format = format.as_str(),
                            "what was set for a provider is not used"
                        );
                    }
                }
            }
        }
        applied.get(&format).map(|(_, upstream)| Arc::clone(upstream))
    }
}
