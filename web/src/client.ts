/** The client for the server that served this page. */
import { createClient, type RookeryClient } from "../../src/client/index.ts";

export function connectClient(key: string): RookeryClient {
  return createClient({ url: location.origin, headers: { "x-rookery-page-key": key } });
}
