// Names for the generated shapes, so that nobody writes `components["schemas"]`.
import type { components } from "./generated";

type Schemas = components["schemas"];

export type Block = Schemas["Block"];
export type SessionListItem = Schemas["SessionListItem"];
