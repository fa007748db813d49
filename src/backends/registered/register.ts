/** Reads the backends that a program registers with `Rookery.open`. They may be plain JavaScript. */
import { RookeryError, type Backend } from "../../domain/index.ts";
import { findBackendNameProblem, missingBackendAdvice } from "../../domain/backend-name.ts";
import { isBackendKind } from "../../domain/enums.ts";
import { messageOf } from "../../domain/errors.ts";

/** Registered backends by name. */
export type RegisteredBackends = ReadonlyMap<string, Backend>;

/** Reads every field once. Throws `input_invalid` for a value that is no backend, or for a name that cannot be used. */
export function registerBackends(values: readonly unknown[]): RegisteredBackends {
  const registered = new Map<string, Backend>();
  for (const value of values) {
    const backend = readBackend(value);
    const problem = findNameProblem(backend.kind, registered);
    if (problem !== undefined) throw new RookeryError("input_invalid", `the backend "${backend.kind}" ${problem}`);
    registered.set(backend.kind, backend);
  }
  return registered;
}

/** Throws `backend_unknown`. */
export function requireRegistered(
  { name, backend }: { readonly name: string; readonly backend: string },
  registered: RegisteredBackends,
): Backend {
  const found = registered.get(backend);
  if (found !== undefined) return found;
  throw new RookeryError("backend_unknown", `agent ${name} cannot run here: ${missingBackendAdvice(backend)}`);
}

function findNameProblem(kind: string, registered: RegisteredBackends): string | undefined {
  if (isBackendKind(kind)) return "needs another name: a built-in backend has this one";
  const problem = findBackendNameProblem(kind);
  if (problem !== undefined) return `needs another name: ${problem}`;
  return registered.has(kind) ? "is registered twice: remove one, or give it another name" : undefined;
}

function readBackend(value: unknown): Backend {
  try {
    const { kind, open } = value as { readonly [Key in keyof Backend]?: unknown };
    if (typeof kind === "string" && typeof open === "function") {
      return {
        kind: kind.slice(0, MAX_SHOWN_NAME),
        open: (context) => Reflect.apply(open, value, [context]) as ReturnType<Backend["open"]>,
      };
    }
  } catch (cause) {
    throw new RookeryError("input_invalid", `cannot read a backend: ${messageOf(cause)}`, { cause });
  }
  throw new RookeryError("input_invalid", "a backend needs a kind, which is its name, and a method open");
}

/** Longer than any valid name. */
const MAX_SHOWN_NAME = 200;
