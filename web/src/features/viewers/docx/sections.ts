// Sections of a document. The library that draws it begins a section of another size one section late.

type Props = { type?: string };
type Part = { type?: string; break?: string; children?: Part[]; sectionProps?: Props };
/** The part of a parsed document that is used here. */
export type Body = { children?: Part[]; props?: Props };

const hasBreak = (part: Part): boolean => part.break === "page" || (part.children ?? []).some(hasBreak);

/** Ends each section with a page break, unless the next one goes on on the same page. */
export function breakSections(body: Body) {
  const ends = (body.children ?? []).filter((part) => part.sectionProps !== undefined && part.sectionProps !== null);
  ends.forEach((end, at) => {
    const next = ends[at + 1]?.sectionProps ?? body.props;
    if (next?.type === "continuous" || hasBreak(end)) return;
    end.children = [...(end.children ?? []), { type: "run", children: [{ type: "break", break: "page" }] }];
  });
}
