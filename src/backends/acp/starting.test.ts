import { join } from "node:path";
import { expect, it } from "vitest";
import type { TurnContext } from "../../domain/index.ts";
import { processesMarked } from "../../stdx/index.ts";
import { builtEnvironment, temporaryFolder, writeAcpAgent } from "../../testing/index.ts";
import { specOf, sourceOf } from "../../tools/test-source.ts";
import { acpBackend } from "./backend.ts";

/** The first start is as usual; any other takes its time. */
const LATE = `if [ -e "$0" ]; then sleep 0.3; fi; touch "$0"; exec "$@"`;

it("leaves no process of an agent that was being started when its session was let go", async () => {
  await using home = await temporaryFolder();
  const marker = `starting-${process.pid}`;
  const { command } = await writeAcpAgent(home.path, { otherwise: [] });
  const connection = await acpBackend({ env: builtEnvironment({ home: home.path }) }).open({
    sessionId: "s",
    agent: {
      name: "a",
      backend: "acp",
      model: undefined,
      permissions: undefined,
      prompts: [],
      command: ["sh", "-c", LATE, join(home.path, "started"), ...command],
    },
    cwd: home.path,
    nativeId: undefined,
    marker,
  });
  connection.tools?.setOverlay({ sources: [sourceOf("o", specOf("one"))], contributions: [], base: true });
  const log = { record: () => undefined };
  const turn = { turnId: "t1", input: [], signal: new AbortController().signal, log } as unknown as TurnContext;
  const outcome = connection.runTurn(turn); // with another process, because of the overlay
  await expect.poll(() => processesMarked(marker).length, { interval: 5 }).toBe(0); // the first one is gone
  await expect.poll(() => processesMarked(marker).length, { interval: 5 }).toBeGreaterThan(0);
  await connection[Symbol.asyncDispose]();
  expect(await outcome).toMatchObject({ status: "failed", code: "interrupted" });
  expect(processesMarked(marker)).toEqual([]);
});
