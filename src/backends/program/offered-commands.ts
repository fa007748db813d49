/** Checks the commands that an agent's program reports. */
import type { OfferedCommand } from "../../domain/index.ts";

const MAX_COMMANDS = 500;
const MAX_TEXT_LENGTH = 1_000;
/** Other names cannot be typed as one word after a slash. */
const NAME = /^[\w:.-]{1,100}$/;

/** Each field comes from the program unchecked. */
export interface ReportedCommand {
  readonly name: unknown;
  readonly description: unknown;
  readonly hint: unknown;
}

/** Leaves out commands without a usable name, and those beyond the first 500. */
export function toOfferedCommands(reported: readonly ReportedCommand[]): OfferedCommand[] {
  const found: OfferedCommand[] = [];
  for (const { name, description, hint } of reported) {
    if (found.length >= MAX_COMMANDS) break;
    if (typeof name !== "string" || !NAME.test(name)) continue;
    const text = toBoundedText(hint);
    found.push({ name, description: toBoundedText(description), ...(text !== "" && { hint: text }) });
  }
  return found;
}

function toBoundedText(value: unknown): string {
  return typeof value === "string" ? value.slice(0, MAX_TEXT_LENGTH) : "";
}
