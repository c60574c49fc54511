// Notebooks (nbformat 3 and 4) as cells with the output that is best shown. Pure.

export type Output =
  | { kind: "text"; text: string; isError: boolean }
  | { kind: "image"; src: string; alt: string }
  | { kind: "html"; html: string }
  | { kind: "markdown"; text: string };
export type Cell = { kind: "markdown" | "code" | "raw"; source: string; count: number | null; outputs: Output[] };
export type Notebook = { language: string; cells: Cell[] };

type Json = Record<string, unknown>;

export function readNotebook(text: string): Notebook {
  const book = object(JSON.parse(text) as unknown);
  // Version 3 had sheets of cells, and other names for the same fields.
  const cells = list(book.cells).length > 0 ? list(book.cells) : list(book.worksheets).flatMap((sheet) => list(object(sheet).cells));
  if (!Array.isArray(book.cells) && !Array.isArray(book.worksheets)) throw new Error("The file is not a notebook: it has no cells.");
  const meta = object(book.metadata);
  const language = string(object(meta.language_info).name) || string(object(meta.kernelspec).language) || "python";
  return { language, cells: cells.map((cell) => readCell(object(cell))) };
}

function readCell(cell: Json): Cell {
  const type = string(cell.cell_type);
  const source = type === "heading" ? `${"#".repeat(Number(cell.level ?? 1))} ${joined(cell.source)}` : joined(cell.source ?? cell.input);
  const kind = type === "code" ? "code" : type === "raw" ? "raw" : "markdown";
  const number = cell.execution_count ?? cell.prompt_number;
  const parts = object(cell.attachments);
  return { kind, source: attached(source, parts), count: typeof number === "number" ? number : null, outputs: list(cell.outputs).flatMap((output) => readOutput(object(output))) };
}

/** Images that are kept in the cell itself. */
const attached = (source: string, parts: Json): string =>
  source.replace(/\(attachment:([^)\s]+)\)/g, (whole, name: string) => {
    const image = imageOf(object(parts[name]));
    return image ? `(${image})` : whole;
  });

function readOutput(output: Json): Output[] {
  switch (output.output_type) {
    case "stream":
      return [{ kind: "text", text: joined(output.text), isError: output.name === "stderr" }];
    case "error":
    case "pyerr": {
      const trace = list(output.traceback).map(string).join("\n");
      return [{ kind: "text", text: trace || `${string(output.ename)}: ${string(output.evalue)}`, isError: true }];
    }
    default:
      return best(output.data ? object(output.data) : old(output));
  }
}

/** The richest form that this page shows. */
function best(data: Json): Output[] {
  const text = joined(data["text/plain"]);
  const image = imageOf(data);
  if (image) return [{ kind: "image", src: image, alt: text || "Output" }];
  if (data["text/html"] !== undefined) return [{ kind: "html", html: joined(data["text/html"]) }];
  if (data["text/markdown"] !== undefined) return [{ kind: "markdown", text: joined(data["text/markdown"]) }];
  if (data["text/latex"] !== undefined) return [{ kind: "markdown", text: joined(data["text/latex"]) }];
  if (text) return [{ kind: "text", text, isError: false }];
  const json = data["application/json"];
  return json === undefined ? [] : [{ kind: "text", text: JSON.stringify(json, null, 2), isError: false }];
}

function imageOf(data: Json): string | null {
  for (const type of ["image/png", "image/jpeg", "image/gif", "image/webp"]) {
    if (data[type] !== undefined) return `data:${type};base64,${joined(data[type]).replace(/\s/g, "")}`;
  }
  return data["image/svg+xml"] === undefined ? null : `data:image/svg+xml,${encodeURIComponent(joined(data["image/svg+xml"]))}`;
}

/** Version 3 wrote short names beside the output itself. */
const old = (output: Json): Json => ({ "text/plain": output.text, "image/png": output.png, "image/jpeg": output.jpeg, "text/html": output.html, "text/latex": output.latex, "image/svg+xml": output.svg });

const object = (value: unknown): Json => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const string = (value: unknown): string => (typeof value === "string" ? value : "");
const joined = (value: unknown): string => (Array.isArray(value) ? value.map(string).join("") : string(value));
