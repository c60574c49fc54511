import type { AgentGlyph } from "./IconSprite";

const AGENTS: Record<string, { glyph: AgentGlyph; name: string }> = {
  "claude-code": { glyph: "claude", name: "Claude Code" },
  "claude-agent-sdk": { glyph: "claude", name: "Claude Code" },
  "gemini-cli": { glyph: "gemini", name: "Gemini CLI" },
  opencode: { glyph: "opencode", name: "OpenCode" },
  codex: { glyph: "codex", name: "Codex" },
  "codex-acp": { glyph: "codex", name: "Codex over ACP" },
  builtin: { glyph: "warren", name: "Built-in agent" },
  acp: { glyph: "opencode", name: "ACP agent" },
};

/** What people call an agent type. */
export const agentName = (type: string): string => AGENTS[type]?.name ?? type;

const CHART: Record<AgentGlyph, string> = { warren: "--c1", opencode: "--c2", gemini: "--c3", claude: "--c4", codex: "--c5" };

/** The token that colours an agent in charts. */
export const agentColour = (type: string): string => `var(${CHART[AGENTS[type]?.glyph ?? "warren"]})`;

export function AgentMark({ type, size = "m" }: { type: string; size?: "m" | "sm" | "xl" }) {
  const glyph = AGENTS[type]?.glyph ?? "warren";
  return (
    <span className={`ag ${glyph} ${size === "m" ? "" : size}`} role="img" aria-label={agentName(type)}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <use href={`#a-${glyph}`} />
      </svg>
    </span>
  );
}
