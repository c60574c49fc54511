// What is a block. An update that would make something else of one changes nothing, here as on the server.
import type { Block } from "../wire/types";

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === "string";
const flag: Check = (value) => typeof value === "boolean";
const whole: Check = (value) => typeof value === "number" && Number.isInteger(value) && value >= 0;
const any: Check = () => true;
const object: Check = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const status: Check = (value) => ["pending", "running", "success", "error"].includes(value as string);
const subtype: Check = (value) =>
  ["session_start", "session_end", "error", "status", "hook_response", "auth_status"].includes(value as string);
const time: Check = (value) => typeof value === "string" && !Number.isNaN(Date.parse(value));
const content: Check = (value) => typeof value === "string" || (Array.isArray(value) && value.every(object));
const maybe = (check: Check): Check => (value) => value === undefined || value === null || check(value);

const FIELDS: Record<Block["type"], Record<string, Check>> = {
  user_message: { content },
  assistant_text: { content: text, model: maybe(text) },
  thinking: { content: text, summary: maybe(text) },
  tool_use: {
    toolName: text, toolUseId: text, input: any, status, displayName: maybe(text), description: maybe(text),
  },
  tool_result: {
    toolUseId: text, output: any, isError: flag, durationMs: maybe(whole), renderOutputAsMarkdown: maybe(flag),
  },
  system: { subtype, message: text, metadata: maybe(object) },
  subagent: {
    subagentId: text, name: maybe(text), input: any, status, output: any, durationMs: maybe(whole),
    toolUseId: maybe(text),
  },
  error: { message: text, code: maybe(text) },
};

export function isBlock(value: unknown): value is Block {
  if (!object(value)) return false;
  const block = value as Record<string, unknown>;
  const fields = Object.hasOwn(FIELDS, block.type as string) ? FIELDS[block.type as Block["type"]] : null;
  if (!fields || !text(block.id) || !time(block.timestamp)) return false;
  return Object.entries(fields).every(([name, check]) => check(block[name]));
}
