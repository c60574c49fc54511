//! This backend keeps every rule of the contracts.

use warren_env::Env;
use warren_store::conformance::Rule;

async fn check(rule: Rule) {
    rule.check(&memory_store::store(Env::system())).await;
}

warren_store::conformance_tests!(check);
