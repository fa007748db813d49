/** The params of what an agent may ask: what handlers take for granted is checked, all else is left as it came. */
import { invalidParams } from "../errors.ts";

type Kind = "string" | "object" | "list";
type Shape = Readonly<Record<string, Kind>>;

const TERMINAL: Shape = { sessionId: "string", terminalId: "string" };
const SHAPES: Readonly<Record<string, Shape>> = {
  "session/request_permission": { sessionId: "string", toolCall: "object", options: "list" },
  "fs/read_text_file": { sessionId: "string", path: "string" },
  "fs/write_text_file": { sessionId: "string", path: "string", content: "string" },
  "terminal/create": { sessionId: "string", command: "string" },
  "terminal/output": TERMINAL,
  "terminal/wait_for_exit": TERMINAL,
  "terminal/kill": TERMINAL,
  "terminal/release": TERMINAL,
  // One that belongs to no session belongs to a request, such as a login.
  "elicitation/create": { mode: "string", message: "string" },
};

/** Throws -32602 where something is missing or is another thing. Methods that are not known here may have any params. */
export function checkParams(method: string, params: unknown): void {
  const shape = SHAPES[method];
  if (shape === undefined) return;
  if (kindOf(params) !== "object") throw invalidParams(`the params of ${method} must be an object`);
  for (const [name, kind] of Object.entries(shape)) {
    const value = (params as Record<string, unknown>)[name];
    if (kindOf(value) !== kind) throw invalidParams(`${name} of ${method} must be ${ARTICLE[kind]} ${kind}`);
  }
}

/** Of the params of any message that belongs to a session. */
export function sessionIdOf(params: unknown): string | undefined {
  const id = (params as { sessionId?: unknown } | null | undefined)?.sessionId;
  return typeof id === "string" ? id : undefined;
}

const ARTICLE: Readonly<Record<Kind, string>> = { string: "a", object: "an", list: "a" };

function kindOf(value: unknown): Kind | undefined {
  if (Array.isArray(value)) return "list";
  if (typeof value === "object") return value === null ? undefined : "object";
  return typeof value === "string" ? "string" : undefined;
}
