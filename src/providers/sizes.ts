/** How long a context the models take, where it is known. */

/** The day on which the table below was put together. Checked: Claude 5, GPT-6 and Gemini 3.8 and 4; not the rest. */
export const SIZES_AS_OF = "2026-11-16";

/** By `provider/model`, also of a dated version of it, and of the same model behind a gateway. */
export function contextSizeOf(name: string): number | undefined {
  const model = baseName(name).split("/").at(-1) ?? "";
  return TABLE.find(([pattern]) => pattern.test(model))?.[1];
}

const MAX_NAME_LENGTH = 500;

/** Without what dates a version: `-20250929`, `-2025-08-07`, `-001`, `-preview`, `-latest`. */
export function baseName(name: string): string {
  if (name.length > MAX_NAME_LENGTH) return name; // no model has such a name, and each part is looked for at its end
  const rest = name.replace(/-(\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|preview|latest|customtools|\d{2}-\d{4})$/, "");
  return rest === name ? name : baseName(rest);
}

/** Tokens of a request and its reply together. The first that fits. */
const TABLE: readonly (readonly [RegExp, number])[] = [
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
