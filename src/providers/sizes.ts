/** Context sizes of known models. */

/** The date of the table. Confirmed: Claude 5, GPT-6, Gemini 3.8 and 4; not the others. */
export const SIZES_AS_OF = "2026-11-16";

/** Looks up a size by `provider/model`, ignoring a version date and a gateway prefix. */
export function lookUpContextSize(name: string): number | undefined {
  const model = stripVersionSuffix(name).split("/").at(-1) ?? "";
  return CONTEXT_SIZES.find(([pattern]) => pattern.test(model))?.[1];
}

const MAX_NAME_LENGTH = 500;

/** Removes version suffixes: `-20250929`, `-2025-08-07`, `-001`, `-preview`, `-latest`. */
export function stripVersionSuffix(name: string): string {
  if (name.length > MAX_NAME_LENGTH) return name; // no model has such a name, and the pattern is slow on it
  const rest = name.replace(/-(\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|preview|latest|customtools|\d{2}-\d{4})$/, "");
  return rest === name ? name : stripVersionSuffix(rest);
}

/** Tokens of a request and its reply together. The first match counts. */
const CONTEXT_SIZES: readonly (readonly [RegExp, number])[] = [
  [/^claude-(fable|mythos|opus|sonnet|haiku)-5/, 1_000_000],
  [/^claude-(opus|sonnet)-4-[678]/, 1_000_000],
  [/^claude-/, 200_000],
  [/^gpt-5\.\d-(mini|nano)/, 400_000],
  [/^gpt-(6|5\.[456])/, 1_050_000],
  [/^gpt-5/, 400_000],
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-4o/, 128_000],
  [/^o[134]/, 200_000],
  [/^gemini-/, 1_048_576],
  [/^deepseek-(chat|reasoner)/, 128_000],
];
