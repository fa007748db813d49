/** The response that a route handler returns. */
import type { ServerResponse } from "node:http";

/** `"sent"` means that the handler has already written the response itself, as streams do. */
export type RouteResponse =
  { readonly status?: number; readonly json: unknown } | { readonly text: string; readonly type: string } | "sent";

/** Default status: 200. */
export function jsonResponse(value: unknown, status = 200): RouteResponse {
  return { status, json: value };
}

/** Sends bytes. For a HEAD request, Node.js leaves the body out. */
export function sendBytes(
  response: ServerResponse,
  bytes: Uint8Array,
  headers: Readonly<Record<string, string>>,
): RouteResponse {
  response.writeHead(200, { ...headers, "content-length": String(bytes.byteLength) });
  response.end(bytes);
  return "sent";
}
