import type { Spent } from "./spending";

/** What is on the screen, as a table for a sheet. */
export function toCsv(spent: readonly Spent[]): string {
  const agents = [...new Set(spent.flatMap((one) => [...one.byAgent.keys()]))].sort();
  const head = ["from", "to", ...agents.map((agent) => `cost ${agent}`), "cost", "tokens from cache", "new input tokens", "output tokens"];
  const rows = spent.map((one) => [
    one.bucket.from.toISOString(), one.bucket.to.toISOString(), ...agents.map((agent) => one.byAgent.get(agent) ?? 0), one.cost, one.cached, one.input, one.output,
  ]);
  return [head, ...rows].map((row) => row.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(",")).join("\r\n");
}

export function exportCsv(spent: readonly Spent[]) {
  const url = URL.createObjectURL(new Blob([toCsv(spent)], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = "warren-usage.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
