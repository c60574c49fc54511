// Criteria of SUMIFS and its like: ">=20", "N*", 7. Pure.

export type Scalar = string | number | boolean | null;

const wild = /[*?]/;

function pattern(text: string): RegExp {
  const source = text.replace(/~([*?~])|([*?])|([.+^${}()|[\]\\])/g, (_, escaped?: string, sign?: string, other?: string) => (escaped ? `\\${escaped}` : sign ? (sign === "*" ? "[^]*" : "[^]") : `\\${other}`));
  return new RegExp(`^${source}$`, "i");
}

/** A test of cells. With `isPlain` a text stands for itself, without an operator before it. */
export function matcher(criterion: Scalar, isPlain = false): (value: Scalar) => boolean {
  if (typeof criterion === "number" || typeof criterion === "boolean") return (value) => value === criterion || (!isPlain && typeof criterion === "number" && typeof value === "string" && value !== "" && Number(value) === criterion);
  const [, sign = "", rest = ""] = (isPlain ? null : /^(<>|<=|>=|<|>|=)?([^]*)$/.exec(criterion ?? "")) ?? [undefined, "", criterion ?? ""];
  const number = rest.trim() === "" || isPlain ? Number.NaN : Number(rest.endsWith("%") ? Number(rest.slice(0, -1)) / 100 : rest);
  const isText = Number.isNaN(number);
  if (/^[<>]=?$/.test(sign)) return (value) => ordered(value, isText ? rest.toLowerCase() : number, sign);
  const same = (value: Scalar): boolean => {
    if (rest === "") return sign === "=" ? value === null : value === null || value === "";
    if (!isText) return value === number || (typeof value === "string" && value.trim() !== "" && Number(value) === number);
    if (typeof value === "boolean") return String(value) === rest.toLowerCase();
    return typeof value === "string" && (wild.test(rest) ? pattern(rest).test(value) : value.toLowerCase() === rest.toLowerCase());
  };
  return sign === "<>" ? (value) => !same(value) : same;
}

function ordered(value: Scalar, limit: string | number, sign: string): boolean {
  if (typeof value !== typeof limit) return false;
  const one = typeof value === "string" ? value.toLowerCase() : (value as number);
  switch (sign) {
    case "<":
      return one < limit;
    case "<=":
      return one <= limit;
    case ">":
      return one > limit;
    default:
      return one >= limit;
  }
}
