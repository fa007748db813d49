import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { DisposeStack } from "../../stdx/index.ts";
import { parseExposition } from "../../telemetry/test-exposition.ts";
import { builtEnvironment, temporaryFolder } from "../../testing/index.ts";
import { executeCommand } from "../execute.ts";
import { EXIT } from "../exit.ts";
import { collectingIo } from "../test-io.ts";

let owned: DisposeStack;
let home: string;
beforeEach(async () => {
  owned = new DisposeStack();
  ({ path: home } = owned.use(await temporaryFolder()));
});
afterEach(() => owned[Symbol.asyncDispose]());

function ioHere() {
  const env = builtEnvironment({ home });
  return Object.assign(collectingIo(home), { env, cwd: () => home, version: "1.2.3" });
}

it("a worker serves its metrics and its readiness on the requested port", async () => {
  const io = ioHere();
  const ended = executeCommand(io, ["worker", "--metrics-port", "0", "--json"]);
  const url = await vi.waitFor(
    () => {
      const found = /"metrics":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(io.text())?.[1];
      if (found === undefined) throw new Error(`the worker has not printed its URL: ${io.text()}`);
      return found;
    },
    { timeout: 30_000 }, // the first start compiles everything
  );
  const families = parseExposition(await (await fetch(`${url}/metrics`)).text());
  expect([...families.keys()]).toEqual(
    expect.arrayContaining(["rookery_tasks_claimed_total", "rookery_leases_held", "rookery_event_loop_delay_seconds"]),
  );
  expect((await fetch(`${url}/v1/ready`)).status).toBe(200);
  process.emit("SIGTERM");
  expect(await ended).toBe(EXIT.done);
  await expect(fetch(`${url}/v1/health`)).rejects.toThrow();
});

it("a worker refuses a port that does not exist", async () => {
  const io = ioHere();
  expect(await executeCommand(io, ["worker", "--metrics-port", "70000"])).toBe(EXIT.usage);
  expect(io.text()).toBe("rookery: --metrics-port must be at most 65535, not 70000\n");
});
