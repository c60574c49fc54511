//! Refuses a chosen model whose provider has no key.

use crate::{
    Caller, Format, allowed, demo,
    format::Inspected,
    refusal::{Refusal, RefusalKind},
    upstream::Upstream,
};

/// Refuses the demo model as a stand-in: it answers where nobody chose a model, and whoever asks for it by name.
pub(super) fn check(
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
