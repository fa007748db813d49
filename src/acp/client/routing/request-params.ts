/**
 * Validates the params of an agent's requests. It checks what handlers rely on and leaves all other fields unchanged.
 */
import { invalidParams } from "../../errors.ts";

type Kind = "string" | "object" | "list";
type Shape = Readonly<Record<string, Kind>>;

const TERMINAL_SHAPE: Shape = { sessionId: "string", terminalId: "string" };
const SHAPES: Readonly<Record<string, Shape>> = {
  "session/request_permission": { sessionId: "string", toolCall: "object", options: "list" },
  "fs/read_text_file": { sessionId: "string", path: "string" },
  "fs/write_text_file": { sessionId: "string", path: "string", content: "string" },
  "terminal/create": { sessionId: "string", command: "string" },
  "terminal/output": TERMINAL_SHAPE,
  "terminal/wait_for_exit": TERMINAL_SHAPE,
  "terminal/kill": TERMINAL_SHAPE,
  "terminal/release": TERMINAL_SHAPE,
  // Without a session it belongs to a request, such as a login.
  "elicitation/create": { mode: "string", message: "string" },
};

/** Throws -32602 if a field is missing or has the wrong type. Unknown methods may have any params. */
export function validateClientParams(method: string, params: unknown): void {
  const shape = SHAPES[method];
  if (shape === undefined) return;
  if (getKind(params) !== "object") throw invalidParams(`the params of ${method} must be an object`);
  for (const [name, kind] of Object.entries(shape)) {
    const value = (params as Record<string, unknown>)[name];
    if (getKind(value) !== kind) throw invalidParams(`${name} of ${method} must be ${ARTICLE[kind]} ${kind}`);
  }
}

/** The session id in the params of a message, if it has one. */
export function getSessionId(params: unknown): string | undefined {
  const id = (params as { sessionId?: unknown } | null | undefined)?.sessionId;
  return typeof id === "string" ? id : undefined;
}

/** True if the params of a `session/update` carry an update. */
export function hasUpdate(params: unknown): params is { readonly update: object } {
  const { update } = (params ?? {}) as { update?: unknown };
  return typeof update === "object" && update !== null;
}

const ARTICLE: Readonly<Record<Kind, string>> = { string: "a", object: "an", list: "a" };

function getKind(value: unknown): Kind | undefined {
  if (Array.isArray(value)) return "list";
  if (typeof value === "object") return value === null ? undefined : "object";
  return typeof value === "string" ? "string" : undefined;
}
