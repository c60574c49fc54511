//! Which models a sandbox may ask for.
//!
//! A list of what passes, like routes and headers: providers add models that search the web or act by themselves, and
//! such a model would be a way out of a sandbox that no egress rule sees. Names are compared byte by byte, and what was
//! compared is what is sent: a name that is spelled otherwise is another name.

use crate::Format;

/// Models that may be asked for in one format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedModels {
    /// The operator's own list, and nothing else.
    Listed(Vec<ModelPattern>),
    /// The models that Warren knows, those with these beginnings, which the operator has priced, and the run's own.
    Known {
        /// Beginnings of names.
        priced: Vec<String>,
    },
}

/// The lists of every format.
#[derive(Debug, Clone, Default)]
pub struct ModelLists {
    /// For the Anthropic Messages format.
    pub anthropic: AllowedModels,
    /// For Gemini's format.
    pub gemini: AllowedModels,
    /// For OpenAI's chat completions.
    pub openai_chat: AllowedModels,
    /// For OpenAI's responses.
    pub openai_responses: AllowedModels,
}

/// A model's name in which each `*` stands for any characters, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPattern(String);

/// Why a pattern cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is not a pattern of model names")]
pub struct ModelPatternError {
    /// The pattern as it was written.
    pub pattern: String,
}

/// The longest name of a model.
const MAX_NAME: usize = 128;

/// How much of a name is shown of a model that was refused.
const SHOWN: usize = 64;

/// Parts of the names of models that reach the web or act without a tool in the request that says so. No `*` and no
/// session stands for them: whoever means such a model writes the word itself.
const ACTING: &[&str] = &["browse", "computer-use", "online", "search", "sonar"];

/// The words that names of known models are made of, beside numbers. An Anthropic model has no such limit: what it may
/// reach is always a tool in the request, and each generation has names of its own.
const WORDS: &[&str] = &[
    "chat",
    "codex",
    "customtools",
    "exp",
    "flash",
    "instant",
    "latest",
    "lite",
    "max",
    "mini",
    "nano",
    "oss",
    "preview",
    "pro",
    "spark",
    "thinking",
    "turbo",
    "ultra",
];

/// The first words of the names of known models. The price table has a price for each.
const FAMILIES: &[&str] = &["codex", "gemini", "gpt", "o1", "o3", "o4"];

/// Parts of the names of models that are no use to an agent: they embed, speak, listen, draw or judge.
const OTHER_KINDS: &[&str] = &[
    "audio",
    "babbage",
    "dall-e",
    "davinci",
    "embed",
    "image",
    "imagen",
    "moderation",
    "realtime",
    "rerank",
    "sora",
    "transcribe",
    "tts",
    "veo",
    "whisper",
];

const ANTHROPIC_FAMILY: &str = "claude";

impl Default for AllowedModels {
    fn default() -> Self {
        AllowedModels::Known { priced: Vec::new() }
    }
}

impl AllowedModels {
    /// The operator's own list.
    ///
    /// # Errors
    /// When one of them is not a pattern.
    pub fn listed<S: AsRef<str>>(patterns: impl IntoIterator<Item = S>) -> Result<Self, ModelPatternError> {
        let patterns = patterns.into_iter().map(|pattern| ModelPattern::parse(pattern.as_ref()));
        Ok(AllowedModels::Listed(patterns.collect::<Result<_, _>>()?))
    }

    /// Whether `model` may be asked for by a run that was told to use the models `own`.
    pub(crate) fn allow(&self, model: &str, own: &[String]) -> bool {
        let is_name =
            !model.is_empty() && model.len() <= MAX_NAME && model.bytes().all(|b| b.is_ascii_graphic());
        is_name
            && match self {
                AllowedModels::Listed(patterns) => patterns.iter().any(|pattern| pattern.fits(model)),
                AllowedModels::Known { priced } => {
                    is_known(model)
                        || priced
                            .iter()
                            .any(|prefix| model.starts_with(prefix.as_str()) && names_acts(prefix, model))
                        || own.iter().any(|own| is_same(own, model) && names_acts("", model))
                }
            }
    }
}

impl AllowedModels {
    /// Whether a model of a provider's list can be chosen for a session. What a session chooses counts as its own, so all
    /// that the operator has not shut out, but for models that write no text.
    pub(crate) fn offers(&self, model: &str) -> bool {
        let is_other_kind = || {
            let name = model.to_ascii_lowercase();
            OTHER_KINDS.iter().any(|word| name.contains(word))
        };
        match self {
            AllowedModels::Listed(_) => self.allow(model, &[]),
            AllowedModels::Known { .. } => {
                self.allow(model, &[]) || (self.allow(model, &[model.to_owned()]) && !is_other_kind())
            }
        }
    }
}

impl ModelLists {
    pub(crate) fn of(&self, format: Format) -> &AllowedModels {
        match format {
            Format::Anthropic => &self.anthropic,
            Format::Gemini => &self.gemini,
            Format::OpenAiChat => &self.openai_chat,
            Format::OpenAiResponses => &self.openai_responses,
        }
    }
}

impl ModelPattern {
    fn parse(text: &str) -> Result<Self, ModelPatternError> {
        let is_pattern =
            !text.is_empty() && text.len() <= MAX_NAME && text.bytes().all(|b| b.is_ascii_graphic());
        is_pattern
            .then(|| Self(text.to_owned()))
            .ok_or_else(|| ModelPatternError { pattern: text.to_owned() })
    }

    fn fits(&self, model: &str) -> bool {
        matches_glob(self.0.as_bytes(), model.as_bytes()) && names_acts(&self.0, model)
    }
}

impl ModelPatternError {
    /// What a pattern looks like.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        "write a model's name, such as `gpt-5-mini`; `*` in it stands for any characters, as in `claude-*`"
    }
}

/// The option that holds the operator's list.
pub(crate) fn option_of(format: Format) -> &'static str {
    match format {
        Format::Anthropic => "models.anthropic.allow",
        Format::Gemini => "models.gemini.allow",
        Format::OpenAiChat => "models.openai.allow",
        Format::OpenAiResponses => "models.openai_responses.allow",
    }
}

/// As much of a name as may be shown: it is the sandbox's own text.
pub(crate) fn shown(model: &str) -> String {
    let text: String = model.chars().take(SHOWN).collect();
    let cut = if text.len() < model.len() { "…" } else { "" };
    text.escape_debug().chain(cut.chars()).collect()
}

/// Whether a model is one of those that Warren knows. A name such as `openai/gpt-5` counts as what follows the last slash.
fn is_known(model: &str) -> bool {
    let (providers, name) = model.rsplit_once('/').unwrap_or(("", model));
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-._".contains(&b);
    if !name.bytes().all(is_plain) || !providers.bytes().all(|b| is_plain(b) || b == b'/') {
        return false;
    }
    if name == crate::demo::MODEL {
        return true;
    }
    let mut words = name.split(['-', '.', '_']);
    let family = words.next().unwrap_or_default();
    match family {
        ANTHROPIC_FAMILY => names_acts("", name),
        _ => FAMILIES.contains(&family) && words.all(|word| WORDS.contains(&word) || is_version(word)),
    }
}

/// A number with at most two letters, such as `4o`, `120b` or `20250929`.
fn is_version(word: &str) -> bool {
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    letters <= 2 && letters < word.len()
}

/// Whether `written` has every word of [`ACTING`] that `model` has, in whatever case.
fn names_acts(written: &str, model: &str) -> bool {
    let (written, model) = (written.to_ascii_lowercase(), model.to_ascii_lowercase());
    ACTING.iter().all(|word| !model.contains(word) || written.contains(word))
}

/// Whether a run that was told to use `own` means `model`. Some agents take `provider/model` and ask for the model.
pub(crate) fn is_same(own: &str, model: &str) -> bool {
    own == model || own.split_once('/').is_some_and(|(_, name)| name == model)
}

/// Takes time in proportion to both lengths at most: after a `*` only the latest one is tried again.
fn matches_glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match (pattern.get(p), retry) {
            (Some(b'*'), _) => {
                retry = Some((p + 1, t));
                p += 1;
            }
            (Some(byte), _) if *byte == text[t] => (p, t) = (p + 1, t + 1),
            (_, Some((after, from))) => {
                retry = Some((after, from + 1));
                (p, t) = (after, from + 1);
            }
            (_, None) => return false,
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests;
