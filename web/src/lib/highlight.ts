/** Code as pieces with one class each: keyword, string, function, number, comment. A small lexer for all languages: it
 *  never fails, and five colours need no grammar. */
import type { Piece } from "./ansi";

const C_LIKE = "abstract as async await break case catch class const continue default defer delete do else enum export extends extern false final finally fn for from func function go goto if impl implements import in interface is let loop match mod module move mut namespace new nil null of override package private protected pub public readonly ref return select self static struct super switch this throw throws trait true try type typeof undefined union unsafe use using var virtual void where while yield";
const PYTHON = "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield match case";
const SHELL = "if then else elif fi for in do done while until case esac function return local export set unset echo cd exit source true false";
const SQL = "select from where insert into update delete create table index view drop alter add join left right inner outer on group by order having limit offset union all as and or not null is in values set primary key foreign references distinct begin commit with case when then end";

interface Lexicon {
  words: Set<string>;
  comment: RegExp;
  string: RegExp;
  fold: boolean;
}

const lexicon = (words: string, comment: RegExp, string: RegExp, fold = false): Lexicon => ({
  words: new Set(words.split(" ")),
  comment,
  string,
  fold,
});
const QUOTES = /"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\.|[^`\\])*`?/y;
const LEXICONS = {
  c: lexicon(C_LIKE, /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y, QUOTES),
  python: lexicon(PYTHON, /#[^\n]*/y, /"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|[rbfu]?"(?:\\.|[^"\\\n])*"?|[rbfu]?'(?:\\.|[^'\\\n])*'?/y),
  shell: lexicon(SHELL, /#[^\n]*/y, QUOTES),
  sql: lexicon(SQL, /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y, /'(?:''|[^'])*'?/y, true),
  markup: lexicon("", /<!--[\s\S]*?(?:-->|$)/y, /"[^"\n]*"?|'[^'\n]*'?/y),
  data: lexicon("true false null yes no on off", /#[^\n]*/y, /"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?/y),
};
const LANGUAGES: Record<string, keyof typeof LEXICONS> = {
  py: "python", python: "python", rb: "python", ruby: "python",
  sh: "shell", bash: "shell", zsh: "shell", shell: "shell", console: "shell", dockerfile: "shell", makefile: "shell",
  sql: "sql", html: "markup", xml: "markup", svg: "markup", vue: "markup",
  json: "data", jsonl: "data", yaml: "data", yml: "data", toml: "data", ini: "data", csv: "data",
  ...Object.fromEntries("c cc cpp cs css dart go h hpp java js jsx kt less mjs cjs php proto rs rust scala scss swift ts tsx typescript javascript zig".split(" ").map((name) => [name, "c" as const])),
};
const IDENTIFIER = /[\p{L}_$@][\p{L}\p{N}_$]*/uy;
const NUMBER = /(?:0x[\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
/** Longer than this is shown as it is. */
const MAX_CHARS = 100_000;

/** The language of a file, by its name, if it is one we colour. */
export function languageOf(path: string): string {
  const name = path.split("/").at(-1)!.toLowerCase();
  const ext = name.includes(".") ? name.split(".").at(-1)! : name;
  return ext in LANGUAGES ? ext : "";
}

/** Colours a text of a language. */
export function highlight(text: string, language: string): Piece[] {
  const kind = LANGUAGES[language.toLowerCase()];
  if (!kind || text.length > MAX_CHARS) return [{ text, className: "" }];
  const { words, comment, string, fold } = LEXICONS[kind];
  const out: Piece[] = [];
  const take = (pattern: RegExp, at: number): string | null => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0] || null;
  };
  const push = (piece: string, className: string) => {
    const last = out.at(-1);
    if (last?.className === className) last.text += piece;
    else out.push({ text: piece, className });
  };
  for (let at = 0; at < text.length; ) {
    const note = take(comment, at);
    const quoted = note ? null : take(string, at);
    const word = note || quoted ? null : take(IDENTIFIER, at);
    const number = note || quoted || word ? null : take(NUMBER, at);
    const piece = note ?? quoted ?? word ?? number ?? text[at]!;
    const called = word && (text[at + word.length] === "(" || (kind === "markup" && /<\/?$/.test(text.slice(Math.max(0, at - 2), at))));
    push(piece, note ? "hl-c" : quoted ? "hl-s" : word && words.has(fold ? word.toLowerCase() : word) ? "hl-k" : called ? "hl-f" : number ? "hl-n" : "");
    at += piece.length;
  }
  return out;
}
