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

/** What a variable holds is not expanded again. Any other `$` stays. Throws `MissingVariable`. */
export function expandVariables(text: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replaceAll(VARIABLE, (_, bare?: string, braced?: string, otherwise?: string) => {
    const name = bare ?? braced;
    if (name === undefined) return "$";
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined && (value !== "" || otherwise === undefined)) return value;
    if (otherwise !== undefined) return otherwise;
    throw new MissingVariable(name);
  });
}
