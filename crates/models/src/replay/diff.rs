//! A difference of two texts, for people.

use std::fmt::Write as _;

/// Lines around a change that are shown with it.
const CONTEXT: usize = 3;

/// Beyond this many pairs of lines, what lies between the first and the last difference is shown as replaced: the work
/// stays small, and nobody reads a finer one of such a size.
const MOST_PAIRS: usize = 4 << 20;

/// A longer line is shown by its first part: one line may be a whole file.
const LONGEST_LINE: usize = 400;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step<'t> {
    Same(&'t str),
    Gone(&'t str),
    New(&'t str),
}

/// What turns `before` into `after`, as a unified diff without file names, of at most about `most` bytes. Empty if they
/// are the same.
#[must_use]
pub fn unified_diff(before: &str, after: &str, most: usize) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let steps = steps(&before, &after);
    let mut text = String::new();
    let mut at = 0;
    while let Some(first) = steps[at..].iter().position(|step| !matches!(step, Step::Same(_))) {
        let begin = (at + first).saturating_sub(CONTEXT).max(at);
        let end = end_of_hunk(&steps, at + first);
        write_hunk(&mut text, &steps, begin, end);
        at = end;
        if text.len() > most {
            let cut = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= most).last();
            text.truncate(cut.unwrap_or_default());
            text.push_str("\n… (longer)\n");
            break;
        }
    }
    text
}

/// A hunk ends where nothing changes for twice the context.
fn end_of_hunk(steps: &[Step<'_>], first: usize) -> usize {
    let mut last = first;
    for (index, step) in steps.iter().enumerate().skip(first) {
        if !matches!(step, Step::Same(_)) {
            last = index;
        } else if index - last > 2 * CONTEXT {
            break;
        }
    }
    (last + 1 + CONTEXT).min(steps.len())
}

fn write_hunk(text: &mut String, steps: &[Step<'_>], begin: usize, end: usize) {
    let count =
        |steps: &[Step<'_>], but: fn(&Step<'_>) -> bool| steps.iter().filter(|step| !but(step)).count();
    let is_new = |step: &Step<'_>| matches!(step, Step::New(_));
    let is_gone = |step: &Step<'_>| matches!(step, Step::Gone(_));
    let (head, hunk) = (&steps[..begin], &steps[begin..end]);
    // Writing to a text cannot fail.
    let _ = writeln!(
        text,
        "@@ -{},{} +{},{} @@",
        count(head, is_new) + 1,
        count(hunk, is_new),
        count(head, is_gone) + 1,
        count(hunk, is_gone)
    );
    for step in hunk {
        let (sign, line) = match step {
            Step::Same(line) => (' ', line),
            Step::Gone(line) => ('-', line),
            Step::New(line) => ('+', line),
        };
        text.push(sign);
        match line.char_indices().nth(LONGEST_LINE) {
            Some((cut, _)) => {
                text.push_str(&line[..cut]);
                text.push('…');
            }
            None => text.push_str(line),
        }
        text.push('\n');
    }
}

fn steps<'t>(before: &[&'t str], after: &[&'t str]) -> Vec<Step<'t>> {
    let n_head = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let (rest_before, rest_after) = (&before[n_head..], &after[n_head..]);
    let n_tail =
        rest_before.iter().rev().zip(rest_after.iter().rev()).take_while(|(one, other)| one == other).count();
    let middle_before = &rest_before[..rest_before.len() - n_tail];
    let middle_after = &rest_after[..rest_after.len() - n_tail];
    let mut steps: Vec<Step<'t>> = before[..n_head].iter().map(|line| Step::Same(line)).collect();
    if middle_before.len().saturating_mul(middle_after.len()) > MOST_PAIRS {
        steps.extend(middle_before.iter().map(|line| Step::Gone(line)));
        steps.extend(middle_after.iter().map(|line| Step::New(line)));
    } else {
        between(middle_before, middle_after, &mut steps);
    }
    steps.extend(before[before.len() - n_tail..].iter().map(|line| Step::Same(line)));
    steps
}

/// The longest common subsequence, by the table of its lengths.
fn between<'t>(before: &[&'t str], after: &[&'t str], steps: &mut Vec<Step<'t>>) {
    let width = after.len() + 1;
    let mut lengths = vec![0_u32; (before.len() + 1) * width];
    for (i, one) in before.iter().enumerate().rev() {
        for (j, other) in after.iter().enumerate().rev() {
            lengths[i * width + j] = if one == other {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < before.len() && j < after.len() {
        if before[i] == after[j] {
            steps.push(Step::Same(before[i]));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            steps.push(Step::Gone(before[i]));
            i += 1;
        } else {
            steps.push(Step::New(after[j]));
            j += 1;
        }
    }
    steps.extend(before[i..].iter().map(|line| Step::Gone(line)));
    steps.extend(after[j..].iter().map(|line| Step::New(line)));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};

    use super::{Step, steps, unified_diff};

    #[test]
    fn a_change_is_shown_with_what_is_around_it_and_where_it_is() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let after = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n";
        assert_eq!(unified_diff(before, before, 1000), "");
        assert_eq!(
            unified_diff(before, after, 1000),
            "@@ -2,8 +2,9 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n+10\n"
        );
        let far = "0\n".repeat(20);
        assert_eq!(
            unified_diff(&format!("a\n{far}b"), &format!("x\n{far}y"), 1000),
            "@@ -1,4 +1,4 @@\n-a\n+x\n 0\n 0\n 0\n@@ -19,4 +19,4 @@\n 0\n 0\n 0\n-b\n+y\n"
        );
    }

    #[test]
    fn a_long_difference_is_cut_and_says_so() {
        let shown = unified_diff("", &"long\n".repeat(1000), 100);
        assert!(shown.len() < 130 && shown.ends_with("… (longer)\n"), "{shown}");
        let shown = unified_diff("", &"é".repeat(5000), 10_000);
        assert!(shown.len() < 1000 && shown.contains('…'), "{shown}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn the_steps_lead_from_one_text_to_the_other(
            before in proptest::collection::vec(0_u8..4, 0..30),
            after in proptest::collection::vec(0_u8..4, 0..30),
        ) {
            const WORDS: [&str; 4] = ["a", "b", "c", "d"];
            let lines = |digits: &[u8]| digits.iter().map(|digit| WORDS[usize::from(*digit)]).collect::<Vec<_>>();
            let (before, after) = (lines(&before), lines(&after));
            let steps = steps(&before, &after);
            let old: Vec<_> = steps.iter().filter_map(|step| match step {
                Step::Same(line) | Step::Gone(line) => Some(*line),
                Step::New(_) => None,
            }).collect();
            let new: Vec<_> = steps.iter().filter_map(|step| match step {
                Step::Same(line) | Step::New(line) => Some(*line),
                Step::Gone(_) => None,
            }).collect();
            prop_assert_eq!(old, before);
            prop_assert_eq!(new, after);
        }
    }
}
