// @vitest-environment node
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import type { LogLine } from "../wire/types";
import { ConnectionError, WarrenError } from "./problem";
import { SseParser, sseTransport } from "./sse";

test("events are cut at blank lines wherever the network cuts the bytes", () => {
  const stream = 'retry: 1000\n\nid: 1\ndata: {"a":\ndata: 1}\n\n: alive\n\nid: 2\r\ndata: {"b":2}\r\n\r\ndata:3\n\n';
  for (let size = 1; size <= stream.length; size += 1) {
    const parser = new SseParser();
    const out: string[] = [];
    for (let from = 0; from < stream.length; from += size) out.push(...parser.push(stream.slice(from, from + size)));
    expect(out, `pieces of ${size}`).toEqual(['{"a":\n1}', '{"b":2}', "3"]);
  }
});

test("a stream tells what came, and that it ended", async () => {
  const server = createServer((request, response) => {
    expect(request.headers.authorization).toBe("Bearer t");
    expect(request.url).toBe("/api/sessions/a%2Fb/events?after=7");
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.end('id: 8\ndata: {"seq":8,"type":"run_queued"}\n\n');
  }).listen(0);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const lines: LogLine[] = [];
  const error = await new Promise((ended) => {
    sseTransport({ url, token: "t" }).follow("a/b", 7, { opened: () => {}, lines: (part) => lines.push(...part), ended });
  });
  expect([lines, error]).toEqual([[{ seq: 8, type: "run_queued" }], null]);
  server.close();
});

test("a stream that the server ends because of its token says why, and nothing of that is taken for an event", async () => {
  const problem = { status: 401, code: "UNAUTHORIZED", detail: "the token has been revoked" };
  const text = `data: {"seq":8,"type":"run_queued"}\n\nevent: problem\ndata: ${JSON.stringify(problem)}\n\n`;
  const answer = async () => new Response(text, { headers: { "Content-Type": "text/event-stream" } });
  const lines: LogLine[] = [];
  const error = await new Promise((ended) => {
    sseTransport({ fetch: answer }).follow("a", 7, { opened: () => {}, lines: (part) => lines.push(...part), ended });
  });
  expect(lines).toEqual([{ seq: 8, type: "run_queued" }]);
  expect(error).toBeInstanceOf(WarrenError);
  expect(error).toMatchObject({ status: 401, code: "UNAUTHORIZED", message: problem.detail });
});

test("a refusal says why, and a server that is not there is told apart from it", async () => {
  const problem = { detail: "this link is for reading only", code: "FORBIDDEN", hint: "ask for another" };
  const refusing = sseTransport({ fetch: async () => Response.json(problem, { status: 403 }) });
  const refused = await refusing.fetch("/x").catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(WarrenError);
  expect(refused).toMatchObject({ status: 403, code: "FORBIDDEN", message: problem.detail, hint: problem.hint });
  const absent = sseTransport({ fetch: async () => Promise.reject(new TypeError("failed")) });
  await expect(absent.fetch("/x")).rejects.toBeInstanceOf(ConnectionError);
});

test("a browser without a token proves with its cookie that the page is ours", async () => {
  vi.stubGlobal("document", { cookie: "other=1; warren_csrf=secret" });
  const sent: (string | null)[] = [];
  const fake = async (_url: unknown, init?: RequestInit) => {
    sent.push(new Headers(init?.headers).get("X-Warren-CSRF"));
    return Response.json({});
  };
  const transport = sseTransport({ fetch: fake as typeof fetch });
  await transport.fetch("/x");
  await transport.fetch("/x", { method: "POST" });
  expect(sent).toEqual([null, "secret"]);
});
