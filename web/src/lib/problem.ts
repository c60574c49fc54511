/** What went wrong, in the words of the error. */
export const said = (error: unknown): string => (error instanceof Error ? error.message : String(error));
