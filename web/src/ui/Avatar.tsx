import { createContext, use } from "react";

/** Whose page this is, as the server knows them. */
export const Person = createContext("you");

/** The person's initials. */
export function Avatar({ name: given }: { name?: string }) {
  const person = use(Person);
  const name = given ?? person;
  const words = name.split(/[\s._-]+/).filter(Boolean);
  const initials = (words.length > 1 ? words[0]![0]! + words.at(-1)![0]! : name.slice(0, 2)).toUpperCase();
  // Drawn by the style sheet: it is a picture of the name beside it, not a word to be read.
  return <span className="av" data-initials={initials} aria-hidden="true" />;
}
