import { expect, it } from "vitest";
import { answersOf, questionsOf, subjectOf } from "./questions";

it("reads questions, and leaves out what is none", () => {
  const detail = { questions: [{ question: "Which?", options: [{ label: "A", description: "first" }, "B", 7], multiSelect: true }, {}, null] };
  expect(questionsOf(detail)).toEqual([
    { question: "Which?", multiSelect: true, options: [{ label: "A", description: "first" }, { label: "B", description: null }] },
  ]);
  expect(questionsOf("x")).toEqual([]);
});

it("says exactly what would be done", () => {
  expect(subjectOf({ toolName: "bash", input: { command: "rm -rf build" } })).toEqual({ tool: "bash", exact: "rm -rf build", cwd: null, is: "command" });
  expect(subjectOf({ toolName: "Edit", input: { a: 1 } })).toEqual({ tool: "Edit", exact: '{\n  "a": 1\n}', cwd: null, is: "other" });
  expect(subjectOf(null)).toEqual({ tool: "", exact: "", cwd: null, is: "other" });
  expect(subjectOf({ toolName: "write", cwd: "/outputs", input: { path: "a.md" } })).toMatchObject({ cwd: "/outputs", is: "file" });
  expect(subjectOf({ toolName: "shell", input: { command: ["sh", "-c", "a b"] } }).exact).toBe('["sh","-c","a b"]');
});

it("answers with text, or with a list where several may be chosen", () => {
  const questions = questionsOf({ questions: [{ question: "One?" }, { question: "Many?", multiSelect: true }] });
  expect(answersOf(questions, [["A"], ["B", "C"]])).toEqual({ "One?": "A", "Many?": ["B", "C"] });
});
