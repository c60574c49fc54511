import { useEffect, useState } from "react";
import { CodeBox } from "~/ui/CodeBox";

/** A Mermaid diagram as a picture: an SVG in an image runs nothing. What cannot be drawn is shown as its source. */
export function Diagram({ source }: { source: string }) {
  const [drawn, setDrawn] = useState<{ url: string } | { why: string } | null>(null);
  useEffect(() => {
    // Drawn by a library that is loaded on first use.
    let isCurrent = true;
    let url: string | undefined;
    draw(source).then(
      (svg) => {
        if (!isCurrent) return;
        url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
        setDrawn({ url });
      },
      (error: unknown) => isCurrent && setDrawn({ why: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      isCurrent = false;
      if (url) URL.revokeObjectURL(url);
    };
  }, [source]);
  if (drawn && "url" in drawn) return <img className="md-diagram" src={drawn.url} alt={`Diagram: ${source.slice(0, 2_000)}`} />;
  return (
    <>
      {drawn && <p className="muted">This diagram cannot be drawn here. {drawn.why}</p>}
      <CodeBox lang="mermaid" text={source} open={false} />
    </>
  );
}

async function draw(source: string): Promise<string> {
  const { renderMermaid } = await import("beautiful-mermaid");
  const svg = await renderMermaid(source, { bg: "#ffffff", fg: "#1c1a17" });
  // Fonts of other hosts are neither needed nor reachable.
  return svg.replace(/@import[^;]*;/g, "");
}
