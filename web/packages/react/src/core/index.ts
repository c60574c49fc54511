export type * from "../wire/types";
