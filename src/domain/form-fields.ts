/** Parses the JSON Schema of a form: flat, with the field types of MCP elicitation. */

export interface FormField {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly required: boolean;
  /** Undefined if it is missing or has the wrong type. */
  readonly default: unknown;
  readonly kind: FieldKind;
}

export type FieldKind = TextKind | NumberKind | { readonly type: "boolean" } | ChoiceKind | ChoicesKind;

export interface TextKind {
  readonly type: "text";
  readonly least: number | undefined;
  readonly most: number | undefined;
  /** The server validates unknown formats itself. */
  readonly format: string | undefined;
}

export interface NumberKind {
  readonly type: "number" | "integer";
  readonly least: number | undefined;
  readonly most: number | undefined;
}

export interface ChoiceKind {
  readonly type: "choice";
  readonly choices: readonly FieldChoice[];
  /** Any other text is an answer too. Default: false. */
  readonly isOpen?: boolean;
}

export interface ChoicesKind {
  readonly type: "choices";
  readonly choices: readonly FieldChoice[];
  readonly least: number | undefined;
  readonly most: number | undefined;
  readonly isOpen?: boolean;
}

export interface FieldChoice {
  readonly value: string;
  readonly title: string;
}

/** Larger forms are asked for as JSON. */
const MAX_FORM_FIELDS = 50;
const MAX_CHOICES = 200;

/** Returns undefined if the schema cannot be asked field by field. */
export function parseFormFields(schema: unknown): readonly FormField[] | undefined {
  if (!isTable(schema) || (schema["type"] ?? "object") !== "object") return undefined;
  const properties = schema["properties"] ?? {};
  if (!isTable(properties) || COMPOSITION_KEYWORDS.some((keyword) => keyword in schema)) return undefined;
  const required = asList(schema["required"]);
  const fields = Object.entries(properties).map(([name, property]) =>
    parseField(name, property, required.includes(name)),
  );
  const isWhole = fields.length <= MAX_FORM_FIELDS && required.every((name) => Object.hasOwn(properties, String(name)));
  return isWhole && fields.every((field) => field !== undefined) ? fields : undefined;
}

/** Keywords that constrain the object as a whole. */
const COMPOSITION_KEYWORDS = ["allOf", "anyOf", "oneOf", "not", "if", "$ref", "patternProperties"];

function parseField(name: string, property: unknown, required: boolean): FormField | undefined {
  if (!isTable(property)) return undefined;
  const kind = parseKind(property);
  if (kind === undefined) return undefined;
  const given = property["default"];
  return {
    name,
    title: asText(property["title"]),
    description: asText(property["description"]),
    required,
    default: isOfKind(given, kind) ? given : undefined,
    kind,
  };
}

function parseKind(property: Readonly<Record<string, unknown>>): FieldKind | undefined {
  switch (property["type"]) {
    case "string":
      return parseStringKind(property);
    case "number":
    case "integer":
      return {
        type: property["type"],
        least: asNumber(property["minimum"]),
        most: asNumber(property["maximum"]),
      };
    case "boolean":
      return { type: "boolean" };
    case "array": {
      const { items } = property;
      const found = isTable(items) ? parseChoices(items) : undefined;
      if (found === undefined) return undefined;
      return { type: "choices", ...found, least: asNumber(property["minItems"]), most: asNumber(property["maxItems"]) };
    }
    default:
      return undefined;
  }
}

function parseStringKind(property: Readonly<Record<string, unknown>>): FieldKind | undefined {
  if (CHOICE_KEYWORDS.some((keyword) => keyword in property)) {
    const found = parseChoices(property);
    return found && { type: "choice", ...found };
  }
  return {
    type: "text",
    least: asNumber(property["minLength"]),
    most: asNumber(property["maxLength"]),
    format: asText(property["format"]),
  };
}

const CHOICE_KEYWORDS = ["enum", "oneOf", "anyOf"];

/**
 * Parses values with separate titles, as older servers send them, or values with their own titles. A last alternative
 * without a value allows any text, as in `anyOf: [{const: "a"}, {type: "string"}]`.
 */
function parseChoices(
  schema: Readonly<Record<string, unknown>>,
): { readonly choices: readonly FieldChoice[]; readonly isOpen?: true } | undefined {
  const { enum: values, enumNames, anyOf } = schema;
  const titles = asList(enumNames);
  const titled = asList(schema["oneOf"] ?? anyOf);
  const isOpen = !Array.isArray(values) && Array.isArray(anyOf) && isAnyText(titled.at(-1));
  const found = Array.isArray(values)
    ? asList(values).map((value, index) => [value, titles[index]])
    : (isOpen ? titled.slice(0, -1) : titled).map((one) => (isTable(one) ? [one["const"], one["title"]] : []));
  if (found.length === 0 || found.length > MAX_CHOICES) return undefined;
  const choices = found.flatMap(([value, title]): FieldChoice[] =>
    typeof value === "string" ? [{ value, title: asText(title) ?? value }] : [],
  );
  return choices.length === found.length ? { choices, ...(isOpen && { isOpen }) } : undefined;
}

/** Leaves out answers in other words, which elicitation of MCP and ACP has no schema for. */
export function closeOpenChoices(schema: unknown): unknown {
  if (!isTable(schema) || !isTable(schema["properties"])) return schema;
  const properties = Object.entries(schema["properties"]).map(([name, property]): [string, unknown] => {
    if (!isTable(property)) return [name, property];
    const { items } = property;
    if (isTable(items) && isAnyText(asList(items["anyOf"]).at(-1)))
      return [name, { ...property, items: { ...items, anyOf: asList(items["anyOf"]).slice(0, -1) } }];
    const { anyOf, ...rest } = property;
    return [name, isAnyText(asList(anyOf).at(-1)) ? { ...rest, oneOf: asList(anyOf).slice(0, -1) } : property];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

function isAnyText(schema: unknown): boolean {
  return isTable(schema) && schema["type"] === "string" && Object.keys(schema).length === 1;
}

function isOfKind(value: unknown, kind: FieldKind): boolean {
  switch (kind.type) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "integer":
      return Number.isInteger(value);
    case "boolean":
      return typeof value === "boolean";
    case "choice":
      return kind.choices.some((choice) => choice.value === value);
    case "choices":
      return Array.isArray(value) && value.every((one) => kind.choices.some((choice) => choice.value === one));
  }
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

function asNumber(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
