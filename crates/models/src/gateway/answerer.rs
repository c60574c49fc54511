//! Refuses a call that nobody can answer: a chosen model whose provider has no key, or a provider that stays unreachable.

use crate::{
    Caller, Format, allowed, demo,
    format::Inspected,
    refusal::{Refusal, RefusalKind},
    upstream::Upstream,
};

/// Refuses the demo model as a stand-in: it answers only where no model was chosen, or by its name.
pub(super) fn check_key(
    format: Format,
    upstream: &Upstream,
    caller: &dyn Caller,
    inspected: &Inspected,
) -> Result<(), Refusal> {
    if !upstream.is_demo() || demo::is_named(&inspected.model) {
        return Ok(());
    }
    let own = caller.own_models().into_iter().find(|own| allowed::is_same(own, &inspected.model));
    match own.or_else(|| caller.chosen(format)).filter(|model| !demo::is_named(model)) {
        Some(model) => {
            let (label, name) = format.provider();
            let message = format!(
                "the model `{}` cannot answer: there is no key for {label}\nhint: store one in the page under Settings or \
                 with `warren keys set {name}`, or choose a model from `warren models`",
                allowed::shown(&model)
            );
            Err(Refusal::new(RefusalKind::NoKey, message))
        }
        None => Ok(()),
    }
}

/// How often a request may find its provider unreachable. Agents wait minutes for an overloaded provider; one that is not
/// there at all is a matter for a person.
const MAX_UNREACHABLE: u32 = 6;

/// The same refusal, unless its provider could not be reached at any of several attempts: then one that no agent retries.
pub(super) fn given_up(refusal: Refusal, format: Format, attempt: u32) -> Refusal {
    if refusal.kind != RefusalKind::Unreachable || attempt < MAX_UNREACHABLE {
        return refusal;
    }
    let (_, name) = format.provider();
    let message = format!(
        "{} at any of {attempt} attempts\nhint: check the server's network and the base URL with `warren keys test {name}`, \
         then send the message again",
        refusal.message
    );
    Refusal::new(RefusalKind::GivenUp, message)
}
