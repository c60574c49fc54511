/** What an agent asks, read from an approval's detail, which any agent may fill as it likes. Pure. */

export interface Option {
  label: string;
  description: string | null;
}

export interface Question {
  question: string;
  options: Option[];
  multiSelect: boolean;
}

/** The questions of a request of kind `question`. */
export function questionsOf(detail: unknown): Question[] {
  const all = field(detail, "questions");
  if (!Array.isArray(all)) return [];
  return all.flatMap((item) => {
    const question = string(field(item, "question"));
    if (question === null) return [];
    const options = field(item, "options");
    return [{
      question,
      multiSelect: field(item, "multiSelect") === true,
      options: (Array.isArray(options) ? options : []).flatMap((option) => {
        const label = string(option) ?? string(field(option, "label"));
        return label === null ? [] : [{ label, description: string(field(option, "description")) }];
      }),
    }];
  });
}

/** What a permission is about: the exact command, or the input as it is; and where it would happen, if the agent says so. */
export function subjectOf(detail: unknown): { tool: string; exact: string; cwd: string | null; is: "command" | "file" | "other" } {
  const input = field(detail, "input") ?? detail;
  const command = field(input, "command");
  const exact = Array.isArray(command) ? JSON.stringify(command) : string(command);
  const isFile = ["file_path", "filePath", "notebook_path", "path"].some((name) => string(field(input, name)) !== null);
  return {
    tool: string(field(detail, "toolName")) ?? "",
    cwd: string(field(detail, "cwd")) ?? string(field(input, "workdir")) ?? string(field(input, "cwd")),
    is: exact !== null ? "command" : isFile ? "file" : "other",
    exact: exact ?? string(field(input, "url")) ?? string(field(detail, "host")) ?? (input === undefined || input === null ? "" : JSON.stringify(input, null, 2)),
  };
}

/** The answers as the server takes them: one choice is text, several are a list. */
export function answersOf(questions: readonly Question[], chosen: readonly (readonly string[])[]): Record<string, string | string[]> {
  return Object.fromEntries(questions.map((question, at) => {
    const labels = chosen[at] ?? [];
    return [question.question, question.multiSelect ? [...labels] : (labels[0] ?? "")];
  }));
}

const field = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
const string = (value: unknown): string | null => (typeof value === "string" ? value : null);
