/** The HTTP door. */
export { findServer, type RunningServer } from "./running.ts";
export { DEFAULT_PORT, serveHttp, type HttpDoor, type HttpOptions } from "./serve.ts";
export type { Served } from "./served.ts";
export { readOrMakeToken } from "./token.ts";
