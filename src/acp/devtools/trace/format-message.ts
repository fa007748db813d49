/** Formats the content of a message in a few words. Untrusted text is shortened and sanitized. */
import { sanitizeTerminalText } from "../../../programs/stderr-tail.ts";
import { asObject, asString } from "./trace-entry.ts";

const MAX_LENGTH = 100;

export function shortenText(text: string, longest = MAX_LENGTH): string {
  const line = sanitizeTerminalText(text.length > 4 * longest ? text.slice(0, 4 * longest) : text)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length <= longest && text.length <= 4 * longest ? line : `${line.slice(0, longest - 1).toWellFormed()}…`;
}

/** For text that a person or a model wrote. */
export function quoteShortened(text: string): string {
  return `"${shortenText(text)}"`;
}

/** The text of a content block, or its type if it has none. */
export function formatContentBlock(block: unknown): string {
  const { type, text } = asObject(block);
  return asString(text) ?? `[${shortenText(asString(type) ?? "content", 20)}]`;
}

/** Formats the remaining fields as JSON. */
export function formatFields(value: unknown, said: readonly string[] = []): string {
  if (typeof value !== "object" || value === null)
    return value === undefined || value === null ? "" : formatJson(value);
  if (Array.isArray(value)) return formatJson(value);
  const left = Object.entries(value).filter(([key]) => key !== "_meta" && !said.includes(key));
  return left.length === 0 ? "" : formatJson(Object.fromEntries(left));
}

/** Not shortened, because errors are what a trace is read for. */
export function formatRpcError(error: unknown): string {
  const { code, message, data, ...more } = asObject(error);
  const known = asString(message);
  if (known === undefined) return sanitizeTerminalText(JSON.stringify(error));
  const number = code === undefined ? "" : `${JSON.stringify(code)} `;
  const extra = [data, Object.keys(more).length === 0 ? undefined : more].filter((value) => value !== undefined);
  return sanitizeTerminalText([`${number}${known}`, ...extra.map((value) => JSON.stringify(value))].join(" "));
}

function formatJson(value: unknown): string {
  return shortenText(JSON.stringify(value));
}

export function formatRpcParams(method: string, params: unknown): string {
  const fields = asObject(params);
  switch (method) {
    case "session/prompt":
      return asList(fields["prompt"]).map(formatContentBlock).map(quoteShortened).join(" ");
    case "session/request_permission":
      return formatTool(asObject(fields["toolCall"]));
    default:
      return formatFields(params, ["sessionId"]);
  }
}

export function formatSessionUpdate(update: unknown): string {
  const fields = asObject(update);
  switch (fields["sessionUpdate"]) {
    case "tool_call":
    case "tool_call_update":
      return formatTool(fields);
    case "plan": {
      const entries = asList(fields["entries"]).map(asObject);
      const done = entries.filter(({ status }) => status === "completed").length;
      const now = entries.find(({ status }) => status === "in_progress");
      return `${done} of ${entries.length} done${now === undefined ? "" : `, now ${quoteShortened(asString(now["content"]) ?? "")}`}`;
    }
    case "available_commands_update":
      return shortenText(
        asList(fields["availableCommands"])
          .map((command) => `/${asString(asObject(command)["name"])}`)
          .join(" "),
      );
    default:
      return formatFields(fields, ["sessionUpdate"]);
  }
}

function formatTool(fields: Readonly<Record<string, unknown>>): string {
  const { toolCallId, title, kind, status, content } = fields;
  const parts = [toolCallId, kind, status].map(asString).filter((part) => part !== undefined);
  const named = asString(title);
  if (named !== undefined) parts.push(quoteShortened(named));
  const items = asList(content);
  if (items.length > 0) parts.push(`+${items.length} content`);
  return shortenText(parts.join(" "), 2 * MAX_LENGTH);
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
