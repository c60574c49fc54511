import type { ReactNode } from "react";
import { Burger } from "./TopBar";

/** A page that has nothing to show but a notice. */
export function NoticePage({ title, children }: { title: string; children: ReactNode }) {
  return (
    <>
      <header className="top"><Burger /><h1>{title}</h1></header>
      <div className="page"><div className="empty-in">{children}</div></div>
    </>
  );
}

export const asPage = (title: string) => (notice: ReactNode) => <NoticePage title={title}>{notice}</NoticePage>;
