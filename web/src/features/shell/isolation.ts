/** The isolation a sandbox really got, as words. Pure: whatever the server reports is read as it is. */

export interface Guard {
  name: string;
  state: "on" | "part" | "off";
  words: string;
}

const field = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((at, key) => (typeof at === "object" && at !== null ? (at as Record<string, unknown>)[key] : undefined), value);

/** The guards, in the order in which they are shown; nothing when no sandbox reported. Of a machine no UID is named: each workspace gets another. */
export function guardsOf(isolation: unknown, of: "session" | "machine" = "session"): Guard[] | null {
  if (typeof isolation !== "object" || isolation === null) return null;
  const on = (...path: string[]) => field(isolation, ...path) === true;
  const guard = (name: string, ok: boolean, yes: string, no: string): Guard => ({ name, state: ok ? "on" : "off", words: ok ? yes : no });
  const landlock = field(isolation, "landlock");
  const version = field(isolation, "cgroup", "version");
  const memory = on("cgroup", "memory");
  const cpu = on("cgroup", "cpu");
  const disk = String(field(isolation, "disk", "how") ?? "");
  const container = field(isolation, "backend") === "docker";
  return [
    guard("Namespaces", (on("userns") && on("pidns")) || container, "own user, process, mount", "shared with the machine"),
    guard("Network", on("netns"), "none; model calls go through Warren", "the machine's own"),
    guard("User", on("uid", "own"), of === "machine" ? "a user of its own for each workspace" : `a user of its own (${String(field(isolation, "uid", "uid") ?? "?")})`, "the server's own user"),
    guard("System calls", on("seccomp"), "seccomp filter", "all allowed"),
    container && !landlock
      ? { name: "Files", state: "on", words: "the container's own" }
      : guard("Files", typeof landlock === "number" && landlock > 0, `Landlock ${String(landlock)}; base system read-only`, "no Landlock"),
    {
      name: "Memory, CPU",
      state: memory && cpu ? "on" : memory || cpu ? "part" : "off",
      words: memory || cpu ? `cgroup v${String(version)}: ${[memory && "memory", cpu && "CPU"].filter(Boolean).join(", ")}` : "measured, not enforced",
    },
    guard("Processes", on("cgroup", "pids"), "limited by the kernel", "not limited by the kernel"),
    /quota|enforced|loop|kernel/.test(disk) && !/not/.test(disk)
      ? { name: "Disk", state: "on", words: disk }
      : { name: "Disk", state: "part", words: disk === "best effort" ? "measured, not enforced by the kernel" : disk || "not limited" },
  ];
}

/** “7 of 8 guards in force” */
export function inWords(guards: readonly Guard[]): string {
  return `${guards.filter((guard) => guard.state === "on").length} of ${guards.length} guards in force`;
}

/** What the sandbox is made with. */
export function backendOf(isolation: unknown): string {
  const backend = String(field(isolation, "backend") ?? "");
  return backend === "local" ? "bubblewrap" : backend || "sandbox";
}
