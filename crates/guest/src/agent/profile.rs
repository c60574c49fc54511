//! What the agent is given: the files its adapter wrote for it.

use std::{fmt::Write, fs, io, path::Path};

use warren_domain::{AgentProfile, Content, ProfileId, Subagent};

const SYSTEM: &str = include_str!("prompts/system.md");
const SUBAGENT: &str = include_str!("prompts/subagent.md");

/// What the agent is given.
pub(super) struct Profile {
    pub(super) settings: AgentProfile,
    /// Instructions in the manner of CLAUDE.md.
    instructions: Option<String>,
    /// Where skills can be read.
    skills: String,
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
    pub(super) fn read(directory: &Path) -> Result<Self, ProfileError> {
        let path = directory.join("agent.json");
        let settings = match read(&path)? {
            Some(text) => serde_json::from_str(&text)
                .map_err(|source| ProfileError::Settings { path: path.display().to_string(), source })?,
            None => AgentProfile::empty(ProfileId::from("default")),
        };
        let instructions = read(&directory.join("INSTRUCTIONS.md"))?;
        Ok(Self { settings, instructions, skills: directory.join("skills").display().to_string() })
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

fn read(path: &Path) -> Result<Option<String>, ProfileError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ProfileError::Read { path: path.display().to_string(), source }),
    }
}

#[cfg(test)]
mod tests {
    use warren_domain::{Content, ProfileCommand};

    use super::Profile;

    fn profile(files: &[(&str, &str)]) -> Profile {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            std::fs::write(directory.path().join(name), text).expect("written");
        }
        Profile::read(directory.path()).expect("readable")
    }

    #[test]
    fn an_empty_directory_gives_the_agent_nothing_beyond_itself() {
        assert_eq!(profile(&[]).system_prompt(), super::SYSTEM.trim());
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
