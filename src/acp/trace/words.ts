/** Says in a few words what a message carries; foreign text is cut and made harmless. */
import { harmless } from "../../programs/stderr.ts";
import { objectOf, textOf } from "./entry.ts";

const LONGEST = 100;

export function short(text: string, longest = LONGEST): string {
  const line = harmless(text.length > 4 * longest ? text.slice(0, 4 * longest) : text)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length <= longest && text.length <= 4 * longest ? line : `${line.slice(0, longest - 1).toWellFormed()}…`;
}

/** In quotes, for what somebody wrote. */
export function quoted(text: string): string {
  return `"${short(text)}"`;
}

/** Of a content block; what is no text is named by its type. */
export function contentText(block: unknown): string {
  const { type, text } = objectOf(block);
  return textOf(text) ?? `[${short(textOf(type) ?? "content", 20)}]`;
}

/** All the rest as JSON, without what is said already. */
export function rest(value: unknown, said: readonly string[] = []): string {
  if (typeof value !== "object" || value === null) return value === undefined || value === null ? "" : json(value);
  if (Array.isArray(value)) return json(value);
  const left = Object.entries(value).filter(([key]) => key !== "_meta" && !said.includes(key));
  return left.length === 0 ? "" : json(Object.fromEntries(left));
}

/** Not cut: an error is what a trace is read for. */
export function errorText(error: unknown): string {
  const { code, message, data, ...more } = objectOf(error);
  const known = textOf(message);
  if (known === undefined) return harmless(JSON.stringify(error));
  const number = code === undefined ? "" : `${JSON.stringify(code)} `;
  const extra = [data, Object.keys(more).length === 0 ? undefined : more].filter((value) => value !== undefined);
  return harmless([`${number}${known}`, ...extra.map((value) => JSON.stringify(value))].join(" "));
}

function json(value: unknown): string {
  return short(JSON.stringify(value));
}

export function paramsText(method: string, params: unknown): string {
  const fields = objectOf(params);
  switch (method) {
    case "session/prompt":
      return list(fields["prompt"]).map(contentText).map(quoted).join(" ");
    case "session/request_permission":
      return toolText(objectOf(fields["toolCall"]));
    default:
      return rest(params, ["sessionId"]);
  }
}

export function updateText(update: unknown): string {
  const fields = objectOf(update);
  switch (fields["sessionUpdate"]) {
    case "tool_call":
    case "tool_call_update":
      return toolText(fields);
    case "plan": {
      const entries = list(fields["entries"]).map(objectOf);
      const done = entries.filter(({ status }) => status === "completed").length;
      const now = entries.find(({ status }) => status === "in_progress");
      return `${done} of ${entries.length} done${now === undefined ? "" : `, now ${quoted(textOf(now["content"]) ?? "")}`}`;
    }
    case "available_commands_update":
      return short(
        list(fields["availableCommands"])
          .map((command) => `/${textOf(objectOf(command)["name"])}`)
          .join(" "),
      );
    default:
      return rest(fields, ["sessionUpdate"]);
  }
}

function toolText(fields: Readonly<Record<string, unknown>>): string {
  const { toolCallId, title, kind, status, content } = fields;
  const parts = [toolCallId, kind, status].map(textOf).filter((part) => part !== undefined);
  const named = textOf(title);
  if (named !== undefined) parts.push(quoted(named));
  const items = list(content);
  if (items.length > 0) parts.push(`+${items.length} content`);
  return short(parts.join(" "), 2 * LONGEST);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
