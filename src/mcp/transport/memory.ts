/** The way to a server within this process. */
import type { InProcessServerSpec } from "../../domain/index.ts";
import { deferred } from "../../stdx/index.ts";
import type { Way } from "./transport.ts";

export async function openMemory(spec: InProcessServerSpec): Promise<Way> {
  const { InMemoryTransport } = await import("@modelcontextprotocol/sdk/inMemory.js");
  const [near, far] = InMemoryTransport.createLinkedPair();
  const lost = deferred<Error>();
  await (await spec.open()).connect(far);
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
