/** The response that a route handler returns. */

/** `"sent"` means that the handler has already written the response itself, as streams do. */
export type RouteResponse =
  { readonly status?: number; readonly json: unknown } | { readonly text: string; readonly type: string } | "sent";

/** Default status: 200. */
export function jsonResponse(value: unknown, status = 200): RouteResponse {
  return { status, json: value };
}
