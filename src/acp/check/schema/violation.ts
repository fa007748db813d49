/** What is wrong with a value, and where. */

export interface Violation {
  readonly path: string;
  readonly expected: string;
  readonly got: unknown;
}

export type Check = (value: unknown, path: string) => Violation | undefined;

export const at = (path: string, key: string | number): string => (path === "" ? String(key) : `${path}.${key}`);
