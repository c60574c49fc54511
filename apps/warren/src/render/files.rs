//! What became of the files.

use std::collections::BTreeMap;

use warren_domain::FileChange;

use super::{Paint, clean, size};

/// How many files are listed; the rest are counted.
const N_LISTED: usize = 20;

/// The files a run touched, by path, as it left them.
#[derive(Debug, Default)]
pub(super) struct Files(BTreeMap<String, (FileChange, Option<u64>)>);

impl Files {
    pub(super) fn note(&mut self, path: &str, change: FileChange, size_bytes: Option<u64>) {
        let earlier = self.0.get(path).map(|(earlier, _)| *earlier);
        match (earlier, change) {
            // It came and went within the run.
            (Some(FileChange::Created), FileChange::Deleted) => {
                self.0.remove(path);
            }
            (Some(FileChange::Created), FileChange::Modified) => {
                self.0.insert(path.to_owned(), (FileChange::Created, size_bytes));
            }
            _ => {
                self.0.insert(path.to_owned(), (change, size_bytes));
            }
        }
    }

    /// The list, or `None` if no file was touched.
    pub(super) fn list(&self, paint: Paint) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let width = self.0.keys().take(N_LISTED).map(|path| clean(path).chars().count()).max().unwrap_or(0);
        let mut lines = vec![paint.bold("Files")];
        for (path, (change, size_bytes)) in self.0.iter().take(N_LISTED) {
            let path = clean(path);
            let gap = " ".repeat(width - path.chars().count());
            let what = match (change, size_bytes) {
                (FileChange::Deleted, _) => "deleted".to_owned(),
                (FileChange::Modified, Some(bytes)) => format!("{}, changed", size(*bytes)),
                (FileChange::Modified, None) => "changed".to_owned(),
                (FileChange::Created, Some(bytes)) => size(*bytes),
                (FileChange::Created, None) => String::new(),
            };
            lines.push(format!("  {path}{gap}  {}", paint.dim(&what)).trim_end().to_owned());
        }
        if self.0.len() > N_LISTED {
            lines.push(paint.dim(&format!("  … and {} more", self.0.len() - N_LISTED)));
        }
        Some(lines.join("\n"))
    }
}
