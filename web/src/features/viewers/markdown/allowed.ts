// Elements and attributes of HTML that a document may use. Everything else is left out.
import { defaultSchema } from "rehype-sanitize";

export const SCHEMA = {
  ...defaultSchema,
  attributes: {
    ...defaultSchema.attributes,
    // Code with its language, and math.
    code: [["className", /^language-./, "math-inline", "math-display"]],
    img: [...(defaultSchema.attributes?.img ?? []), "alt", "title", "width", "height"],
  },
  protocols: { ...defaultSchema.protocols, src: ["http", "https", "data"] },
} as typeof defaultSchema;
