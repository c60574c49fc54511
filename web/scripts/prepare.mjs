// Builds `@warren/react` when it is packed, or installed from its folder: what is in the repository is its source.
//
//   node ../../scripts/prepare.mjs      in packages/react, by npm
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const web = join(import.meta.dirname, "..");
const from = process.env.INIT_CWD ?? process.cwd();
const isOwnInstall = !relative(web, from).startsWith("..") && process.env.npm_command !== "pack";
// The page reads the source itself; whoever only fetches its packages needs no build.
if (!isOwnInstall) build();

function build() {
  const tsc = compiler();
  rmSync("dist", { recursive: true, force: true });
  execFileSync(process.execPath, [tsc, "-p", "tsconfig.json"], { stdio: "inherit" });
  execFileSync(process.execPath, [join(import.meta.dirname, "package.mjs")], { stdio: "inherit" });
}

function compiler() {
  try {
    return join(dirname(createRequire(join(web, "package.json")).resolve("typescript/package.json")), "bin/tsc");
  } catch {
    console.error("error: @warren/react is built with the packages of its workspace, which are not installed");
    console.error(`hint: run \`npm install --no-save\` in ${web} first`);
    process.exit(1);
  }
}
