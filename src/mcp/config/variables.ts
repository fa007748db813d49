/** Puts variables into a text: `$NAME`, `${NAME}`, `${NAME:-what is taken where it is not set}`, and `$$` for a dollar sign. */

export class MissingVariable extends Error {
  readonly variable: string;

  constructor(variable: string) {
    super(`the environment variable ${variable} is not set`);
    this.name = "MissingVariable";
    this.variable = variable;
  }
}

const VARIABLE = /\$(?:\$|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::-([^}]*))?\})/g;
/** The same without braces. */
const BARE_VARIABLE = /\$(?:\$|([A-Za-z_]\w*))/g;

/** What a variable holds is not expanded again. Any other `$` stays. Throws `MissingVariable`. */
export function expandVariables(text: string, env: Readonly<Record<string, string | undefined>>): string {
  const valueOf = (name: string | undefined, otherwise?: string): string => {
    if (name === undefined) return "$";
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined && (value !== "" || otherwise === undefined)) return value;
    if (otherwise !== undefined) return otherwise;
    throw new MissingVariable(name);
  };
  // Behind the last closing brace, each opening one would look for it to the end of the text.
  const end = text.lastIndexOf("}") + 1;
  const head = text
    .slice(0, end)
    .replaceAll(VARIABLE, (_, bare?: string, braced?: string, otherwise?: string) =>
      valueOf(bare ?? braced, otherwise),
    );
  return head + text.slice(end).replaceAll(BARE_VARIABLE, (_, bare?: string) => valueOf(bare));
}
