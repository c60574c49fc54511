import { expect, test } from "vitest";
import { FakeServer, settle } from "../testing/fake";
import { WarrenClient } from "./client";
import { WarrenError } from "./problem";

const refusal = (status: number, code: string) => new WarrenError(status, { status, code, detail: "the token has been revoked" } as never, "");

test("a stream that ends because the token was revoked signs the client out, once", async () => {
  const server = new FakeServer();
  const client = new WarrenClient({ transport: server, frame: (run) => run() });
  let told = 0;
  client.signedOut.watch(() => (told += 1));
  client.store("s").use();
  await settle();
  for (const open of server.streams.splice(0)) open.feed.ended(refusal(401, "UNAUTHORIZED"));
  expect([client.signedOut.why()?.message, told]).toEqual(["the token has been revoked", 1]);
  server.answers["GET /api/auth"] = () => {
    throw refusal(401, "UNAUTHORIZED");
  };
  await expect(client.who()).rejects.toThrow("revoked");
  expect(told).toBe(1);
  client.signedOut.clear();
  expect([client.signedOut.why(), told]).toEqual([null, 2]);
});

test("a call that is forbidden, or finds nothing, signs nobody out", async () => {
  const server = new FakeServer();
  const client = new WarrenClient({ transport: server });
  server.answers["GET /api/tokens"] = () => {
    throw refusal(403, "FORBIDDEN");
  };
  await expect(client.tokens()).rejects.toThrow();
  expect(client.signedOut.why()).toBeNull();
});
