/** Converts a failure to serve a request to a protocol error for the agent. */
import { isRookeryError, messageOf } from "../../domain/errors.ts";
import { PathRefusal } from "../../stdx/index.ts";
import { RPC, PeerError, invalidParams, notFound, peerError } from "../errors.ts";

export function toServeError(error: unknown, path: string): PeerError {
  if (error instanceof PeerError) return error;
  if (error instanceof PathRefusal) return invalidParams(error.message);
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return notFound(path);
  if (isRookeryError(error, "cwd_missing")) return peerError(RPC.notFound, error.message);
  return peerError(RPC.internalError, messageOf(error));
}
