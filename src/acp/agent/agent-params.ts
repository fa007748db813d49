/**
 * Validates the params of a client's requests. It checks what handlers rely on and leaves all other fields unchanged.
 */
import { isAbsolute } from "node:path";
import { invalidParams } from "../errors.ts";
import { isJsonObject } from "../wire/json-object.ts";

type FieldCheck = (value: unknown) => string | undefined;
type ParamsShape = Readonly<Record<string, FieldCheck>>;

const mustBeString: FieldCheck = (value) => (typeof value === "string" ? undefined : "must be a string");
const mustBeList: FieldCheck = (value) => (Array.isArray(value) ? undefined : "must be a list");
const mustBeObjectList: FieldCheck = (value) =>
  Array.isArray(value) && value.every(isJsonObject) ? undefined : "must be a list of objects";
/** The schema defines a version as an unsigned 16-bit integer. */
const mustBeProtocolVersion: FieldCheck = (value) =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 0xffff
    ? undefined
    : "must be an integer from 0 to 65535";
const mustBeAbsolutePath: FieldCheck = (value) => {
  if (typeof value !== "string") return "must be a string";
  if (value.includes("\0")) return "must not contain a NUL character";
  return isAbsolute(value) ? undefined : `must be an absolute path, not "${value}"`;
};
const mustBeAbsolutePaths: FieldCheck = (value) =>
  mustBeList(value) ?? (value as unknown[]).map(mustBeAbsolutePath).find((wrong) => wrong !== undefined);
const optional =
  (check: FieldCheck): FieldCheck =>
  (value) =>
    value === undefined || value === null ? undefined : check(value);

const SESSION_SHAPE: ParamsShape = { sessionId: mustBeString };
const SETUP_SHAPE: ParamsShape = {
  cwd: mustBeAbsolutePath,
  mcpServers: optional(mustBeObjectList),
  additionalDirectories: optional(mustBeAbsolutePaths),
};
const SHAPES: Readonly<Record<string, ParamsShape>> = {
  initialize: {
    protocolVersion: mustBeProtocolVersion,
    clientCapabilities: optional(mustBeObject),
    clientInfo: optional(mustBeObject),
  },
  authenticate: { methodId: mustBeString },
  logout: {},
  "session/new": SETUP_SHAPE,
  "session/load": { ...SESSION_SHAPE, ...SETUP_SHAPE },
  "session/resume": { ...SESSION_SHAPE, ...SETUP_SHAPE },
  "session/fork": { ...SESSION_SHAPE, ...SETUP_SHAPE },
  "session/list": { cwd: optional(mustBeAbsolutePath), cursor: optional(mustBeString) },
  "session/delete": SESSION_SHAPE,
  "session/close": SESSION_SHAPE,
  "session/set_mode": { ...SESSION_SHAPE, modeId: mustBeString },
  "session/set_config_option": { ...SESSION_SHAPE, configId: mustBeString, value: mustBeStringOrBoolean },
  "session/set_model": { ...SESSION_SHAPE, modelId: mustBeString },
  "session/prompt": { ...SESSION_SHAPE, prompt: mustBeContentBlocks },
  "session/cancel": SESSION_SHAPE,
};

/** Throws -32602 if a field is missing or has the wrong type. Missing params count as an empty object. */
export function validateAgentParams(method: string, params: unknown): unknown {
  const shape = SHAPES[method];
  if (shape === undefined) return params;
  const fieldsByName = params ?? {};
  if (!isJsonObject(fieldsByName)) throw invalidParams(`the params of ${method} must be an object`);
  for (const [name, check] of Object.entries(shape)) {
    const wrong = check(fieldsByName[name]);
    if (wrong !== undefined) throw invalidParams(`${name} of ${method} ${wrong}`);
  }
  return fieldsByName;
}

function mustBeObject(value: unknown): string | undefined {
  return isJsonObject(value) ? undefined : "must be an object";
}

function mustBeStringOrBoolean(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "boolean" ? undefined : "must be a string or a boolean";
}

/** The required fields of each content type. The handler refuses a type that is unknown here. */
const CONTENT_SHAPES: Readonly<Record<string, ParamsShape>> = {
  text: { text: mustBeString },
  image: { data: mustBeString, mimeType: mustBeString },
  audio: { data: mustBeString, mimeType: mustBeString },
  resource_link: { uri: mustBeString },
  resource: { resource: mustBeObject },
};

function mustBeContentBlocks(value: unknown): string | undefined {
  if (!Array.isArray(value)) return "must be a list of content blocks";
  for (const [index, block] of value.entries()) {
    const { type, ...fields } = isJsonObject(block) ? block : {};
    if (typeof type !== "string") return `must be a list of content blocks, but [${index}] is not one`;
    const shape = Object.hasOwn(CONTENT_SHAPES, type) ? CONTENT_SHAPES[type] : undefined;
    for (const [name, check] of Object.entries(shape ?? {})) {
      const wrong = check(fields[name]);
      if (wrong !== undefined) return `is invalid at [${index}]: ${name} ${wrong}`;
    }
  }
  return undefined;
}

/** The messages of a client whose params are checked. */
export function listCheckedMethods(): readonly string[] {
  return Object.keys(SHAPES);
}
