/** Validates values that may have one of several forms, and reports the violation of the most likely form. */
import { isJsonObject } from "../../../wire/json-object.ts";
import { appendPath, type SchemaCheck, type SchemaViolation } from "./violation.ts";

/** If every form fails, reports the failure with the longest path. */
export function checkAnyOf(checks: readonly SchemaCheck[]): SchemaCheck {
  return (value, path) => {
    const failures: SchemaViolation[] = [];
    for (const check of checks) {
      const failure = check(value, path);
      if (failure === undefined) return undefined;
      failures.push(failure);
    }
    const furthest = failures.reduce((best, next) => (next.path.length > best.path.length ? next : best));
    const equal = failures.filter((failure) => failure.path === furthest.path);
    return { ...furthest, expected: [...new Set(equal.map(({ expected }) => expected))].join(" or ") };
  };
}

export function checkOneOf(checks: readonly SchemaCheck[]): SchemaCheck {
  const any = checkAnyOf(checks);
  return (value, path) => {
    const fitting = checks.filter((check) => check(value, path) === undefined).length;
    if (fitting === 1) return undefined;
    return fitting === 0 ? any(value, path) : { path, expected: "exactly one form", got: value };
  };
}

/**
 * Selects the form by its discriminator, so that the violation refers to that form. Names that start with `_` are
 * extensions and always pass.
 */
export function checkDiscriminated(property: string, forms: ReadonlyMap<unknown, SchemaCheck>): SchemaCheck {
  return (value, path) => {
    if (!isJsonObject(value)) return { path, expected: "object", got: value };
    const name = value[property];
    if (typeof name === "string" && name.startsWith("_")) return undefined;
    const form = forms.get(name);
    return form === undefined
      ? {
          path: appendPath(path, property),
          expected: [...forms.keys()].map((each) => JSON.stringify(each)).join(" or "),
          got: name,
        }
      : form(value, path);
  };
}
