/** The result of a check of `rookery doctor`. */
export interface Finding {
  readonly subject: string;
  readonly status: "ok" | "warning" | "problem";
  readonly detail: string;
  /** How to fix it. */
  readonly advice?: string;
}
