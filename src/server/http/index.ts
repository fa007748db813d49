/** The HTTP server: the JSON API and event streams. */
export { findServer, type RunningServer } from "./running.ts";
export { DEFAULT_PORT, serveHttp, type HttpServer, type HttpOptions } from "./serve.ts";
export type { ServedRookery } from "./served-rookery.ts";
export { readOrMakeToken } from "./token.ts";
