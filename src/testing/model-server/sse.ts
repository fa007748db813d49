/** One server-sent event as bytes on the wire. */

/** Anthropic and the Responses API name their events; Chat Completions and Gemini send data alone. */
export function namedEvent(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Google's front end ends its lines with CRLF. */
export function dataEvent(data: unknown, lineEnd: "\n" | "\r\n" = "\n"): string {
  return `data: ${typeof data === "string" ? data : JSON.stringify(data)}${lineEnd}${lineEnd}`;
}
