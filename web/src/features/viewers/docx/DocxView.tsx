import { parseAsync, renderDocument } from "docx-preview";
import { useLayoutEffect, useRef } from "react";
import { Parsed, useParsed } from "../useParsed";
import "./docx.css";
import { readable } from "./readable";
import { breakSections, type Body } from "./sections";
import { markTables } from "./tables";

type Drawn = { body: HTMLElement; sheets: CSSStyleSheet[] };

/** Renders outside of the page. Its style elements become style sheets, which the page's policy allows; nothing inline is left. */
async function draw(bytes: Uint8Array<ArrayBuffer>): Promise<Drawn> {
  const body = document.createElement("div");
  const options = { inWrapper: true, ignoreLastRenderedPageBreak: false, useBase64URL: true, experimental: true, renderHeaders: true, renderFooters: true };
  const parsed = await parseAsync(bytes, options);
  breakSections((parsed as unknown as { documentPart: { body: Body } }).documentPart.body);
  body.append(...(await renderDocument(parsed, options)));
  const texts = [...body.querySelectorAll("style")].map((style) => {
    style.remove();
    return style.textContent ?? "";
  });
  const sheets = [...texts.map((text) => readable(text.replace(/@import[^;]*;/g, ""))), SURROUND].map((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  });
  // Nothing in a document runs or leads anywhere by itself.
  body.querySelectorAll("script, iframe, object, embed, form").forEach((node) => node.remove());
  for (const link of body.querySelectorAll("a[href]")) {
    if (!/^(https?:|mailto:|#)/i.test(link.getAttribute("href") ?? "")) link.removeAttribute("href");
    link.setAttribute("rel", "noreferrer noopener");
    link.setAttribute("target", "_blank");
  }
  markTables(body);
  // Without a section of its own a document has no paper: letter with the usual margins.
  for (const page of body.querySelectorAll<HTMLElement>("section")) {
    if (!page.style.width) Object.assign(page.style, { width: "612pt", minHeight: "792pt", padding: "72pt" });
  }
  for (const image of body.querySelectorAll("img:not([alt])")) image.setAttribute("alt", "");
  return { body, sheets };
}

/** The pages on the page's own ground, in both themes. */
const SURROUND = `
  .docx-wrapper { background: none !important; padding: 14px !important; align-items: center; }
  p[class*="docx-num-"]::before { display: inline-block; min-width: 18pt; text-indent: 0; }
  .docx-wrapper > section.docx { box-shadow: var(--shadow-1); margin-bottom: 14px !important; flex: none; }
`;

export default function DocxView({ bytes }: { bytes: Uint8Array<ArrayBuffer> }) {
  const drawn = useParsed(bytes, draw);
  return <Parsed of={drawn}>{(document) => <Shadow {...document} />}</Parsed>;
}

/** Space around a page. */
const MARGIN = 28;

/** A document has styles of its own, which must not reach the page. Its pages are scaled to the width there is. */
function Shadow({ body, sheets }: Drawn) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // The rendered document is not React's. Its widths are known once it is laid out, and the panel's change.
    const host = ref.current;
    if (!host) return;
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = sheets;
    root.replaceChildren(body);
    const fit = () => {
      body.style.zoom = "1";
      const widest = Math.max(...[...body.querySelectorAll<HTMLElement>("section")].map((page) => page.offsetWidth), 1);
      body.style.zoom = String(Math.min(1.25, Math.max(0.2, (host.clientWidth - MARGIN) / widest)));
    };
    const watch = new ResizeObserver(fit);
    watch.observe(host);
    return () => watch.disconnect();
  }, [body, sheets]);
  return <div className="docx-view" ref={ref} tabIndex={0} role="document" aria-label="Document" />;
}
