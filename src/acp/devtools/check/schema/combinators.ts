/** Values of several possible forms: which one was meant, and so what is wrong. */
import { isJsonObject } from "../../../wire/json-object.ts";
import { appendPath, type SchemaCheck, type SchemaViolation } from "./violation.ts";

/** Of several forms that all fail, the one that was followed furthest says most. */
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

/** Picks the form by its name, so that the violation is of that form. A name that begins with `_` is free. */
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
