/** Checks a structured result against its tool's schema, softly: a result is not thrown away because of it. */
import { boundedSchema } from "../../stdx/index.ts";

type Check = (content: unknown) => string | undefined;

const checks = new WeakMap<object, Check>();
const MAX_CHARS = 500;
/** A library of formats has regular expressions of its own. */
const ALSO_COSTLY = ["format"];

/** What is wrong, if anything. A schema that is itself wrong finds nothing, and neither does one with references. */
export async function mismatch(
  schema: Readonly<Record<string, unknown>>,
  content: unknown,
): Promise<string | undefined> {
  if (content === undefined) return "there is none";
  let check = checks.get(schema);
  if (check === undefined) checks.set(schema, (check = await compiled(schema)));
  return check(content)?.slice(0, MAX_CHARS);
}

async function compiled(schema: Readonly<Record<string, unknown>>): Promise<Check> {
  const { AjvJsonSchemaValidator } = await import("@modelcontextprotocol/sdk/validation/ajv");
  try {
    const validate = new AjvJsonSchemaValidator().getValidator(boundedSchema(schema, ALSO_COSTLY) as typeof schema);
    return (content) => {
      const { valid, errorMessage } = validate(content);
      return valid ? undefined : errorMessage;
    };
  } catch {
    return () => undefined;
  }
}
