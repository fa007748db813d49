/** Checks structured content against the tool's output schema. A mismatch is only noted; the result is kept. */
import { boundedSchema } from "../../stdx/index.ts";

type SchemaCheck = (content: unknown) => string | undefined;

const compiledChecks = new WeakMap<object, SchemaCheck>();
const MAX_CHARS = 500;
/** Excluded in addition: format validators use costly regular expressions. */
const COSTLY_KEYWORDS = ["format"];

/** Returns what is wrong, or undefined. An invalid schema and a schema with references match everything. */
export async function findSchemaMismatch(
  schema: Readonly<Record<string, unknown>>,
  content: unknown,
): Promise<string | undefined> {
  if (content === undefined) return "it is missing";
  let check = compiledChecks.get(schema);
  if (check === undefined) compiledChecks.set(schema, (check = await compileCheck(schema)));
  return check(content)?.slice(0, MAX_CHARS);
}

async function compileCheck(schema: Readonly<Record<string, unknown>>): Promise<SchemaCheck> {
  const { AjvJsonSchemaValidator } = await import("@modelcontextprotocol/sdk/validation/ajv");
  try {
    const validate = new AjvJsonSchemaValidator().getValidator(boundedSchema(schema, COSTLY_KEYWORDS) as typeof schema);
    return (content) => {
      const { valid, errorMessage } = validate(content);
      return valid ? undefined : errorMessage;
    };
  } catch {
    return () => undefined;
  }
}
