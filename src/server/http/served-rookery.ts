/** The part of `Rookery` that the HTTP server uses. */
import type { Store, Tasks } from "../../domain/index.ts";
import type { Rookery } from "../../rookery.ts";

export interface ServedRookery extends Pick<
  Rookery,
  | "home"
  | "telemetry"
  | "openSession"
  | "endSession"
  | "forkSession"
  | "nativeSessions"
  | "deleteSession"
  | "answer"
  | "tell"
  | "withdraw"
  | "revoke"
  | "cancelTurn"
  | "declaredServers"
  | "connectServers"
  | "authorizer"
  | "describeConfig"
  | "startDemoTask"
  | "sharedHost"
  | "workers"
  | "askWorkers"
> {
  readonly store: Store;
  readonly tasks: Tasks;
}
