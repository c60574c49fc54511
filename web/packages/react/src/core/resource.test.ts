import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeClock, FakeServer, settle } from "../testing/fake";
import { WarrenClient } from "./client";
import { ConnectionError, isPassing, WarrenError } from "./problem";
import { ResourceStore } from "./resource";
import { sseTransport } from "./sse";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Fails with these, one after the other, and then gives `data`. */
function failing(...errors: unknown[]) {
  let reads = 0;
  const resource = new ResourceStore(async () => {
    const error = errors[reads];
    reads += 1;
    if (error) throw error;
    return "data";
  });
  return { resource, reads: () => reads };
}

test("what failed for want of a connection is read when the browser is online again", async () => {
  const { resource, reads } = failing(new ConnectionError("cut"));
  const stop = resource.subscribe(() => {});
  await settle();
  expect(resource.snapshot()).toMatchObject({ state: "failed" });
  dispatchEvent(new Event("online"));
  await settle();
  expect(resource.snapshot()).toEqual({ state: "ready", data: "data", error: undefined });
  // Nothing is left that would read it once more.
  dispatchEvent(new Event("online"));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(reads()).toBe(2);
  stop();
});

test("without any sign it is tried every few seconds, and what was read before stays meanwhile", async () => {
  const { resource, reads } = failing(null, new ConnectionError("cut"), new ConnectionError("cut"));
  const stop = resource.subscribe(() => {});
  await settle();
  await resource.refresh();
  expect(resource.snapshot()).toMatchObject({ state: "failed", data: "data" });
  await vi.advanceTimersByTimeAsync(7_000);
  expect(resource.snapshot()).toMatchObject({ state: "ready", data: "data" });
  expect(reads()).toBe(4);
  stop();
});

test("a refusal is not asked for again, and what nobody watches waits until somebody does", async () => {
  const refused = failing(new WarrenError(404, { status: 404, code: "NOT_FOUND", title: "gone" } as never, ""));
  refused.resource.subscribe(() => {});
  const left = failing(new ConnectionError("cut"));
  left.resource.subscribe(() => {})();
  await settle();
  dispatchEvent(new Event("online"));
  await vi.advanceTimersByTimeAsync(10_000);
  expect([refused.reads(), left.reads()]).toEqual([1, 1]);
  left.resource.subscribe(() => {});
  await settle();
  expect(left.resource.snapshot()).toMatchObject({ state: "ready" });
});

test("an answer that breaks off in its middle is a lost connection", async () => {
  const body = () => new ReadableStream({
    start(stream) {
      stream.enqueue(new TextEncoder().encode('{"agents": ['));
      stream.error(new TypeError("network error"));
    },
  });
  const client = new WarrenClient({ transport: sseTransport({ token: "t", fetch: async () => new Response(body()) }) });
  const error = await client.agents().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConnectionError);
  expect(isPassing(error)).toBe(true);
});

test("only what stands before the server answers: it is as good as away", () => {
  expect(isPassing(new WarrenError(502, undefined, "The server answered 502."))).toBe(true);
  expect(isPassing(new WarrenError(500, { code: "INTERNAL" } as never, ""))).toBe(false);
});

test("a stream that comes back brings with it what failed meanwhile", async () => {
  const server = new FakeServer();
  const clock = new FakeClock();
  const store = new WarrenClient({ transport: server, clock, frame: (run) => run() }).store("s");
  const letGo = store.use();
  await settle();
  const { resource } = failing(new ConnectionError("cut"));
  const stop = resource.subscribe(() => {});
  server.cut();
  await settle();
  expect(store.connection.state).toBe("offline");
  expect(resource.snapshot().state).toBe("failed");
  clock.advance(1_000);
  await settle();
  expect(store.connection.state).toBe("live");
  expect(resource.snapshot().state).toBe("ready");
  stop();
  letGo();
});

test("the list of sessions is read again by itself", async () => {
  const server = new FakeServer();
  let isBroken = true;
  server.answers["GET /api/sessions"] = () => {
    if (isBroken) throw new ConnectionError("half an answer");
    return { sessions: [server.session()] };
  };
  const list = new WarrenClient({ transport: server, frame: (run) => run() }).list();
  const stop = list.subscribe(() => {});
  await settle();
  expect(list.snapshot().status.state).toBe("failed");
  isBroken = false;
  dispatchEvent(new Event("online"));
  await settle();
  expect(list.snapshot()).toMatchObject({ status: { state: "ready" }, sessions: [{ sessionId: "s" }] });
  stop();
});
