// `$$…$$` alone on its line is displayed on its own, as on other sites; the parser reads it as part of a line.

type Node = { type: string; children?: Node[]; position?: { start: { offset?: number } }; data?: { hProperties?: { className?: string[] } } };

export function displayedMath() {
  return (tree: Node, file: { value: unknown }) => {
    const source = String(file.value);
    const visit = (node: Node) => {
      const only = node.type === "paragraph" && node.children?.length === 1 ? node.children[0] : undefined;
      const at = only?.position?.start.offset;
      if (only?.type === "inlineMath" && at !== undefined && source.startsWith("$$", at)) only.data = { ...only.data, hProperties: { className: ["language-math", "math-display"] } };
      node.children?.forEach(visit);
    };
    visit(tree);
  };
}
