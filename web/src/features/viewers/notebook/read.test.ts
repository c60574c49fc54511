import { expect, test } from "vitest";
import { readNotebook } from "./read";

const book = (...cells: unknown[]) => readNotebook(JSON.stringify({ nbformat: 4, metadata: { language_info: { name: "python" } }, cells }));

test("notebook has its cells with sources, numbers and outputs", () => {
  const { language, cells } = book(
    { cell_type: "markdown", source: ["# Load\n", "by hour"] },
    { cell_type: "code", source: "df", execution_count: 3, outputs: [
      { output_type: "stream", name: "stdout", text: ["a\n", "b"] },
      { output_type: "execute_result", data: { "text/plain": "x", "text/html": "<table></table>" } },
      { output_type: "display_data", data: { "text/plain": "<Figure>", "image/png": "aGk=\n" } },
      { output_type: "error", ename: "E", evalue: "v", traceback: ["\u001b[31mE\u001b[0m", "at 1"] },
    ] },
  );
  expect(language).toBe("python");
  expect(cells).toEqual([
    { kind: "markdown", source: "# Load\nby hour", count: null, outputs: [] },
    { kind: "code", source: "df", count: 3, outputs: [
      { kind: "text", text: "a\nb", isError: false },
      { kind: "html", html: "<table></table>" },
      { kind: "image", src: "data:image/png;base64,aGk=", alt: "<Figure>" },
      { kind: "text", text: "\u001b[31mE\u001b[0m\nat 1", isError: true },
    ] },
  ]);
});

test("undefined fields of an output do not hide its text", () => {
  const { cells } = book({ cell_type: "code", source: "1", outputs: [{ output_type: "pyout", text: ["1"] }] });
  expect(cells[0]!.outputs).toEqual([{ kind: "text", text: "1", isError: false }]);
});

test("images attached to a cell are shown in its text", () => {
  const { cells } = book({ cell_type: "markdown", source: "![a](attachment:a.png)", attachments: { "a.png": { "image/png": "aGk=" } } });
  expect(cells[0]!.source).toBe("![a](data:image/png;base64,aGk=)");
});

test("file without cells is refused with a reason", () => {
  expect(() => readNotebook("{}")).toThrow("no cells");
});
