//! Who answers model calls: each provider's API, or the demo model where no key was found.

use warren_config::{Config, Credentials, Provider};
use warren_server::Advice;

/// One API and who answers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answerer {
    /// The provider's name in commands.
    pub(crate) name: &'static str,
    /// The API's provider, for people.
    pub(crate) provider: &'static str,
    pub(crate) base_url: String,
    /// What is known of the key.
    pub(crate) key: &'static str,
    /// The variable that a key is looked for in.
    pub(crate) variable: String,
    pub(crate) is_demo: bool,
}

/// All of them. OpenAI's two APIs are one, unless they were told apart.
pub(crate) fn answerers(config: &Config) -> Vec<Answerer> {
    let models = &config.models;
    let mut all = vec![
        answerer("anthropic", "Anthropic", &models.anthropic),
        answerer("gemini", "Gemini", &models.gemini),
        answerer("openai", "OpenAI", &models.openai),
    ];
    let (chat, responses) = (&models.openai, &models.openai_responses);
    if (&chat.base_url, &chat.credentials) != (&responses.base_url, &responses.credentials) {
        all.push(answerer("openai_responses", "OpenAI responses", &models.openai_responses));
    }
    all
}

fn answerer(name: &'static str, label: &'static str, provider: &Provider) -> Answerer {
    Answerer {
        name,
        provider: label,
        base_url: provider.base_url.clone(),
        key: provider.credentials.describe(),
        variable: provider.api_key_env.clone(),
        is_demo: provider.credentials == Credentials::Missing,
    }
}

/// What to do about each API that has no key in the configuration. Keys that were stored are not seen without a server.
pub(crate) fn advice(all: &[Answerer]) -> Vec<Advice> {
    let demo = all.iter().filter(|answerer| answerer.is_demo);
    demo.map(|Answerer { name, provider, variable, .. }| Advice {
        problem: format!(
            "no API key for {provider} in the configuration: unless one is stored, the demo model answers with scripted replies"
        ),
        hint: format!(
            "store one with `warren keys set {name}` or in the page under Settings, or set {variable} and restart `warren up`"
        ),
    })
    .collect()
}

/// One line that says who answers, and what to do for a real one where nobody does.
pub(crate) fn summary(all: &[Answerer]) -> String {
    let (demo, real): (Vec<_>, Vec<_>) = all.iter().partition(|answerer| answerer.is_demo);
    let variables = demo.iter().map(|answerer| answerer.variable.as_str()).collect::<Vec<_>>().join(", ");
    let reached = |answerer: &&Answerer| format!("{} at {}", answerer.provider, answerer.base_url);
    let reached = real.iter().map(reached).collect::<Vec<_>>().join(", ");
    match (real.is_empty(), demo.is_empty()) {
        (_, true) => reached,
        (true, _) => {
            format!("demo model: no API key was found, answers come from a script; set one of {variables}")
        }
        (false, false) => format!("{reached}; the demo model for the rest (no {variables})"),
    }
}

/// What to tell somebody who starts an agent, if the default agent, which speaks the first API, gets scripted answers.
pub(crate) fn notice(all: &[Answerer]) -> Option<String> {
    let first = all.first().filter(|first| first.is_demo)?;
    let real: Vec<_> = all.iter().filter(|answerer| !answerer.is_demo).map(|it| it.provider).collect();
    let beside = if real.is_empty() { String::new() } else { format!(" but for {}", real.join(" and ")) };
    Some(format!(
        "No API key was found{beside}, so the offline demo model answers. Set {} to use {}.",
        first.variable, first.provider
    ))
}

#[cfg(test)]
mod tests {
    use warren_server::Advice;

    use super::{Answerer, advice, notice, summary};

    fn all(demo: [bool; 2]) -> Vec<Answerer> {
        let make = |provider, is_demo| Answerer {
            name: "b",
            provider,
            base_url: format!("https://{provider}.test"),
            key: "",
            variable: format!("{provider}_KEY"),
            is_demo,
        };
        vec![make("A", demo[0]), make("B", demo[1])]
    }

    #[test]
    fn every_provider_without_a_key_is_named_with_its_variable() {
        let real = "A at https://A.test, B at https://B.test";
        assert_eq!(summary(&all([false, false])), real);
        let mixed = "A at https://A.test; the demo model for the rest (no B_KEY)";
        assert_eq!(summary(&all([false, true])), mixed);
        let none = "demo model: no API key was found, answers come from a script; set one of A_KEY, B_KEY";
        assert_eq!(summary(&all([true, true])), none);
    }

    #[test]
    fn provider_without_a_key_is_a_warning_with_its_fix() {
        assert_eq!(advice(&all([false, false])), []);
        let expected = Advice {
            problem: "no API key for B in the configuration: unless one is stored, the demo model answers with scripted replies".to_owned(),
            hint: "store one with `warren keys set b` or in the page under Settings, or set B_KEY and restart `warren up`".to_owned(),
        };
        assert_eq!(advice(&all([false, true])), [expected]);
    }

    #[test]
    fn whoever_starts_the_default_agent_is_told_when_its_answers_are_scripted() {
        assert_eq!(notice(&all([false, true])), None);
        let only = "No API key was found but for B, so the offline demo model answers. Set A_KEY to use A.";
        assert_eq!(notice(&all([true, false])).as_deref(), Some(only));
        let none = "No API key was found, so the offline demo model answers. Set A_KEY to use A.";
        assert_eq!(notice(&all([true, true])).as_deref(), Some(none));
    }
}
