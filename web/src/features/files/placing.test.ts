import { ConnectionError, WarrenClient, WarrenError } from "@warren/react";
import { expect, test } from "vitest";
import { FakeServer } from "../../../packages/react/src/testing/fake";
import { withChoice, withFile, without, type Attached } from "../sessions/attached";
import { freeName, placeAgain, placeAll, placeNew, placeOver, renamed, Taken } from "./placing";

test("a name that is free is near the one that was taken", () => {
  const check = (name: string, taken: string[], expected: string) => expect(freeName(name, new Set([name, ...taken]))).toBe(expected);
  check("a.csv", [], "a (2).csv");
  check("a.csv", ["a (2).csv"], "a (3).csv");
  check("a (2).csv", ["a.csv"], "a (3).csv");
  check("logs.tar.gz", [], "logs (2).tar.gz");
  check("report 1.2 final", [], "report 1.2 final (2)");
  check(".env", [], ".env (2)");
  check("README", ["README (2)"], "README (3)");
});

const refusal = new WarrenError(409, { status: 409, code: "CONFLICT", title: "Conflict", detail: "it exists" } as never, "");

/** A session with files, whose server takes new ones as ours does. */
function session(files: Record<string, string>) {
  const server = new FakeServer();
  const entries = () => Object.entries(files).map(([name, text]) => ({ name, path: `/user-input/${name}`, kind: "file", sizeBytes: text.length }));
  const upload = async ({ body }: { body?: unknown }) => {
    const all = (body as FormData).getAll("file") as File[];
    if (all.some((file) => file.name in files)) throw refusal;
    for (const file of all) files[file.name] = await file.text();
    return { files: all.map((file) => ({ path: `/user-input/${file.name}`, sizeBytes: file.size })) };
  };
  server.answers = {
    "GET /api/sessions/s/fs": () => ({ entries: entries() }),
    "GET /api/sessions/s/fs/read": ({ query }) => JSON.parse(files[String(query?.path).slice("/user-input/".length)] ?? "null"),
    "POST /api/sessions/s/fs/upload": upload,
    "PUT /api/sessions/s/fs": async ({ query, body }) => {
      files[String(query?.path).slice("/user-input/".length)] = await (body as Blob).text();
      return { path: query?.path };
    },
  };
  return { server, client: new WarrenClient({ transport: server }), files };
}

const file = (name: string, text: string) => new File([text], name);

test("a file of a name that is there is not uploaded until somebody chose", async () => {
  const { client, files } = session({ "a.csv": "1" });
  await expect(placeNew(client, "s", file("a.csv", "22"))).rejects.toBeInstanceOf(Taken);
  expect(files).toEqual({ "a.csv": "1" });
  expect(await placeOver(client, "s", file("a.csv", "22"))).toBe("/user-input/a.csv");
  expect(files).toEqual({ "a.csv": "22" });
  const other = await renamed(client, "s", file("a.csv", "333"), ["a (2).csv"]);
  expect(await placeNew(client, "s", other)).toBe("/user-input/a (3).csv");
  expect(files).toEqual({ "a.csv": "22", "a (3).csv": "333" });
});

test("one whose answer was lost is known by its bytes, not by its name and length", async () => {
  const { client } = session({ "a.json": "[1]" });
  expect(await placeAgain(client, "s", file("a.json", "[1]"))).toBe("/user-input/a.json");
  await expect(placeAgain(client, "s", file("a.json", "[2]"))).rejects.toBeInstanceOf(Taken);
});

test("several files: none at first, then each as was chosen", async () => {
  const { client, files } = session({ "a.json": "[1]" });
  const both = [file("a.json", "[2]"), file("b.json", "[3]")];
  await expect(placeAll(client, "s", both, "new")).rejects.toBeInstanceOf(Taken);
  expect(files).toEqual({ "a.json": "[1]" });
  await placeAll(client, "s", both, "both");
  expect(files).toEqual({ "a.json": "[1]", "a (2).json": "[2]", "b.json": "[3]" });
  await placeAll(client, "s", [file("a.json", "[4]")], "replace");
  expect(files["a.json"]).toBe("[4]");
});

test("what fails for another reason says so", async () => {
  const { client, server } = session({});
  server.isDown = true;
  await expect(placeAll(client, "s", [file("a", "1")], "replace")).rejects.toBeInstanceOf(ConnectionError);
});

test("two of one name for a session that is still to be made", () => {
  const states = (all: readonly Attached[]) => all.map((one) => [one.file.name, one.upload.state]);
  const two = [file("a.csv", "1"), file("a.csv", "2")].reduce<readonly Attached[]>(withFile, []);
  expect(states(two)).toEqual([["a.csv", "done"], ["a.csv", "taken"]]);
  expect(states(withChoice(two, two[1]!.upload.id, "both"))).toEqual([["a.csv", "done"], ["a (2).csv", "done"]]);
  const replaced = withChoice(two, two[1]!.upload.id, "replace");
  expect(states(replaced)).toEqual([["a.csv", "done"]]);
  expect(replaced[0]!.upload.id).toBe(two[1]!.upload.id);
  expect(states(without(two, two[0]!.upload.id))).toEqual([["a.csv", "done"]]);
});
