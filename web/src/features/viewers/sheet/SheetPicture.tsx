import { useEffect, useState } from "react";
import { imageType } from "../kinds";
import type { Placed } from "./model";

/** An image of a sheet, as an image and nothing else: a drawing with a script in it shows, and runs nothing. */
export function SheetPicture({ of: { path, bytes, alt } }: { of: NonNullable<Placed["picture"]> }) {
  const [src, setSrc] = useState<string>();
  useEffect(() => {
    const url = URL.createObjectURL(new Blob([bytes], { type: imageType(path) ?? "application/octet-stream" }));
    setSrc(url);
    return () => URL.revokeObjectURL(url);
  }, [path, bytes]);
  return src ? <img src={src} alt={alt} /> : null;
}
