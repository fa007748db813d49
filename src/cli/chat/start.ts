/** Which conversation a chat starts with. */
import type { SessionSummary } from "../../domain/summary.ts";
import type { Rookery } from "../../rookery.ts";

export type ChatStart =
  | { readonly type: "new" }
  | { readonly type: "continue" }
  | { readonly type: "pick" }
  | { readonly type: "session"; readonly find: (rookery: Rookery) => Promise<SessionSummary> };
