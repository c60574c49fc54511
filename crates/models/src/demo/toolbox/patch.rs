//! Patches as `apply_patch` takes them.

pub(super) fn add(path: &str, content: &str) -> String {
    let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
    format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n")
}

/// `old` and `new` are whole lines, or the one line that holds both but for its indentation.
pub(super) fn replace(path: &str, old: &str, new: &str) -> String {
    let lines =
        |sign: char, text: &str| text.lines().map(|line| format!("{sign}{line}\n")).collect::<String>();
    let (old, new) = (lines('-', old), lines('+', new));
    format!("*** Begin Patch\n*** Update File: {path}\n@@\n{old}{new}*** End Patch\n")
}
