/**
 * Markdown as data. Nothing in a text can become markup: what is not one of these shapes stays text, HTML included.
 */

/** A piece inside a line. */
export type Inline =
  | { t: "text"; text: string }
  | { t: "code"; text: string }
  | { t: "strong" | "em" | "del"; c: Inline[] }
  | { t: "link"; href: string; c: Inline[] }
  | { t: "br" };

/** A piece of a page. */
export type Md =
  | { t: "p"; c: Inline[] }
  | { t: "h"; level: number; c: Inline[] }
  | { t: "code"; lang: string; text: string; open: boolean }
  | { t: "quote"; c: Md[] }
  | { t: "list"; start: number | null; items: { task: boolean | null; c: Md[] }[] }
  | { t: "table"; align: ("left" | "right" | "center")[]; head: Inline[][]; rows: Inline[][][] }
  | { t: "hr" };

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;
const ITEM = /^( *)(?:([-*+])|(\d{1,9})[.)])(?: +(.*)|)$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?\s*#*\s*$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const DELIMITER = /^ *\|? *:?-+:? *(?:\| *:?-+:? *)*\|? *$/;
/** Deeper than this nothing is nested: a hostile text must not exhaust the stack. */
const MAX_DEPTH = 8;

/** Cuts a text where a later part cannot change an earlier one, so that only the last part is read again as it grows. */
export function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  let from = 0;
  let at = 0;
  let fence: string | null = null;
  let blank = false;
  while (at < text.length) {
    const end = text.indexOf("\n", at);
    const line = text.slice(at, end < 0 ? text.length : end);
    if (fence === null && blank && at > from && /^\S/.test(line) && !(ITEM.test(line) && ITEM.test(firstLine(text, from)))) {
      chunks.push(text.slice(from, at));
      from = at;
    }
    const mark = FENCE.exec(line)?.[1];
    if (fence === null) fence = mark ?? null;
    else if (mark && mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark) fence = null;
    blank = line.trim() === "";
    if (end < 0) break;
    at = end + 1;
  }
  if (from < text.length) chunks.push(text.slice(from));
  return chunks;
}

/** Reads a text. */
export function parse(text: string, depth = 0): Md[] {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const out: Md[] = [];
  let at = 0;
  while (at < lines.length) at = block(lines, at, depth, out);
  return out;
}

function block(lines: string[], at: number, depth: number, out: Md[]): number {
  const line = lines[at]!;
  if (line.trim() === "") return at + 1;
  const fence = FENCE.exec(line);
  if (fence) return code(lines, at, fence[1]!, fence[2]!, out);
  const heading = HEADING.exec(line);
  if (heading) {
    out.push({ t: "h", level: heading[1]!.length, c: inline(heading[2] ?? "") });
    return at + 1;
  }
  if (RULE.test(line)) {
    out.push({ t: "hr" });
    return at + 1;
  }
  if (depth < MAX_DEPTH && /^ {0,3}>/.test(line)) return quote(lines, at, depth, out);
  if (depth < MAX_DEPTH && ITEM.test(line)) return list(lines, at, depth, out);
  if (line.includes("|") && DELIMITER.test(lines[at + 1] ?? "") && (lines[at + 1] ?? "").includes("-")) {
    return table(lines, at, out);
  }
  return paragraph(lines, at, out);
}

function code(lines: string[], at: number, mark: string, lang: string, out: Md[]): number {
  const body: string[] = [];
  let i = at + 1;
  for (; i < lines.length; i++) {
    const close = FENCE.exec(lines[i]!)?.[1];
    if (close && close[0] === mark[0] && close.length >= mark.length && lines[i]!.trim() === close) break;
    body.push(lines[i]!);
  }
  out.push({ t: "code", lang, text: body.join("\n"), open: i >= lines.length });
  return i + 1;
}

function quote(lines: string[], at: number, depth: number, out: Md[]): number {
  const body: string[] = [];
  let i = at;
  for (; i < lines.length && /^ {0,3}>/.test(lines[i]!); i++) body.push(lines[i]!.replace(/^ {0,3}> ?/, ""));
  out.push({ t: "quote", c: parse(body.join("\n"), depth + 1) });
  return i;
}

function list(lines: string[], at: number, depth: number, out: Md[]): number {
  const first = ITEM.exec(lines[at]!)!;
  const indent = first[1]!.length;
  const ordered = first[3] !== undefined;
  const items: { task: boolean | null; c: Md[] }[] = [];
  let i = at;
  while (i < lines.length) {
    const item = ITEM.exec(lines[i]!);
    if (!item || item[1]!.length !== indent || (item[3] !== undefined) !== ordered || RULE.test(lines[i]!)) break;
    const inner = lines[i]!.length - (item[4] ?? "").length;
    const body = [item[4] ?? ""];
    for (i++; i < lines.length; i++) {
      const line = lines[i]!;
      const empty = line.trim() === "";
      const deeper = /^ */.exec(line)![0].length > indent;
      if (empty ? !continues(lines, i, indent) : !deeper && (ITEM.test(line) || lines[i - 1]!.trim() === "" || FENCE.test(line) || HEADING.test(line))) break;
      body.push(empty ? "" : line.slice(Math.min(inner, /^ */.exec(line)![0].length)));
    }
    while (i < lines.length && lines[i]!.trim() === "" && ITEM.test(lines[i + 1] ?? "")) i++;
    const task = /^\[([ xX])\] (.*)$/s.exec(body[0]!);
    if (task) body[0] = task[2]!;
    items.push({ task: task ? task[1] !== " " : null, c: parse(body.join("\n"), depth + 1) });
  }
  out.push({ t: "list", start: ordered ? Number(first[3]) : null, items });
  return i;
}

/** Whether what follows an empty line still belongs to the item. */
function continues(lines: string[], at: number, indent: number): boolean {
  const next = lines.slice(at, at + 3).find((line) => line.trim() !== "");
  return next !== undefined && /^ */.exec(next)![0].length > indent;
}

function table(lines: string[], at: number, out: Md[]): number {
  const cells = (line: string) =>
    line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => inline(cell.trim().replace(/\\\|/g, "|")));
  const align = lines[at + 1]!.trim().replace(/^\||\|$/g, "").split("|").map((cell) => {
    const mark = cell.trim();
    return mark.endsWith(":") ? (mark.startsWith(":") ? "center" : "right") : "left";
  });
  const head = cells(lines[at]!);
  const rows: Inline[][][] = [];
  let i = at + 2;
  for (; i < lines.length && lines[i]!.includes("|") && lines[i]!.trim() !== ""; i++) rows.push(cells(lines[i]!));
  out.push({ t: "table", align, head, rows });
  return i;
}

function paragraph(lines: string[], at: number, out: Md[]): number {
  let i = at + 1;
  const ends = (line: string) =>
    line.trim() === "" || FENCE.test(line) || HEADING.test(line) || RULE.test(line) || /^ {0,3}>/.test(line) || /^ {0,3}(?:[-*+]|1[.)]) +\S/.test(line);
  while (i < lines.length && !ends(lines[i]!)) i++;
  out.push({ t: "p", c: inline(lines.slice(at, i).map((line) => line.trimStart()).join("\n")) });
  return i;
}

const TOKEN =
  /(\\[!-/:-@[-`{-~])|(`+)([^`]|[^`].*?[^`])\2(?!`)|(!?)\[([^[\]]*)\]\(\s*<?([^\s()<>]*(?:\([^\s()]*\))?[^\s()<>]*)>?(?:\s+"[^"]*")?\s*\)|(\*\*|__)(?=\S)(.+?\S?)\7|(~~)(?=\S)(.+?)~~|([*_])(?=\S)((?:[^*_\n]|\*\*[^*]+\*\*)*?[^\s*_])\11(?![\w*])|(https?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)\]}])|( {2,}\n|\\\n)/s;

/** Reads the inside of a line. */
export function inline(text: string, depth = 0): Inline[] {
  const out: Inline[] = [];
  let rest = text;
  while (rest) {
    const m = depth < MAX_DEPTH ? TOKEN.exec(rest) : null;
    if (!m) {
      say(out, rest);
      break;
    }
    const before = rest.slice(0, m.index);
    say(out, before);
    if (m[1]) say(out, m[1].slice(1));
    else if (m[2]) out.push({ t: "code", text: m[3]!.replace(/\n/g, " ") });
    else if (m[6] !== undefined && m[5] !== undefined) link(out, m, depth);
    else if (m[7]) out.push({ t: "strong", c: inline(m[8]!, depth + 1) });
    else if (m[9]) out.push({ t: "del", c: inline(m[10]!, depth + 1) });
    else if (m[11]) {
      if (m[11] === "_" && /\w$/.test(before)) say(out, m[0]);
      else out.push({ t: "em", c: inline(m[12]!, depth + 1) });
    } else if (m[13]) out.push({ t: "link", href: m[13], c: [{ t: "text", text: m[13] }] });
    else out.push({ t: "br" });
    rest = rest.slice(m.index + m[0].length);
  }
  return out;
}

function link(out: Inline[], m: RegExpExecArray, depth: number) {
  const href = safeHref(m[6]!);
  if (href === null) say(out, m[0]);
  else out.push({ t: "link", href, c: m[4] ? [{ t: "text", text: m[5] || m[6]! }] : inline(m[5] || m[6]!, depth + 1) });
}

/** The address if following it can do no harm, else nothing: the link is then shown as it was written. */
export function safeHref(href: string): string | null {
  return /^(?:https?:\/\/|mailto:)/i.test(href) ? href : null;
}

function say(out: Inline[], text: string) {
  if (!text) return;
  const last = out.at(-1);
  if (last?.t === "text") last.text += text;
  else out.push({ t: "text", text });
}

function firstLine(text: string, from: number): string {
  const end = text.indexOf("\n", from);
  return text.slice(from, end < 0 ? text.length : end);
}
