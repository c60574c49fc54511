//! Model providers and the models they offer.

use warren_runtime::api::{
    KeySource, ModelSummary, ProviderKey, ProviderSummary, ProviderTest, ProviderWish, TestStatus,
};
use warren_wire::{
    ModelItem, ModelList, ModelPrice, ModelProblem, ProviderItem, ProviderKeySource, ProviderList,
    ProviderPut, ProviderTestStatus, ProviderTested,
};

use crate::{
    choke::Call,
    failure::Failure,
    respond::{self, Answer},
};

pub(crate) async fn models(call: Call) -> Answer {
    let found = call.runtime().providers().model_list().await;
    let problem = |(provider, message, hint)| ModelProblem { provider, message, hint };
    respond::ok(&ModelList {
        models: found.models.into_iter().map(model).collect(),
        problems: found.problems.into_iter().map(problem).collect(),
    })
}

pub(crate) async fn list(call: Call) -> Answer {
    let providers = call.runtime().providers().provider_list().await?;
    respond::ok(&ProviderList { providers: providers.into_iter().map(provider).collect() })
}

pub(crate) async fn put(call: Call) -> Answer {
    // What cannot be read is not told back: the key may stand in a wrong place.
    let wanted: ProviderPut = call.json().map_err(|failure: Failure| {
        Failure::new(failure.code, "the body must be an object with `apiKey`, `baseUrl` or both as strings")
    })?;
    let ProviderPut { api_key, base_url } = wanted;
    // Copied keys often have a line break at their end.
    let api_key = api_key.map(|key| ProviderKey::new(key.trim()));
    let wish = ProviderWish { api_key, base_url };
    let set = call.runtime().providers().provider_set(call.parameter("provider"), wish).await?;
    respond::ok(&provider(set))
}

pub(crate) async fn remove(call: Call) -> Answer {
    call.runtime().providers().provider_unset(call.parameter("provider")).await?;
    respond::nothing()
}

pub(crate) async fn test(call: Call) -> Answer {
    let tested = call.runtime().providers().provider_test(call.parameter("provider")).await?;
    let ProviderTest { status, models, message, hint } = tested;
    let status = match status {
        TestStatus::Ok => ProviderTestStatus::Ok,
        TestStatus::NoKey => ProviderTestStatus::NoKey,
        TestStatus::WrongKey => ProviderTestStatus::WrongKey,
        TestStatus::WrongUrl => ProviderTestStatus::WrongUrl,
        TestStatus::Unreachable => ProviderTestStatus::Unreachable,
        TestStatus::Failed => ProviderTestStatus::Failed,
    };
    respond::ok(&ProviderTested { status, models: models.map(|n| n as u64), message, hint })
}

fn provider(found: ProviderSummary) -> ProviderItem {
    ProviderItem {
        has_key: found.key_source.is_some(),
        key_source: found.key_source.map(|source| match source {
            KeySource::Config => ProviderKeySource::Config,
            KeySource::Environment => ProviderKeySource::Environment,
            KeySource::Page => ProviderKeySource::Page,
        }),
        name: found.name,
        label: found.label,
        base_url: found.base_url,
        key_ending: found.key_ending,
        is_set: found.is_set,
        is_demo: found.is_demo,
        variable: found.variable,
        problem: found.problem,
    }
}

fn model(found: ModelSummary) -> ModelItem {
    let price = |[input, output, cache_read]: [f64; 3]| ModelPrice { input, output, cache_read };
    ModelItem {
        id: found.id,
        provider: found.provider,
        display_name: found.display_name,
        context_window: found.context_window,
        price: found.price.map(price),
        agents: found.agents,
    }
}
