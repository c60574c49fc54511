//! What the agent is given: the files its adapter wrote for it.

use std::{
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

use warren_domain::{AgentProfile, Content, ProfileId, Subagent, Timestamp};

const SYSTEM: &str = include_str!("prompts/system.md");
const SUBAGENT: &str = include_str!("prompts/subagent.md");

/// What the agent is given.
pub(super) struct Profile {
    pub(super) settings: AgentProfile,
    /// Instructions in the manner of CLAUDE.md.
    instructions: Option<String>,
    /// Where skills can be read.
    skills: String,
    surroundings: Surroundings,
}

/// Where and when the agent works.
pub(super) struct Surroundings {
    pub(super) cwd: PathBuf,
    pub(super) at: Timestamp,
}

/// Why what the agent is given cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProfileError {
    #[error("failed to read `{path}`")]
    Read { path: String, source: io::Error },
    #[error("`{path}` does not hold settings")]
    Settings { path: String, source: serde_json::Error },
}

impl Profile {
    /// Reads what is in `directory`; files that are not there say nothing.
    pub(super) fn read(directory: &Path, surroundings: Surroundings) -> Result<Self, ProfileError> {
        let path = directory.join("agent.json");
        let settings = match read(&path)? {
            Some(text) => serde_json::from_str(&text)
                .map_err(|source| ProfileError::Settings { path: path.display().to_string(), source })?,
            None => AgentProfile::empty(ProfileId::from("default")),
        };
        let instructions = read(&directory.join("INSTRUCTIONS.md"))?;
        let skills = directory.join("skills").display().to_string();
        Ok(Self { settings, instructions, skills, surroundings })
    }

    /// What the agent is told before everything else.
    pub(super) fn system_prompt(&self) -> String {
        self.with_sections(self.settings.system_prompt.as_deref(), SYSTEM)
    }

    /// What a subagent is told before its task.
    pub(super) fn subagent_prompt(&self, subagent: &Subagent) -> String {
        self.with_sections(Some(&subagent.prompt), SUBAGENT)
    }

    /// A message as the model is told it, if that differs from what the person wrote: `/name …` stands for the
    /// prompt of that name.
    pub(super) fn expanded(&self, content: &Content) -> Option<String> {
        let Content::Text(text) = content else { return None };
        let (name, rest) =
            text.trim().strip_prefix('/').map(|text| text.split_once(' ').unwrap_or((text, "")))?;
        let command = self.settings.commands.iter().find(|command| command.name == name)?;
        Some(match (command.prompt.contains("$ARGUMENTS"), rest) {
            (true, rest) => command.prompt.replace("$ARGUMENTS", rest),
            (false, "") => command.prompt.clone(),
            (false, rest) => format!("{}\n\n{rest}", command.prompt),
        })
    }

    fn with_sections(&self, first: Option<&str>, base: &str) -> String {
        let mut prompt = String::new();
        if let Some(first) = first.filter(|text| !text.trim().is_empty()) {
            prompt.push_str(first.trim());
            prompt.push_str("\n\n");
        }
        prompt.push_str(base.trim());
        prompt.push_str(&format!("\n\n{}", self.surroundings));
        if let Some(instructions) = &self.instructions {
            prompt.push_str("\n\n# Instructions\n\n");
            prompt.push_str(instructions.trim());
        }
        if !self.settings.skills.is_empty() {
            prompt.push_str("\n\n# Skills\n\nRead a skill's file before you do what it is for.\n");
        }
        for skill in &self.settings.skills {
            // Writing to a string cannot fail.
            let _ = write!(
                prompt,
                "\n- {}: {} ({}/{}/SKILL.md)",
                skill.name, skill.description, self.skills, skill.name
            );
        }
        prompt
    }
}

impl std::fmt::Display for Surroundings {
    /// The date is written in a way that a replay on another day takes for the same.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        write!(f, "# Here and now\n\n- You work in `{}`, on {os} ({arch}).", self.cwd.display())?;
        match jiff::Timestamp::from_millisecond(self.at.as_millis()) {
            Ok(at) => write!(f, "\n- Today is {} (UTC).", at.strftime("%A, %-d %B %Y")),
            Err(_) => Ok(()),
        }
    }
}

fn read(path: &Path) -> Result<Option<String>, ProfileError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ProfileError::Read { path: path.display().to_string(), source }),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use warren_domain::{Content, ProfileCommand, Timestamp};

    use super::{Profile, Surroundings};

    fn profile(files: &[(&str, &str)]) -> Profile {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            std::fs::write(directory.path().join(name), text).expect("written");
        }
        let at = Timestamp::parse("2026-11-18T09:00:00.000Z").expect("a time");
        let surroundings = Surroundings { cwd: PathBuf::from("/workspace"), at };
        Profile::read(directory.path(), surroundings).expect("readable")
    }

    #[test]
    fn an_empty_directory_gives_the_agent_nothing_beyond_itself() {
        let prompt = profile(&[]).system_prompt();
        let (base, here) = prompt.split_once("\n\n# Here and now\n\n").expect("two parts");
        assert_eq!(base, super::SYSTEM.trim());
        let (place, day) = here.split_once('\n').expect("two lines");
        assert!(place.starts_with("- You work in `/workspace`, on linux ("), "{place}");
        assert_eq!(day, "- Today is Wednesday, 18 November 2026 (UTC).");
    }

    #[test]
    fn the_profiles_own_prompt_comes_first_and_its_instructions_after_ours() {
        let settings =
            r#"{"systemPrompt":"You are Ada.","skills":[{"name":"chart","description":"Charts"}]}"#;
        let prompt = profile(&[("agent.json", settings), ("INSTRUCTIONS.md", "Use tabs.\n")]).system_prompt();
        assert!(prompt.starts_with("You are Ada.\n\n"));
        assert!(prompt.contains("\n\n# Instructions\n\nUse tabs.\n\n# Skills\n"));
        assert!(prompt.ends_with("/skills/chart/SKILL.md)"));
    }

    #[test]
    fn a_named_prompt_stands_for_its_text() {
        let mut profile = profile(&[]);
        let command = |name: &str, prompt: &str| ProfileCommand {
            name: name.to_owned(),
            description: String::new(),
            prompt: prompt.to_owned(),
        };
        profile.settings.commands =
            vec![command("fix", "Fix $ARGUMENTS now."), command("test", "Run the tests.")];
        let expanded = |text: &str| profile.expanded(&Content::from(text));
        assert_eq!(expanded("/fix the bug").as_deref(), Some("Fix the bug now."));
        assert_eq!(expanded("/test").as_deref(), Some("Run the tests."));
        assert_eq!(expanded("/test twice").as_deref(), Some("Run the tests.\n\ntwice"));
        assert_eq!(expanded("/unknown x"), None);
        assert_eq!(expanded("and/or"), None);
    }
}
