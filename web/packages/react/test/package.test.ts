// The package as somebody else gets it: packed, unpacked elsewhere, imported by Node; and the example of its README.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, expect, test } from "vitest";

const HERE = join(import.meta.dirname, "..");
const WEB = join(HERE, "../..");
const elsewhere = mkdtempSync(join(tmpdir(), "warren-package-"));
afterAll(() => rmSync(elsewhere, { recursive: true, force: true }));

/** Long, because it compiles the whole package on a machine that may be busy. */
const LONG_MS = 180_000;

test("a packed package is imported by Node without anything else of this repository", { timeout: LONG_MS }, () => {
  execFileSync("npm", ["pack", "--silent", "--pack-destination", elsewhere], { cwd: HERE, stdio: ["ignore", "pipe", "pipe"] });
  const place = join(elsewhere, "node_modules/@warren/react");
  mkdirSync(place, { recursive: true });
  execFileSync("tar", ["xzf", join(elsewhere, "warren-react-0.1.0.tgz"), "--strip-components=1", "-C", place]);
  symlinkSync(join(WEB, "node_modules/react"), join(elsewhere, "node_modules/react"));
  const program = `
    import { WarrenClient, socketTransport } from "@warren/react/core";
    import * as hooks from "@warren/react";
    const names = ["WarrenProvider", "AgentServiceProvider", "useSessionList", "useAgentSession", "useMessages", "useWorkspaceFiles", "useSubagents", "useArtifacts", "useVersions", "useApprovals", "useEvents"];
    console.log(JSON.stringify({ core: [typeof WarrenClient, typeof socketTransport], missing: names.filter((name) => typeof hooks[name] !== "function") }));
  `;
  const said = execFileSync(process.execPath, ["--input-type=module", "-e", program], { cwd: elsewhere, encoding: "utf8" });
  expect(JSON.parse(said)).toEqual({ core: ["function", "function"], missing: [] });
});

test("the example of the README compiles, and is not longer than it says", { timeout: LONG_MS }, () => {
  const readme = readFileSync(join(HERE, "README.md"), "utf8");
  const example = /```tsx\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  expect(example.trim().split("\n").length).toBeLessThanOrEqual(65);
  const file = join(HERE, "src/readme.tsx");
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, jsx: ts.JsxEmit.ReactJSX,
    lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"], strict: true, noEmit: true, skipLibCheck: true, types: [],
    paths: { "@warren/react": [join(HERE, "src/index.ts")] },
  };
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...more) => (name === file ? ts.createSourceFile(name, example, ts.ScriptTarget.ES2022, true, ts.ScriptKind.TSX) : read(name, ...more));
  const exists = host.fileExists.bind(host);
  host.fileExists = (name) => name === file || exists(name);
  const program = ts.createProgram([file], options, host);
  const faults = ts.getPreEmitDiagnostics(program).map((fault) => ts.flattenDiagnosticMessageText(fault.messageText, "\n"));
  expect(faults).toEqual([]);
});
