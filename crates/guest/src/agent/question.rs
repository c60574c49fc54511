//! Questions to the person.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use warren_domain::ApprovalDecision;

use super::{
    control::Verdict,
    session::Agent,
    thread::Thread,
    tools::{Call, Output},
};

const NO_ANSWER: &str =
    "The person does not answer. Choose what they most likely want, and say what you chose.";

/// More are a form, which nobody fills in.
const MAX_QUESTIONS: usize = 4;

/// What the model asks.
#[derive(Debug, Deserialize)]
struct Input {
    questions: Vec<Question>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Question {
    question: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    header: Option<String>,
    #[serde(default)]
    options: Vec<Choice>,
    #[serde(default)]
    multi_select: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Choice {
    label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

/// Lines beside the drafts, for whoever asks people.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Line<'a> {
    QuestionAsked { key: &'a str, tool_use_id: &'a str, title: &'a str, questions: &'a [Question] },
    ApprovalWithdrawn { key: &'a str },
}

impl Agent {
    /// Asks the person, and returns with what they answered.
    pub(super) async fn ask_person(&self, thread: &Thread, call: &Call) -> Output {
        let questions = match questions(&call.input) {
            Ok(questions) => questions,
            Err(problem) => return Output::failed(problem),
        };
        let key = call.path_in(thread.id());
        let answer = self.control.answer_to(&key);
        let title = questions.first().map_or("", |first| first.question.as_str());
        thread.say_aside(&Line::QuestionAsked {
            key: &key,
            tool_use_id: &call.id,
            title,
            questions: &questions,
        });
        tokio::select! {
            biased;
            () = self.control.interrupted() => {
                self.control.forget(&key);
                thread.say_aside(&Line::ApprovalWithdrawn { key: &key });
                Output::failed(Output::INTERRUPTED)
            }
            answer = answer => match answer {
                Ok(verdict) => told(&questions, &verdict),
                Err(_) => Output::failed(NO_ANSWER),
            },
        }
    }
}

fn questions(input: &Value) -> Result<Vec<Question>, String> {
    let input = Input::deserialize(input)
        .map_err(|error| format!("the input is not what this tool takes: {error}"))?;
    match input.questions.len() {
        1..=MAX_QUESTIONS => Ok(input.questions),
        n => Err(format!("ask one to {MAX_QUESTIONS} questions, not {n}")),
    }
}

/// The answers, in words for the model.
fn told(questions: &[Question], verdict: &Verdict) -> Output {
    let message = verdict.message.as_deref().map(str::trim).filter(|message| !message.is_empty());
    if verdict.decision == ApprovalDecision::Deny {
        return Output::failed(message.unwrap_or(NO_ANSWER));
    }
    let none = Map::new();
    let answers = verdict.answers.as_ref().unwrap_or(&none);
    // Words without a question belong to the only one, or to all.
    let in_general = message.filter(|_| answers.is_empty()).unwrap_or("(no answer)");
    let line = |question: &Question| {
        let answer = answers.get(&question.question).map_or_else(|| in_general.to_owned(), words);
        format!("{} → {answer}", question.question)
    };
    let mut lines: Vec<String> = questions.iter().map(line).collect();
    lines.extend(message.filter(|_| !answers.is_empty()).map(str::to_owned));
    Output::from(Ok(lines.join("\n")))
}

fn words(answer: &Value) -> String {
    match answer {
        Value::String(answer) => answer.clone(),
        Value::Array(answers) => answers.iter().map(words).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use warren_domain::ApprovalDecision;

    use super::{NO_ANSWER, questions, told};
    use crate::agent::control::Verdict;

    fn check(answers: Value, message: Option<&str>, expect: &str) {
        let asked = json!({"questions": [
            {"question": "Colour?", "options": [{"label": "Teal"}]},
            {"question": "Sizes?", "options": [], "multiSelect": true}]});
        let asked = questions(&asked).expect("questions");
        let message = message.map(str::to_owned);
        let answers = answers.as_object().cloned();
        let verdict = Verdict { decision: ApprovalDecision::Allow, message: message.clone(), answers };
        assert_eq!(told(&asked, &verdict).text, expect);
        let no = Verdict { decision: ApprovalDecision::Deny, message: None, answers: None };
        assert_eq!(told(&asked, &no).text, NO_ANSWER);
    }

    #[test]
    fn answers_are_told_question_by_question() {
        check(json!({"Colour?": "Teal", "Sizes?": ["S", "L"]}), None, "Colour? → Teal\nSizes? → S, L");
        check(json!({"Colour?": "Teal"}), Some("be quick"), "Colour? → Teal\nSizes? → (no answer)\nbe quick");
        check(json!({}), Some("you choose"), "Colour? → you choose\nSizes? → you choose");
    }

    #[test]
    fn input_without_questions_is_refused_in_words_for_the_model() {
        assert!(questions(&json!({"questions": []})).is_err_and(|problem| problem.contains("one to 4")));
        assert!(questions(&json!({})).is_err_and(|problem| problem.contains("questions")));
    }
}
