/** Builds the conditions of a query with its parameters. */

export class Conditions {
  readonly values: unknown[] = [];
  readonly #conditions: string[] = [];

  /** Calls `build` with a function that adds a parameter and returns its placeholder. */
  add(build: (value: (value: unknown) => string) => string): void {
    this.#conditions.push(build((value) => this.value(value)));
  }

  value(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  get sql(): string {
    return this.#conditions.length === 0 ? "true" : this.#conditions.join(" and ");
  }
}
