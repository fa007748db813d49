/** What a form asks for, read from its JSON Schema: flat, with the kinds of fields that MCP's elicitation has. */

export interface Field {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly required: boolean;
  /** Undefined where there is none, or it is not of the field's own kind. */
  readonly default: unknown;
  readonly kind: FieldKind;
}

export type FieldKind = TextKind | NumberKind | { readonly type: "boolean" } | ChoiceKind | ChoicesKind;

export interface TextKind {
  readonly type: "text";
  readonly least: number | undefined;
  readonly most: number | undefined;
  /** Those that nobody here knows are left to who asked. */
  readonly format: string | undefined;
}

export interface NumberKind {
  readonly type: "number" | "integer";
  readonly least: number | undefined;
  readonly most: number | undefined;
}

export interface ChoiceKind {
  readonly type: "choice";
  readonly choices: readonly Choice[];
}

export interface ChoicesKind {
  readonly type: "choices";
  readonly choices: readonly Choice[];
  readonly least: number | undefined;
  readonly most: number | undefined;
}

export interface Choice {
  readonly value: string;
  readonly title: string;
}

/** More than a person would go through line by line. */
const MOST_FIELDS = 50;
const MOST_CHOICES = 200;

/** Undefined where it is not a form that can be asked field by field. */
export function fieldsOf(schema: unknown): readonly Field[] | undefined {
  if (!isTable(schema) || (schema["type"] ?? "object") !== "object") return undefined;
  const properties = schema["properties"] ?? {};
  if (!isTable(properties) || COMPOSED.some((keyword) => keyword in schema)) return undefined;
  const required = listIn(schema["required"]);
  const fields = Object.entries(properties).map(([name, property]) => fieldOf(name, property, required.includes(name)));
  const isWhole = fields.length <= MOST_FIELDS && required.every((name) => Object.hasOwn(properties, String(name)));
  return isWhole && fields.every((field) => field !== undefined) ? fields : undefined;
}

/** What these say of an object is not about one field. */
const COMPOSED = ["allOf", "anyOf", "oneOf", "not", "if", "$ref", "patternProperties"];

function fieldOf(name: string, property: unknown, required: boolean): Field | undefined {
  if (!isTable(property)) return undefined;
  const kind = kindOf(property);
  if (kind === undefined) return undefined;
  const given = property["default"];
  return {
    name,
    title: textIn(property["title"]),
    description: textIn(property["description"]),
    required,
    default: isOfKind(given, kind) ? given : undefined,
    kind,
  };
}

function kindOf(property: Readonly<Record<string, unknown>>): FieldKind | undefined {
  switch (property["type"]) {
    case "string":
      return stringKind(property);
    case "number":
    case "integer":
      return {
        type: property["type"],
        least: numberIn(property["minimum"]),
        most: numberIn(property["maximum"]),
      };
    case "boolean":
      return { type: "boolean" };
    case "array": {
      const { items } = property;
      const choices = isTable(items) ? choicesIn(items) : undefined;
      if (choices === undefined) return undefined;
      return { type: "choices", choices, least: numberIn(property["minItems"]), most: numberIn(property["maxItems"]) };
    }
    default:
      return undefined;
  }
}

function stringKind(property: Readonly<Record<string, unknown>>): FieldKind | undefined {
  if (CHOOSING.some((keyword) => keyword in property)) {
    const choices = choicesIn(property);
    return choices && { type: "choice", choices };
  }
  return {
    type: "text",
    least: numberIn(property["minLength"]),
    most: numberIn(property["maxLength"]),
    format: textIn(property["format"]),
  };
}

const CHOOSING = ["enum", "oneOf", "anyOf"];

/** Either a list of values, with titles beside it as older servers have them, or values each with its title. */
function choicesIn(schema: Readonly<Record<string, unknown>>): readonly Choice[] | undefined {
  const { enum: values, enumNames } = schema;
  const titled = schema["oneOf"] ?? schema["anyOf"];
  const titles = listIn(enumNames);
  const found = Array.isArray(values)
    ? listIn(values).map((value, index) => [value, titles[index]])
    : listIn(titled).map((one) => (isTable(one) ? [one["const"], one["title"]] : []));
  if (found.length === 0 || found.length > MOST_CHOICES) return undefined;
  const choices = found.flatMap(([value, title]): Choice[] =>
    typeof value === "string" ? [{ value, title: textIn(title) ?? value }] : [],
  );
  return choices.length === found.length ? choices : undefined;
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

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

function numberIn(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
