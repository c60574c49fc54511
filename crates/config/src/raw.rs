//! What the operator wrote: everything optional, nothing checked but its kind.

use std::{collections::BTreeMap, path::PathBuf};

use serde::Deserialize;

use crate::quantity::{Bytes, Cpus};

macro_rules! raw {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $(
                /// See `KEYS`.
                pub $field: $kind,
            )*
        }
    };
}

raw! {
    /// The whole file.
    RawConfig {
        listen: Option<String>,
        server: RawServer,
        sandbox: RawSandbox,
        runs: RawRuns,
        plans: RawPlans,
        storage: RawStorage,
        retention: RawRetention,
        versions: RawVersions,
        egress: RawEgress,
        agents: RawAgents,
        previews: RawPreviews,
        knowledge: RawKnowledge,
        documents: RawDocuments,
        models: RawModels,
    }
}

raw! {
    /// `[server]`
    RawServer {
        allowed_hosts: Option<Vec<String>>,
        allowed_origins: Option<Vec<String>>,
        body_limit: Option<Bytes>,
        secure_cookies: Option<bool>,
    }
}

raw! {
    /// `[sandbox]`
    RawSandbox {
        backend: Option<String>,
        files: Option<String>,
        required: Option<Vec<String>>,
        uid_range: Option<String>,
        idle_timeout_seconds: Option<u64>,
        health_interval_seconds: Option<u64>,
        max_restarts_per_hour: Option<u32>,
        max_concurrent: Option<u32>,
        workspace_isolation: Option<bool>,
        resource_limits: RawLimits,
    }
}

raw! {
    /// `[sandbox.resource_limits]`
    RawLimits { memory: Option<Bytes>, cpu: Option<Cpus>, pids: Option<u32>, disk: Option<Bytes>, inodes: Option<u64>, }
}

raw! {
    /// `[runs]`
    RawRuns {
        time_budget_seconds: Option<u64>,
        soft_budget_percent: Option<u8>,
        approval_seconds: Option<u64>,
        silence_seconds: Option<u64>,
    }
}

raw! {
    /// `[plans]`
    RawPlans {
        unpaid: RawUnpaid,
        paid: RawPaid,
        admin: Option<String>,
        project: Option<String>,
    }
}

raw! {
    /// `[plans.unpaid]`
    RawUnpaid { messages: Option<u64>, }
}

raw! {
    /// `[plans.paid]`
    RawPaid { messages_per_week: Option<u64>, }
}

raw! {
    /// `[storage]`
    RawStorage {
        database_url: Option<String>,
        blobs_url: Option<String>,
        outputs_template_path: Option<PathBuf>,
        max_log_bytes_per_run: Option<Bytes>,
        max_log_bytes_per_session: Option<Bytes>,
        max_log_bytes_per_project: Option<Bytes>,
    }
}

raw! {
    /// `[previews]`
    RawPreviews { base_url: Option<String>, allow_origins: Option<Vec<String>>, }
}

raw! {
    /// `[knowledge]`
    RawKnowledge { base_path: Option<PathBuf>, max_bytes: Option<Bytes>, }
}

raw! {
    /// `[documents]`
    RawDocuments { libreoffice: Option<String>, timeout_seconds: Option<u64>, }
}

raw! {
    /// `[retention]`
    RawRetention {
        versions: Option<u32>,
        daily_days: Option<u32>,
        deltas_days: Option<u32>,
        recordings_days: Option<u32>,
        grace_seconds: Option<u64>,
        interval_seconds: Option<u64>,
    }
}

raw! {
    /// `[versions]`
    RawVersions { exclude: Option<Vec<String>>, }
}

raw! {
    /// `[egress]`
    RawEgress { allow: Option<Vec<String>>, allow_private: Option<Vec<String>>, }
}

raw! {
    /// `[agents]`
    RawAgents {
        directory: Option<PathBuf>,
        registry: Option<String>,
        allow_http_registry: Option<bool>,
        cache_directory: Option<PathBuf>,
    }
}

raw! {
    /// `[models]`
    RawModels {
        anthropic: RawProvider,
        gemini: RawProvider,
        openai: RawProvider,
        openai_responses: RawProvider,
        prices: BTreeMap<String, RawPrice>,
        max_recorded_bytes_per_run: Option<Bytes>,
        max_recorded_bytes_per_session: Option<Bytes>,
        key_file: Option<PathBuf>,
        allow_http_base_url: Option<bool>,
        provider_tools: Option<bool>,
        demo: RawDemo,
    }
}

raw! {
    /// `[models.anthropic]` and the other providers
    RawProvider {
        base_url: Option<String>,
        api_key_env: Option<String>,
        api_key_file: Option<PathBuf>,
        allow: Option<Vec<String>>,
    }
}

raw! {
    /// `[models.demo]`
    RawDemo { delay_milliseconds: Option<u64>, }
}

/// One row of `[models.prices]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawPrice {
    pub input: f64,
    pub output: f64,
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
    pub cache_write_long: Option<f64>,
}
