import type { WhoAmI } from "@warren/react";
import { createContext, use } from "react";

/** Who looks at the page, and what they may do. */
export interface PersonHere {
  name: string;
  scope: string;
  /** The token behind this browser. */
  tokenId: string;
  /** May send, answer, stop, change. */
  mayRun: boolean;
}

export const personOf = (who: WhoAmI): PersonHere => ({ name: who.name, scope: who.scope, tokenId: who.tokenId, mayRun: !who.scope.endsWith(":ro") });

export const PersonContext = createContext<PersonHere | null>(null);

export function usePerson(): PersonHere {
  const person = use(PersonContext);
  if (!person) throw new Error("nobody is signed in");
  return person;
}
