// Who draws an office document. Pure.
import type { View } from "../kinds";

export type Drawer = "libreoffice" | "warren";

export const choices = [
  { value: "libreoffice", label: "LibreOffice", why: "As LibreOffice prints it: converted to PDF on the server" },
  { value: "warren", label: "Warren", why: "Drawn in the browser, without a conversion" },
] as const satisfies readonly { value: Drawer; label: string; why: string }[];

/** Who draws it until somebody chooses. Sheets are for looking around in: cells, tabs and charts, not pages. */
export const firstDrawn = (view: View): Drawer => (view === "sheet" ? "warren" : "libreoffice");
