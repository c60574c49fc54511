//! What people type, as answers to what agents ask.

use std::{
    collections::VecDeque,
    io::{self, BufRead as _, IsTerminal as _, Write as _},
};

use serde_json::{Map, Value};
use tokio::sync::mpsc;
use warren_config::Environment;
use warren_domain::{ApprovalDecision, ApprovalId, ApprovalKind, ApprovalRequest, ApprovalRule, RuleScope};
use warren_wire::ApprovalAnswer;

use crate::{
    editor::{Editor, Typed},
    invocation::Invocation,
    render::clean,
    terminal::OutputError,
};

/// Lines of standard input, read by a thread of their own: a read of a terminal cannot be cancelled.
pub(crate) fn lines() -> mpsc::Receiver<String> {
    // One place: the thread waits with the next line until the one before it was taken.
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Somebody who can be asked.
pub(crate) struct Person {
    input: Input,
    /// What was asked and not answered, oldest first.
    open: VecDeque<ApprovalRequest>,
    /// The request whose prompt is shown: an answer is meant for this one and for no other.
    shown: Option<ApprovalId>,
}

/// Where answers come from.
enum Input {
    /// Lines of a pipe, read ahead.
    Pipe(mpsc::Receiver<String>),
    /// The keyboard.
    Terminal(Box<Editor>),
}

/// What somebody said.
pub(crate) enum Reply {
    Line(String),
    /// Ctrl-C at a question: the run shall stop.
    Stop,
    /// No more will come.
    End,
}

impl Person {
    /// Nobody, if standard input is no terminal.
    pub(crate) fn at_terminal(environment: &Environment) -> Option<Self> {
        if can_edit(environment) {
            return Some(Self::with_editor(Editor::new()));
        }
        io::stdin().is_terminal().then(|| Self::reading(lines()))
    }

    /// Somebody whose lines come from a pipe.
    pub(crate) fn reading(lines: mpsc::Receiver<String>) -> Self {
        Self { input: Input::Pipe(lines), open: VecDeque::new(), shown: None }
    }

    /// Somebody at the keyboard.
    pub(crate) fn with_editor(editor: Editor) -> Self {
        Self { input: Input::Terminal(Box::new(editor)), open: VecDeque::new(), shown: None }
    }

    /// The keyboard, if there is one.
    pub(crate) fn editor(&mut self) -> Option<&mut Editor> {
        match &mut self.input {
            Input::Terminal(editor) => Some(editor),
            Input::Pipe(_) => None,
        }
    }

    /// The next line of a pipe.
    pub(crate) async fn line(&mut self) -> Option<String> {
        match &mut self.input {
            Input::Pipe(lines) => lines.recv().await,
            Input::Terminal(_) => None,
        }
    }

    /// Whether an answer is being typed, which output would disturb.
    pub(crate) fn is_typing(&self) -> bool {
        matches!(&self.input, Input::Terminal(editor) if editor.is_reading())
    }

    /// Shows a question, after those that wait already.
    pub(crate) fn ask(&mut self, request: ApprovalRequest) -> Result<(), OutputError> {
        self.open.push_back(request);
        if self.open.len() == 1 { self.prompt() } else { Ok(()) }
    }

    /// Somebody else answered, or nobody will.
    pub(crate) fn forget(&mut self, approval: ApprovalId) -> Result<(), OutputError> {
        self.open.retain(|request| request.approval_id != approval);
        if self.shown != Some(approval) {
            return Ok(());
        }
        match &self.input {
            // The next question follows when the line is given up.
            Input::Terminal(editor) if editor.is_reading() => {
                editor.cancel();
                Ok(())
            }
            Input::Terminal(_) | Input::Pipe(_) => self.prompt(),
        }
    }

    /// Ends a question that nobody will answer any more.
    pub(crate) async fn settle(&mut self) {
        self.open.clear();
        self.shown = None;
        if let Input::Terminal(editor) = &mut self.input {
            editor.settle().await;
        }
    }

    /// The next reply to a question; never, if nothing was asked. Cancel-safe.
    pub(crate) async fn reply(&mut self) -> Result<Reply, OutputError> {
        loop {
            match &mut self.input {
                Input::Pipe(lines) if !self.open.is_empty() => match lines.recv().await {
                    Some(line) => return Ok(Reply::Line(line)),
                    // The run goes on; others may answer.
                    None => std::future::pending().await,
                },
                Input::Pipe(_) => std::future::pending().await,
                Input::Terminal(editor) => match editor.typed().await {
                    Typed::Line(line) => return Ok(Reply::Line(line)),
                    Typed::Cleared => return Ok(Reply::Stop),
                    Typed::End => return Ok(Reply::End),
                    Typed::Cancelled => self.prompt()?,
                },
            }
        }
    }

    /// What a line answers to the question that is shown. One that says nothing is asked again.
    pub(crate) fn understand(
        &mut self,
        line: &str,
    ) -> Result<Option<(ApprovalId, ApprovalAnswer)>, OutputError> {
        let Some(request) = self.open.front() else { return Ok(None) };
        let understood = answer(request, line).map(|answer| (request.approval_id, answer));
        match understood.filter(|(id, _)| self.shown == Some(*id)) {
            Some(understood) => Ok(Some(understood)),
            None => self.prompt().map(|()| None),
        }
    }

    /// Shows the oldest open question.
    pub(crate) fn prompt(&mut self) -> Result<(), OutputError> {
        self.shown = self.open.front().map(|request| request.approval_id);
        let Some(request) = self.open.front() else { return Ok(()) };
        let text = prompt(request);
        let (body, last) = match text.rsplit_once('\n') {
            Some((body, last)) => (format!("{body}\n"), last),
            None => (String::new(), text.as_str()),
        };
        let mut out = io::stderr().lock();
        match &mut self.input {
            Input::Terminal(editor) => {
                out.write_all(body.as_bytes())?;
                editor.read_answer(last);
            }
            Input::Pipe(_) => out.write_all(text.as_bytes())?,
        }
        Ok(out.flush()?)
    }
}

/// The commands that answer a request from another terminal.
pub(crate) fn commands(request: &ApprovalRequest, invocation: &Invocation) -> Vec<String> {
    let id = request.approval_id.to_string();
    let answers: &[&[&str]] = match request.kind {
        ApprovalKind::Question => &[&["answer", &id, "TEXT"]],
        ApprovalKind::Permission | ApprovalKind::Egress => &[&["allow", &id], &["deny", &id]],
    };
    answers.iter().map(|answer| invocation.command(&[&["approvals"], *answer].concat())).collect()
}

/// Reports a request that nobody at this terminal can answer.
pub(crate) fn waiting(request: &ApprovalRequest, invocation: &Invocation) -> String {
    let title = clean(&request.title);
    let commands = commands(request, invocation).join("\n  ");
    format!("A request waits for an answer: {title}\nAnswer it in another terminal:\n  {commands}")
}

/// Whether lines can be edited here: the keyboard and the screen are a terminal that knows how.
pub(crate) fn can_edit(environment: &Environment) -> bool {
    let is_smart = environment.get("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
    is_smart && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// What stands before the cursor.
fn prompt(request: &ApprovalRequest) -> String {
    if request.kind == ApprovalKind::Question {
        let all: String = questions(request).map(|question| question_text(&question)).collect();
        return format!("{all}Answer (a number or text; `;` between answers): ");
    }
    let always: String = choices(request)
        .map(|(letter, rule)| format!("  {letter}  always allow {}\n", rule_text(rule)))
        .collect();
    let letters: String = choices(request).map(|(letter, _)| format!("{letter}, ")).collect();
    format!("{always}Allow it? [y]es, {letters}[n]o: ")
}

/// Rules a person may grant by a letter, the narrowest first.
fn choices(request: &ApprovalRequest) -> impl Iterator<Item = (&'static str, &ApprovalRule)> {
    let is_offered = request.options.contains(&ApprovalDecision::AllowAlways);
    ["a", "b", "c"].into_iter().zip(&request.rules).filter(move |_| is_offered)
}

/// What a rule allows, for people.
pub(crate) fn rule_text(rule: &ApprovalRule) -> String {
    let (tool, pattern) = (clean(&rule.tool), clean(&rule.pattern));
    match rule.scope {
        RuleScope::Exact => format!("{tool}, exactly: {pattern}"),
        RuleScope::Prefix => {
            let words = pattern.strip_suffix(" *").unwrap_or(&pattern);
            format!("single {tool} commands that begin with: {words} *")
        }
        RuleScope::Directory => format!("{tool} on files in: {pattern}/"),
        RuleScope::Tool => format!("everything {tool} does"),
    }
}

/// An answer without a rule.
pub(crate) fn plain(decision: ApprovalDecision, message: Option<String>) -> ApprovalAnswer {
    ApprovalAnswer { decision, message, answers: None, rule: None }
}

fn question_text(question: &Value) -> String {
    let options = question["options"].as_array().into_iter().flatten().zip(1..);
    let options: String = options
        .map(|(option, n)| format!("  {n}. {}\n", clean(option["label"].as_str().unwrap_or_default())))
        .collect();
    format!("{}\n{options}", clean(question["question"].as_str().unwrap_or_default()))
}

fn questions(request: &ApprovalRequest) -> impl Iterator<Item = Value> {
    request.detail["questions"].as_array().cloned().unwrap_or_default().into_iter()
}

/// What a line says about a request; `None` if it says nothing.
pub(crate) fn answer(request: &ApprovalRequest, line: &str) -> Option<ApprovalAnswer> {
    let line = line.trim();
    if request.kind == ApprovalKind::Question {
        let answers = question_answers(request, line)?;
        let decision = ApprovalDecision::Allow;
        return Some(ApprovalAnswer { answers: Some(answers), ..plain(decision, None) });
    }
    let (word, reason) = line.split_once(' ').unwrap_or((line, ""));
    let word = word.to_lowercase();
    if let Some((_, rule)) = choices(request).find(|(letter, _)| *letter == word) {
        let answer = plain(ApprovalDecision::AllowAlways, None);
        return Some(ApprovalAnswer { rule: Some(rule.clone()), ..answer });
    }
    let decision = match word.as_str() {
        "y" | "yes" | "allow" => ApprovalDecision::Allow,
        "always" => ApprovalDecision::AllowAlways,
        "n" | "no" | "deny" => ApprovalDecision::Deny,
        _ => return None,
    };
    let message = Some(reason.trim()).filter(|reason| !reason.is_empty()).map(str::to_owned);
    request.options.contains(&decision).then(|| plain(decision, message))
}

fn question_answers(request: &ApprovalRequest, line: &str) -> Option<Map<String, Value>> {
    let given: Vec<&str> = line.split(';').map(str::trim).collect();
    let asked: Vec<Value> = questions(request).collect();
    if line.is_empty() || given.len() != asked.len() {
        return None;
    }
    let pairs = asked.iter().zip(given).map(|(question, given)| {
        let text = question["question"].as_str().unwrap_or_default();
        let options = question["options"].as_array().map(Vec::as_slice).unwrap_or_default();
        let chosen = given.parse::<usize>().ok().and_then(|n| options.get(n.checked_sub(1)?));
        let label = chosen.and_then(|option| option["label"].as_str()).unwrap_or(given);
        (text.to_owned(), Value::from(label))
    });
    Some(pairs.collect())
}

#[cfg(test)]
mod tests {
    use super::answer;
    use serde_json::json;
    use warren_domain::{ApprovalDecision, ApprovalId, ApprovalKind, ApprovalRequest, Timestamp};

    fn request(kind: ApprovalKind, detail: serde_json::Value) -> ApprovalRequest {
        ApprovalRequest {
            approval_id: ApprovalId(uuid::Uuid::nil()),
            kind,
            tool_use_id: None,
            title: "?".to_owned(),
            detail,
            options: vec![ApprovalDecision::Allow, ApprovalDecision::Deny],
            rules: Vec::new(),
            expires_at: Timestamp::default(),
        }
    }

    #[test]
    fn a_permission_is_given_by_a_word_and_refused_with_a_reason() {
        let asked = request(ApprovalKind::Permission, json!({}));
        let plain = |decision| Some(super::plain(decision, None));
        assert_eq!(answer(&asked, "y"), plain(ApprovalDecision::Allow));
        assert_eq!(
            answer(&asked, " No not on a Friday "),
            Some(super::plain(ApprovalDecision::Deny, Some("not on a Friday".to_owned())))
        );
        assert_eq!(["", "perhaps", "always"].map(|line| answer(&asked, line)), [None, None, None]);
    }

    #[test]
    fn letter_grants_the_rule_that_is_shown_beside_it() {
        let detail = json!({"toolName": "bash", "input": {"command": "git push"}});
        let mut asked = request(ApprovalKind::Permission, detail);
        asked.rules = warren_domain::ApprovalRule::choices(&asked.detail);
        assert_eq!(answer(&asked, "b"), None, "it is not offered");
        asked.options.push(ApprovalDecision::AllowAlways);
        let shown = super::prompt(&asked);
        for (letter, rule) in ["a", "b", "c"].into_iter().zip(&asked.rules) {
            assert_eq!(answer(&asked, letter).and_then(|answer| answer.rule).as_ref(), Some(rule));
            assert!(
                shown.contains(&format!("  {letter}  always allow {}\n", super::rule_text(rule))),
                "{shown}"
            );
        }
        assert!(shown.contains("single bash commands that begin with: git *"), "{shown}");
    }

    #[test]
    fn a_question_is_answered_by_a_number_or_in_words() {
        let question = |text| json!({"question": text, "options": [{"label": "Red"}, {"label": "Blue"}]});
        let asked =
            request(ApprovalKind::Question, json!({"questions": [question("Hue?"), question("Ink?")]}));
        let answers =
            |line| answer(&asked, line).and_then(|answer| answer.answers).map(serde_json::Value::from);
        assert_eq!(answers("2; green"), Some(json!({"Hue?": "Blue", "Ink?": "green"})));
        assert_eq!(answers("3; 0"), Some(json!({"Hue?": "3", "Ink?": "0"})));
        assert_eq!([answers("1"), answers("")], [None, None]);
    }
}
