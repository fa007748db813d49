/** Formats server-sent events. */

/** For Anthropic and the Responses API, which name their events. Chat Completions and Gemini send only data. */
export function namedEvent(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Google's servers end lines with CRLF. */
export function dataEvent(data: unknown, lineEnd: "\n" | "\r\n" = "\n"): string {
  return `data: ${typeof data === "string" ? data : JSON.stringify(data)}${lineEnd}${lineEnd}`;
}
