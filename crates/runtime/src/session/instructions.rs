//! What every agent can read of its place: `/instructions/INSTRUCTIONS.md`, made for each sandbox.

use warren_agents::{LayoutFile, Place};
use warren_domain::AgentProfile;

use crate::options::Packages;

const NAME: &str = "INSTRUCTIONS.md";

/// Adds the file, or what it lacks, to what an agent is given. The profile's prompt is in it where no other file of
/// `/instructions` can have it.
pub(super) fn add(layout: &mut Vec<LayoutFile>, profile: &AgentProfile, packages: &Packages) {
    let is_in_instructions = |file: &LayoutFile| file.place == Place::Instructions;
    let has_others = layout.iter().any(is_in_instructions);
    let context = context(packages);
    match layout.iter_mut().find(|file| is_in_instructions(file) && file.path == NAME) {
        Some(file) => {
            file.content.extend_from_slice(b"\n\n");
            file.content.extend_from_slice(context.as_bytes());
        }
        None => {
            let prompt = profile.system_prompt.as_deref().filter(|_| !has_others);
            let texts = [prompt, profile.agent_md_file.as_deref(), Some(&context)];
            let texts = texts.into_iter().flatten().map(str::trim).filter(|text| !text.is_empty());
            let text = texts.collect::<Vec<_>>().join("\n\n") + "\n";
            layout.push(LayoutFile {
                place: Place::Instructions,
                path: NAME.to_owned(),
                content: text.into_bytes(),
                mode: 0o644,
            });
        }
    }
}

/// Where the agent is. The same for every session, so that a replayed run reads what the recorded one read.
fn context(packages: &Packages) -> String {
    let node = match packages.node {
        Some(_) => "Next.js, React and TypeScript are in `/node_modules`.",
        None => {
            "Next.js, React and TypeScript, which the app in `/outputs/web` needs, are not installed; the operator of the \
             server installs them with `warren template install`."
        }
    };
    let python = match packages.python {
        Some(_) => "matplotlib, python-pptx, python-docx and openpyxl can be imported in Python.",
        None => "Packages of Python beside its own are not installed.",
    };
    format!(
        "# Your sandbox\n\n\
         - `/workspace` is where you work.\n\
         - `/outputs` is for results: pages, apps, documents, slides, sheets and images there are shown to the user. \
           `/outputs/manifest.json` lists them after each run, unless you write it yourself.\n\
         - `/user-input` has the files that the user uploaded.\n\
         - `/knowledge` has the files of the project, read-only; `/knowledge/INDEX.md` lists them, if there are any.\n\
         - `/instructions` has these instructions, read-only.\n\
         - There is no network, except for what the profile of this session allows.\n\
         - {node} {python}\n"
    )
}

#[cfg(test)]
mod tests {
    use warren_agents::{LayoutFile, Place};
    use warren_domain::AgentProfile;

    use super::{NAME, add};
    use crate::options::Packages;

    fn file(path: &str, content: &str) -> LayoutFile {
        LayoutFile {
            place: Place::Instructions,
            path: path.to_owned(),
            content: content.as_bytes().to_vec(),
            mode: 0o644,
        }
    }

    /// The text of the file that an agent gets which has this layout of its own.
    fn text(mut layout: Vec<LayoutFile>, profile: &AgentProfile) -> String {
        add(&mut layout, profile, &Packages::default());
        let mut found = layout.into_iter().filter(|file| file.path == NAME);
        let content = found.next().expect("the file").content;
        assert!(found.next().is_none(), "one file");
        String::from_utf8(content).expect("text")
    }

    #[test]
    fn every_agent_gets_the_file_whatever_its_profile_has() {
        let mut profile = AgentProfile::empty("p".into());
        let plain = text(Vec::new(), &profile);
        assert!(plain.starts_with("# Your sandbox") && plain.contains("`/knowledge`"), "{plain}");
        assert!(plain.contains("warren template install"), "{plain}");
        profile.system_prompt = Some("Be brief.".to_owned());
        profile.agent_md_file = Some("Use tabs.".to_owned());
        let full = text(Vec::new(), &profile);
        assert!(full.starts_with("Be brief.\n\nUse tabs.\n\n# Your sandbox"), "{full}");
        // Where the prompt has a file of its own, it is not told twice.
        let own = text(vec![file("system.md", "Be brief.")], &profile);
        assert!(own.starts_with("Use tabs.\n\n# Your sandbox"), "{own}");
        let known = text(vec![file(NAME, "Use tabs.")], &profile);
        assert!(known.starts_with("Use tabs.\n\n# Your sandbox"), "{known}");
    }
}
