/** The context through which every screen reaches the server. */
import { createContext, useContext } from "solid-js";
import type { RookeryClient } from "../../src/client/index.ts";
import type { Feed } from "./feed/feed.ts";
import type { RosterModel } from "./roster/model.ts";

export interface ServerValue {
  readonly client: RookeryClient;
  readonly feed: Feed;
  /** All sessions and tasks, as the log has them. */
  readonly roster: RosterModel;
}

export const ServerContext = createContext<ServerValue>();

export function useServer(): ServerValue {
  const value = useContext(ServerContext);
  if (value === undefined) throw new Error("useServer needs a ServerContext above it");
  return value;
}
