/** A schema violation: where it is, and what was expected. */

export interface SchemaViolation {
  readonly path: string;
  readonly expected: string;
  readonly got: unknown;
}

export type SchemaCheck = (value: unknown, path: string) => SchemaViolation | undefined;

export const appendPath = (path: string, key: string | number): string =>
  path === "" ? String(key) : `${path}.${key}`;
