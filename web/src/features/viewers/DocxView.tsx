import { renderAsync } from "docx-preview";
import { useEffect, useRef } from "react";
import { Parsed, useParsed } from "./useParsed";

/** Draws outside of the page. Its style elements become style sheets, which the page's policy allows; nothing inline is left. */
async function draw(bytes: Uint8Array<ArrayBuffer>): Promise<{ body: HTMLElement; sheets: CSSStyleSheet[] }> {
  const [body, styles] = [document.createElement("div"), document.createElement("div")];
  await renderAsync(bytes, body, styles, { inWrapper: true, ignoreLastRenderedPageBreak: false, useBase64URL: true, experimental: false });
  const texts = [...styles.querySelectorAll("style"), ...body.querySelectorAll("style")].map((style) => {
    style.remove();
    return style.textContent ?? "";
  });
  const sheets = texts.map((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text.replace(/@import[^;]*;/g, ""));
    return sheet;
  });
  // What came from the document leads nowhere by itself.
  body.querySelectorAll("script, iframe, object, embed, form").forEach((node) => node.remove());
  for (const link of body.querySelectorAll("a[href]")) {
    if (!/^(https?:|mailto:|#)/i.test(link.getAttribute("href") ?? "")) link.removeAttribute("href");
    link.setAttribute("rel", "noreferrer noopener");
    link.setAttribute("target", "_blank");
  }
  return { body, sheets };
}

export default function DocxView({ bytes }: { bytes: Uint8Array<ArrayBuffer> }) {
  const drawn = useParsed(bytes, draw);
  return <Parsed of={drawn}>{(document) => <Shadow {...document} />}</Parsed>;
}

/** A document has styles of its own, which must not reach the page. */
function Shadow({ body, sheets }: { body: HTMLElement; sheets: CSSStyleSheet[] }) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const host = ref.current;
    if (!host) return;
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = sheets;
    root.replaceChildren(body);
  }, [body, sheets]);
  return <div className="docx-view" ref={ref} tabIndex={0} role="document" aria-label="Document" />;
}
