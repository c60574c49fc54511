//! The contracts, as tests: whoever writes a backend runs these against it. A backend that passes is one.
//!
//! Each rule is a function that takes an empty or a used store (all it makes has fresh names) and panics where the
//! contract is broken. [`all`] runs every rule; [`conformance_tests!`](crate::conformance_tests) makes each a test
//! of its own. `examples/memory-store` shows a backend that is not ours.
//!
//! The nine operations of the persistence adapter this platform grew from are covered by:
//!
//! | operation | contract | rules |
//! |---|---|---|
//! | `listAllSessions` | [`Sessions::sessions`](crate::Sessions::sessions) | [`sessions::lists_are_newest_first_in_pages`], [`sessions::lists_can_be_narrowed`] |
//! | `loadSession` | [`Sessions::session`](crate::Sessions::session), [`EventLog::read`](crate::EventLog::read), [`Transcripts::transcript`](crate::Transcripts::transcript) | [`sessions::a_session_is_read_back_whole`], [`log::reading_obeys_its_limits`], [`transcripts::bytes_are_read_back_whole`] |
//! | `createSessionRecord` | [`Change::CreateSession`](crate::Change::CreateSession) | [`log::a_session_is_created_once`], [`sessions::a_session_is_read_back_whole`] |
//! | `updateSessionRecord` | [`Change::UpdateSession`](crate::Change::UpdateSession) | [`sessions::an_update_changes_only_what_it_names`] |
//! | `saveTranscript` | [`Transcripts::write_transcript`](crate::Transcripts::write_transcript) | [`transcripts::bytes_are_read_back_whole`], [`transcripts::a_write_ends_the_transcript`], [`transcripts::threads_are_apart`] |
//! | `saveWorkspaceFile` | [`Change::PutFile`](crate::Change::PutFile) | [`sessions::files_are_known_by_path`] |
//! | `deleteSessionFile` | [`Change::RemoveFile`](crate::Change::RemoveFile) | [`sessions::files_are_known_by_path`] |
//! | `listAgentProfiles` | [`Profiles::profiles`](crate::Profiles::profiles) | [`profiles::profiles_are_listed_by_id`] |
//! | `loadAgentProfile` | [`Profiles::profile`](crate::Profiles::profile) | [`profiles::a_profile_is_read_back_whole`] |
#![expect(clippy::expect_used, reason = "these are tests, only of someone else's code")]

pub mod approvals;
pub mod blobs;
pub mod counts;
pub mod erase;
pub mod leases;
pub mod linear;
pub mod log;
pub mod parallel;
pub mod profiles;
pub mod projects;
pub mod providers;
pub mod replays;
pub mod runs;
pub mod samples;
pub mod sessions;
pub mod tokens;
pub mod transcripts;
pub mod usage;
pub mod versions;
pub mod views;

use std::fmt;

use futures::future::BoxFuture;

use crate::Store;

/// One rule of the contracts.
#[derive(Clone, Copy)]
pub struct Rule {
    name: &'static str,
    check: for<'a> fn(&'a Store) -> BoxFuture<'a, ()>,
}

/// Runs every rule, each on a store of its own from `open`. Panics at the first that does not hold, and names it.
pub async fn all<F: AsyncFnMut() -> Store>(mut open: F) {
    for rule in rules() {
        tracing::info!(%rule, "checking");
        rule.check(&open().await).await;
    }
}

impl Rule {
    /// A rule by its function; for the macros of this module.
    #[doc(hidden)]
    #[must_use]
    pub fn new(name: &'static str, check: for<'a> fn(&'a Store) -> BoxFuture<'a, ()>) -> Self {
        Self { name, check }
    }

    /// Its name, as `log::a_session_is_created_once`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Panics if it does not hold.
    pub async fn check(&self, store: &Store) {
        let named = Named(self.name);
        (self.check)(store).await;
        std::mem::forget(named);
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Says which rule was being checked when it is dropped by a panic.
struct Named(&'static str);

impl Drop for Named {
    #[expect(clippy::print_stderr, reason = "a stranger's test may have no subscriber of traces")]
    fn drop(&mut self) {
        eprintln!("the rule `{}` does not hold", self.0);
    }
}

/// All rules.
#[must_use]
pub fn rules() -> Vec<Rule> {
    crate::conformance_rules!(conformance_list [])
}

/// Makes a test of each rule: `conformance_tests!(check)`, where `check` is an `async fn(Rule)` that opens a store and
/// lets the rule check it. Needs tokio's test macro.
#[macro_export]
macro_rules! conformance_tests {
    ($check:ident) => {
        $crate::conformance_rules! { conformance_functions [$check] }
    };
}

/// Every rule, by contract, given to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_rules {
    ($callback:ident [$($context:tt)*]) => {
        $crate::$callback! { [$($context)*]
            log {
                a_session_is_created_once
                a_log_is_contiguous_from_one
                a_commit_with_a_hole_is_refused
                a_stale_commit_is_refused
                a_commit_to_no_session_is_refused
                an_old_fence_is_refused_first
                a_refused_commit_leaves_nothing
                a_commit_changes_only_its_own_session
                reading_obeys_its_limits
                bytes_are_kept_exactly
                stored_bytes_are_those_of_the_entries_and_their_blobs
                a_compacted_piece_is_one_entry_and_numbers_stay
                only_a_piece_that_is_whole_is_compacted
                a_log_is_compacted_only_under_the_lease
            }
            parallel {
                entries_and_records_appear_together
                a_refused_commit_harms_no_other
                a_refused_line_harms_no_other
                of_many_equal_commits_one_wins
                many_sessions_grow_at_once
                random_interleavings_agree_with_a_model
            }
            sessions {
                a_session_is_read_back_whole
                an_update_changes_only_what_it_names
                lists_are_newest_first_in_pages
                lists_can_be_narrowed
                a_search_takes_its_text_literally
                files_are_known_by_path
            }
            erase {
                nothing_is_left_of_an_erased_session
                usage_survives_the_session_that_spent_it
                others_are_not_touched
                nothing_can_be_added_to_an_erased_session
                an_old_fence_erases_nothing
            }
            runs {
                a_run_is_read_back_whole
                a_run_is_replaced_whole
                no_words_of_an_agent_keep_a_run_from_ending
                runs_are_listed_newest_first
                unfinished_runs_are_listed_oldest_first
                a_key_is_known_until_it_expires
                a_taken_key_refuses_the_whole_commit
                an_expired_key_can_be_used_again
                keys_of_two_sessions_are_apart
            }
            approvals {
                an_approval_is_read_back_whole
                approvals_are_listed_newest_first
                only_what_waits_is_pending
            }
            usage {
                what_was_spent_is_summed_by_group
                days_are_those_of_utc
                only_what_was_asked_for_is_summed
            }
            versions {
                a_version_is_read_back_whole
                a_version_follows_the_latest
                a_first_version_is_put_once
                versions_are_listed_newest_first
                a_label_is_given_and_taken_away
                a_version_expires_unless_it_is_the_latest_or_has_a_label
                what_versions_keep_alive_is_told_for_each_partition
                of_many_who_commit_at_once_one_wins_each_version
            }
            replays {
                a_replay_is_read_back_whole_and_replaced_whole
                replays_are_listed_newest_first
                a_replay_belongs_to_a_session
            }
            transcripts {
                bytes_are_read_back_whole
                a_part_is_what_the_whole_has_there
                a_write_ends_the_transcript
                a_hole_is_refused
                threads_are_apart
                an_empty_transcript_is_one
                an_old_fence_writes_no_transcript
            }
            leases {
                a_lease_is_held_by_one
                absent_session_has_no_lease
                upkeep_lease_needs_no_session
                blob_storage_is_claimed_once
                a_node_takes_over_its_own_lease
                an_expired_lease_can_be_taken
                renewing_prolongs_only_ones_own
                a_released_lease_is_free
                a_late_release_does_nothing
                a_new_holder_fences_the_old_one
                of_many_nodes_one_gets_the_lease
            }
            profiles {
                a_profile_is_read_back_whole
                profiles_are_listed_by_id
                a_profile_is_replaced_and_removed
                profiles_of_two_partitions_are_apart
                profiles_of_two_projects_and_of_the_partition_are_apart
                profiles_are_listed_for_one_project_and_for_all
            }
            tokens {
                a_token_is_found_by_its_hash
                tokens_are_listed_oldest_first
                a_removed_token_is_unknown
                a_token_ends_with_its_parent_at_any_depth
                a_token_of_an_absent_parent_is_refused
                those_of_many_tokens_that_are_there_are_found
            }
            counts {
                a_count_stops_at_its_limit
                counts_are_apart
                counts_of_past_windows_are_removed
                counts_of_a_removed_account_are_removed
                what_is_refused_is_not_counted
                of_many_at_once_as_many_as_allowed_are_counted
            }
            projects {
                a_project_is_read_back_whole
                a_name_is_used_once_in_a_partition
                projects_are_listed_oldest_first
                a_workspace_gets_the_lowest_free_uid
                a_uid_is_never_given_twice
                a_workspace_is_made_once
                defaults_are_made_once
            }
            providers {
                a_provider_is_read_back_whole_and_replaced_whole
                a_removed_provider_is_gone_and_others_stay
                providers_are_listed_by_name
            }
            views {
                a_view_is_read_back_as_it_was_put
                a_list_is_read_in_parts_from_both_ends
                only_who_knows_where_a_view_is_moves_or_reads_it
                a_view_is_dropped_whole_and_erased_with_its_session
            }
            blobs {
                bytes_are_found_by_their_hash
                partitions_do_not_see_each_others_blobs
                a_hash_that_is_none_finds_nothing
                what_nobody_keeps_is_swept_once_it_is_old
                partitions_with_blobs_are_listed
            }
        }
    };
}

/// The rules as values.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_list {
    ([] $($contract:ident { $($rule:ident)* })*) => {
        vec![$($($crate::conformance::Rule::new(
            concat!(stringify!($contract), "::", stringify!($rule)),
            |store| Box::pin($crate::conformance::$contract::$rule(store)),
        ),)*)*]
    };
}

/// The rules as test functions.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_functions {
    ([$check:ident] $($contract:ident { $($rule:ident)* })*) => {
        $(mod $contract {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                super::$check($crate::conformance::Rule::new(
                    concat!(stringify!($contract), "::", stringify!($rule)),
                    |store| Box::pin($crate::conformance::$contract::$rule(store)),
                ))
                .await;
            })*
        })*
    };
}

/// Makes a session with one entry.
async fn created(store: &Store) -> crate::SessionRecord {
    let record = samples::session();
    let head = store.log.commit(samples::create(&record)).await.expect("a session is created");
    assert_eq!(head, record.head);
    record
}
