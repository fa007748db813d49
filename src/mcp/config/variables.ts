/** Expands variables: `$NAME`, `${NAME}`, `${NAME:-default}`, and `$$` for a dollar sign. */

export class MissingVariable extends Error {
  readonly variable: string;

  constructor(variable: string) {
    super(`the environment variable ${variable} is not set`);
    this.name = "MissingVariable";
    this.variable = variable;
  }
}

const VARIABLE = /\$(?:\$|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::-([^}]*))?\})/g;
/** The same without the braced form. */
const BARE_VARIABLE = /\$(?:\$|([A-Za-z_]\w*))/g;

/** Expanded values are not expanded again. Any other `$` stays. Throws `MissingVariable`. */
export function expandVariables(text: string, env: Readonly<Record<string, string | undefined>>): string {
  const resolveVariable = (name: string | undefined, fallback?: string): string => {
    if (name === undefined) return "$";
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined && (value !== "" || fallback === undefined)) return value;
    if (fallback !== undefined) return fallback;
    throw new MissingVariable(name);
  };
  // After the last closing brace, the braced pattern would scan to the end of the text for each opening brace.
  const end = text.lastIndexOf("}") + 1;
  const head = text
    .slice(0, end)
    .replaceAll(VARIABLE, (_, bare?: string, braced?: string, fallback?: string) =>
      resolveVariable(bare ?? braced, fallback),
    );
  return head + text.slice(end).replaceAll(BARE_VARIABLE, (_, bare?: string) => resolveVariable(bare));
}
