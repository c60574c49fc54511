// The package as somebody else gets it: installed by npm from its folder and from `npm pack` into a project outside of
// this repository, imported by Node, and compiled against with strict types.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";

const HERE = join(import.meta.dirname, "..");
const WEB = join(HERE, "../..");
const root = realpathSync(mkdtempSync(join(tmpdir(), "warren-package-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Long, because it compiles the whole package on a machine that may be busy. */
const LONG_MS = 180_000;

const npm = (cwd: string, ...args: string[]) =>
  execFileSync("npm", [...args, "--offline", "--no-audit", "--no-fund", "--loglevel=error"], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** A project with the packages that an app has, from this workspace instead of the network. */
function project(name: string, install: string, ...more: string[]): string {
  const place = join(root, name);
  mkdirSync(join(place, "node_modules/@types"), { recursive: true });
  writeFileSync(join(place, "package.json"), JSON.stringify({ name, private: true, type: "module" }));
  npm(place, "install", "--legacy-peer-deps", ...more, install);
  for (const dependency of ["react", "react-dom", "socket.io-client", "@types/react", "@types/react-dom"]) {
    mkdirSync(join(place, "node_modules/@types"), { recursive: true });
    symlinkSync(join(WEB, "node_modules", dependency), join(place, "node_modules", dependency));
  }
  return place;
}

const projects: Record<string, string> = {};
beforeAll(() => {
  // From the folder npm builds it; the archive is then made of the same build.
  projects.folder = project("from-folder", HERE, "--install-links=false");
  npm(HERE, "pack", "--ignore-scripts", "--pack-destination", root);
  projects.archive = project("from-archive", join(root, "warren-react-0.1.0.tgz"));
}, LONG_MS);

test.each(["folder", "archive"])("installed from its %s it is imported by Node", (way) => {
  const place = projects[way]!;
  const program = `
    import { WarrenClient, socketTransport } from "@warren/react/core";
    import * as hooks from "@warren/react";
    const names = ["WarrenProvider", "AgentServiceProvider", "useSessionList", "useAgentSession", "useMessages", "useWorkspaceFiles", "useSubagents", "useArtifacts", "useVersions", "useApprovals", "useEvents"];
    console.log(JSON.stringify({ core: [typeof WarrenClient, typeof socketTransport], missing: names.filter((name) => typeof hooks[name] !== "function") }));
  `;
  const said = execFileSync(process.execPath, ["--input-type=module", "-e", program], { cwd: place, encoding: "utf8" });
  expect(JSON.parse(said)).toEqual({ core: ["function", "function"], missing: [] });
});

const readme = readFileSync(join(HERE, "README.md"), "utf8");
const example = /```tsx\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";

test("the example of the README is not longer than it says", () => {
  expect(example.trim().split("\n").length).toBeLessThanOrEqual(65);
});

/** Types that are `any` where the package lost them: declared here, so that a loss is a fault. */
const STRICT = `
import { io } from "socket.io-client";
import { socketTransport, useAgentSession, useMessages, useVersions, WarrenClient, WarrenProvider } from "@warren/react";
import { socketTransport as ofCore, type SessionStore } from "@warren/react/core";

type IsAny<T> = 0 extends 1 & T ? true : false;
const no = <T,>(_: IsAny<T> extends true ? never : "typed"): void => {};

const token = "wrn_";
export const transport = socketTransport(io("http://127.0.0.1:7777", { auth: { token } }), { url: "http://127.0.0.1:7777", token });
export const same = ofCore(io(), {});
export const client: WarrenClient = new WarrenClient({ transport });
export const store: SessionStore = client.store("s");
export const Page = () => <WarrenProvider client={client}><Session /></WarrenProvider>;
function Session() {
  const session = useAgentSession("s");
  const { items } = useMessages("s");
  const { versions } = useVersions("s");
  no<typeof session>("typed");
  no<typeof session.send>("typed");
  no<(typeof items)[number]>("typed");
  no<(typeof versions)[number]>("typed");
  return <p>{items.length}</p>;
}
`;

test.each([
  ["bundler", { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }],
  ["nodenext", { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext }],
])("its types are strict under %s, without skipLibCheck", { timeout: LONG_MS }, (_, resolution) => {
  const place = projects.archive!;
  expect(existsSync(join(place, "node_modules/@warren/react/src"))).toBe(false);
  const files = { "example.tsx": example, "strict.tsx": STRICT };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text);
  const options: ts.CompilerOptions = {
    ...resolution, target: ts.ScriptTarget.ES2022, jsx: ts.JsxEmit.ReactJSX, strict: true, noEmit: true, skipLibCheck: false,
    lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"], types: [],
  };
  const program = ts.createProgram(Object.keys(files).map((name) => join(place, name)), options);
  const faults = ts.getPreEmitDiagnostics(program).map((fault) => `${fault.file?.fileName ?? ""}: ${ts.flattenDiagnosticMessageText(fault.messageText, "\n")}`);
  expect(faults).toEqual([]);
});
