// A model provider on this machine that wants a key, lists two models, and says which one it was asked for.
import { createServer } from "node:http";

const MODELS = ["claude-story-large", "claude-story-small"];

/** Starts one that knows this key; `asked` are the models it was asked for. */
export async function provider(key) {
  const asked = [];
  const server = createServer((request, response) => {
    const json = (status, body) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.headers["x-api-key"] !== key) return json(401, { type: "error", error: { type: "authentication_error", message: "invalid x-api-key" } });
    if (request.method === "GET" && request.url.startsWith("/v1/models")) return json(200, { data: MODELS.map((id) => ({ id, type: "model", display_name: id })), has_more: false });
    let body = "";
    request.on("data", (data) => (body += data));
    request.on("end", () => {
      if (request.url.includes("count_tokens")) return json(200, { input_tokens: 10 });
      const { model, stream } = JSON.parse(body);
      asked.push(model);
      const sentence = `Hello from ${model}.`;
      const message = { id: `msg_${asked.length}`, type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 1 } };
      if (!stream) return json(200, { ...message, content: [{ type: "text", text: sentence }], stop_reason: "end_turn" });
      const event = (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
      response.writeHead(200, { "content-type": "text/event-stream" });
      event("message_start", { message });
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
      event("content_block_delta", { index: 0, delta: { type: "text_delta", text: sentence } });
      event("content_block_stop", { index: 0 });
      event("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 8 } });
      event("message_stop", {});
      response.end();
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}`, asked, end: () => new Promise((done) => { server.closeAllConnections(); server.close(done); }) };
}
