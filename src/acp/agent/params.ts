/** The params of what a client may ask: what handlers take for granted is checked, all else is left as it came. */
import { isAbsolute } from "node:path";
import { invalidParams } from "../errors.ts";

type Check = (value: unknown) => string | undefined;
type Shape = Readonly<Record<string, Check>>;

const text: Check = (value) => (typeof value === "string" ? undefined : "must be a string");
const list: Check = (value) => (Array.isArray(value) ? undefined : "must be a list");
const objects: Check = (value) =>
  Array.isArray(value) && value.every(isObject) ? undefined : "must be a list of objects";
/** As the schema has it: a version is a number of 16 bits. */
const version: Check = (value) =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 0xffff
    ? undefined
    : "must be a whole number from 0 to 65535";
const folder: Check = (value) => {
  if (typeof value !== "string") return "must be a string";
  if (value.includes("\0")) return "must not have a NUL character in it";
  return isAbsolute(value) ? undefined : `must be an absolute path, not "${value}"`;
};
const folders: Check = (value) => list(value) ?? (value as unknown[]).map(folder).find((wrong) => wrong !== undefined);
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || value === null ? undefined : check(value);

const SESSION: Shape = { sessionId: text };
const SET_UP: Shape = { cwd: folder, mcpServers: maybe(objects), additionalDirectories: maybe(folders) };
const SHAPES: Readonly<Record<string, Shape>> = {
  initialize: { protocolVersion: version, clientCapabilities: maybe(object), clientInfo: maybe(object) },
  authenticate: { methodId: text },
  logout: {},
  "session/new": SET_UP,
  "session/load": { ...SESSION, ...SET_UP },
  "session/resume": { ...SESSION, ...SET_UP },
  "session/fork": { ...SESSION, ...SET_UP },
  "session/list": { cwd: maybe(folder), cursor: maybe(text) },
  "session/delete": SESSION,
  "session/close": SESSION,
  "session/set_mode": { ...SESSION, modeId: text },
  "session/set_config_option": { ...SESSION, configId: text, value: textOrBoolean },
  "session/set_model": { ...SESSION, modelId: text },
  "session/prompt": { ...SESSION, prompt: blocks },
  "session/cancel": SESSION,
};

/** Throws -32602 where something is missing or is another thing. Params that were left out are empty ones. */
export function checkedParams(method: string, params: unknown): unknown {
  const shape = SHAPES[method];
  if (shape === undefined) return params;
  const given = params ?? {};
  if (!isObject(given)) throw invalidParams(`the params of ${method} must be an object`);
  for (const [name, check] of Object.entries(shape)) {
    const wrong = check(given[name]);
    if (wrong !== undefined) throw invalidParams(`${name} of ${method} ${wrong}`);
  }
  return given;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function object(value: unknown): string | undefined {
  return isObject(value) ? undefined : "must be an object";
}

function textOrBoolean(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "boolean" ? undefined : "must be a string or a boolean";
}

/** The fields that each kind of content cannot do without. A kind that is not known is the handler's to refuse. */
const CONTENT: Readonly<Record<string, Shape>> = {
  text: { text },
  image: { data: text, mimeType: text },
  audio: { data: text, mimeType: text },
  resource_link: { uri: text },
  resource: { resource: object },
};

function blocks(value: unknown): string | undefined {
  if (!Array.isArray(value)) return "must be a list of content blocks";
  for (const [index, block] of value.entries()) {
    const { type, ...fields } = isObject(block) ? block : {};
    if (typeof type !== "string") return `must be a list of content blocks, and [${index}] is none`;
    const shape = Object.hasOwn(CONTENT, type) ? CONTENT[type] : undefined;
    for (const [name, check] of Object.entries(shape ?? {})) {
      const wrong = check(fields[name]);
      if (wrong !== undefined) return `is wrong at [${index}]: ${name} ${wrong}`;
    }
  }
  return undefined;
}
