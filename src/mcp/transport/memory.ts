/** Connects to a server in this process. */
import type { InProcessServerSpec } from "../../domain/index.ts";
import { deferred, raceAbort } from "../../stdx/index.ts";
import type { ServerTransport } from "./transport.ts";

/** Rejects when the signal fires, although `spec.open` takes no signal. */
export async function openMemory(spec: InProcessServerSpec, signal: AbortSignal): Promise<ServerTransport> {
  const { InMemoryTransport } = await import("@modelcontextprotocol/sdk/inMemory.js");
  const [near, far] = InMemoryTransport.createLinkedPair();
  const lost = deferred<Error>();
  const connected = Promise.resolve(spec.open()).then((server) => {
    signal.throwIfAborted();
    return server.connect(far);
  });
  await raceAbort(connected, signal);
  const closed = far.onclose;
  far.onclose = () => {
    closed?.();
    lost.resolve(new Error("it closed the connection"));
  };
  return {
    transport: near,
    lost: lost.promise,
    explain: (error) => (error instanceof Error ? error : new Error(String(error))),
    [Symbol.asyncDispose]: () => near.close(),
  };
}
