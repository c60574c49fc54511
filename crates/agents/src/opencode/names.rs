//! Names that live stream and export share, and what they tell.
//!
//! OpenCode's ids begin with their time, twelve hexadecimal digits: the low 36 bits of the milliseconds, then a counter.
//! A prompt's own id is told to OpenCode as the id of its first part, because that is kept wherever the message goes.
//! It cannot be the message's id: messages are sorted by that, and a prompt may have been written long before it is sent.

use warren_domain::BlockId;

/// What stands before a prompt's id in the id of its first part. It sorts before every part that OpenCode names.
const PROMPT_PREFIX: &str = "prt_000000000000";

/// How many bits of the milliseconds an id holds.
const TIME_BITS: u32 = 36;

/// The id of the first part of a prompt, if the prompt's id is `msg-` and a UUID.
pub(super) fn prompt_part(message: &BlockId) -> Option<String> {
    let digits: String = message.as_str().strip_prefix("msg-")?.chars().filter(|c| *c != '-').collect();
    (digits.len() == 32 && is_lower_hex(&digits)).then(|| format!("{PROMPT_PREFIX}{digits}"))
}

/// The id of the prompt whose first part this is.
pub(super) fn prompt_of_part(part: &str) -> Option<BlockId> {
    let digits = part.strip_prefix(PROMPT_PREFIX).filter(|rest| rest.len() == 32 && is_lower_hex(rest))?;
    let groups = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    Some(BlockId(format!("msg-{}", groups.join("-"))))
}

/// When the thing with this id was made, in milliseconds; `near` is a time not far from it.
pub(super) fn born(id: &str, near: i64) -> Option<i64> {
    let digits = id.split_once('_')?.1.get(..9)?;
    let low = i64::from_str_radix(digits, 16).ok().filter(|low| *low > 0 && is_lower_hex(digits))?;
    let span = 1_i64 << TIME_BITS;
    let time = (near & !(span - 1)) | low;
    // Only its low bits are known: of the times that have them, the nearest.
    [time.saturating_sub(span), time, time.saturating_add(span)]
        .into_iter()
        .min_by_key(|time| time.saturating_sub(near).unsigned_abs())
}

/// The result of the tool call that is this part. Ids of calls may come again in a session, ids of parts do not.
pub(super) fn result(part: &str) -> BlockId {
    BlockId(format!("{part}-result"))
}

fn is_lower_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use warren_domain::BlockId;

    use super::{born, prompt_of_part, prompt_part};

    #[test]
    fn a_prompts_id_survives_as_the_id_of_a_part() {
        let id = BlockId::from("msg-01990000-0000-7000-8000-00000000000a");
        let part = prompt_part(&id).expect("it has a form");
        assert_eq!(part, "prt_0000000000000199000000007000800000000000000a");
        assert_eq!(prompt_of_part(&part), Some(id));
        assert!(*part < *"prt_1e1d86375001penljd0Lm4ETVt", "it stays the first part");
    }

    #[test]
    fn other_ids_are_left_alone() {
        assert_eq!(prompt_part(&BlockId::from("msg-1")), None);
        assert_eq!(prompt_of_part("prt_1e1d86375001penljd0Lm4ETVt"), None);
        assert_eq!(prompt_of_part("prt_00000000000001é"), None);
    }

    #[test]
    fn an_id_tells_when_it_was_made() {
        let at = 1_794_770_994_859;
        assert_eq!(born("prt_1e0b006ab001J76SAsOdMTdc62", at + 5_000), Some(at));
        assert_eq!(born("prt_1e0b006ab001J76SAsOdMTdc62", at - 86_400_000), Some(at));
        assert_eq!([born("prt_xyz", at), born("x", at), born("prt_é0b006ab001", at)], [None; 3]);
    }
}
