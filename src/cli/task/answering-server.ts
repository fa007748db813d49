/** Refuses to wait for a server that is alive but does not answer. */
import { RookeryError } from "../../domain/errors.ts";
import { type Io, printNotice } from "../io.ts";
import type { ServerAddress } from "./open-service.ts";

export interface ServerPatience {
  /** Default: 3 s. */
  readonly noticeMs?: number;
  /** Default: 15 s. */
  readonly timeoutMs?: number;
}

/** Rejects with `server_unreachable` after the timeout. A refused connection is left to the first real request. */
export async function requireAnsweringServer(
  io: Pick<Io, "stderr" | "env">,
  { url, pid }: ServerAddress,
  { noticeMs = 3_000, timeoutMs = 15_000 }: ServerPatience = {},
): Promise<void> {
  const server = `the server at ${url}${pid === undefined ? "" : ` (process ${pid})`}`;
  const notice = setTimeout(() => printNotice(io, `${server} does not answer yet`), noticeMs);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const { body } = await fetch(`${url}/v1/health`, { signal });
    await body?.cancel();
  } catch (cause) {
    if (!signal.aborted) return;
    const fix = pid === undefined ? "" : `; if it hangs, end it with kill -9 ${pid} and start it again: rookery serve`;
    const message = `${server} did not answer within ${Math.round(timeoutMs / 1_000)} s${fix}`;
    throw new RookeryError("server_unreachable", message, { cause });
  } finally {
    clearTimeout(notice);
  }
}
