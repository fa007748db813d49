/** Reads the providers that a program registers with `Rookery.open`. They may be plain JavaScript. */
import { RookeryError, messageOf } from "../../domain/errors.ts";
import type { Provider } from "../../domain/model.ts";
import { DEMO_MODEL } from "../demo/model.ts";
import { KNOWN_PROVIDERS } from "../known.ts";

/** Registered providers by name. */
export type RegisteredProviders = ReadonlyMap<string, Provider>;

const NAME = /^[A-Za-z][\w.-]{0,49}$/;
const NAME_RULE =
  'may contain only letters, digits, "-", "_" and ".", starts with a letter, and has at most 50 characters';

/** Reads every field once. Throws `input_invalid` for a value that is no provider, or for a name that cannot be used. */
export function registerProviders(values: readonly unknown[]): RegisteredProviders {
  const registered = new Map<string, Provider>();
  for (const value of values) {
    const provider = readProvider(value);
    const problem = findNameProblem(provider.name, registered);
    if (problem !== undefined) throw new RookeryError("input_invalid", `the provider "${provider.name}" ${problem}`);
    registered.set(provider.name, provider);
  }
  return registered;
}

function findNameProblem(name: string, registered: RegisteredProviders): string | undefined {
  if (!NAME.test(name)) return `needs another name: the name of a provider ${NAME_RULE}`;
  if (KNOWN_PROVIDERS.has(name) || DEMO_MODEL.startsWith(`${name}/`)) {
    return "needs another name: a built-in provider has this one";
  }
  return registered.has(name) ? "is registered twice: remove one, or give it another name" : undefined;
}

/** Longer than any valid name. */
const MAX_SHOWN_NAME = 200;

function readProvider(value: unknown): Provider {
  try {
    const { name, open } = value as { readonly [Key in keyof Provider]?: unknown };
    if (typeof name === "string" && typeof open === "function") {
      return {
        name: name.slice(0, MAX_SHOWN_NAME),
        open: (model, options) => Reflect.apply(open, value, [model, options]) as ReturnType<Provider["open"]>,
      };
    }
  } catch (cause) {
    throw new RookeryError("input_invalid", `cannot read a provider: ${messageOf(cause)}`, { cause });
  }
  throw new RookeryError("input_invalid", "a provider needs a name and a method open");
}
