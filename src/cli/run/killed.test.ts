import { afterEach, expect, it, vi } from "vitest";
import { processesMarked } from "../../stdx/index.ts";
import { call, say, type Script } from "../../testing/index.ts";
import { parseEventLines, openCommandFixture, type CommandFixture } from "../test-command.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

const CODE = `
const one = await tools.bash({ command: "echo one >> ran" });
const server = await tools.bash({ command: "setsid sleep 300 & sleep 300", background: true });
const two = await tools.bash({ command: "echo two >> ran; sleep 300" });
[one, server, two].map(({ outcome }) => outcome)`;

const script: Script = ({ toolResults: [told] }) =>
  told === undefined ? call("code", { code: CODE }) : say(`Got: ${told.content}`);

it("does not repeat finished calls of a program after SIGKILL, and leaves no process", async () => {
  fixture = await openCommandFixture(script, {
    files: { "rookery.toml": "[agents.anthropic]\ncode = true\n", ran: "" },
  });
  await fixture.rookery(["trust"]);
  const first = fixture.start(["run", "go", "--permissions", "all", "--json"]);
  await vi.waitFor(async () => expect(await fixture.repository.read("ran")).toBe("one\ntwo\n"), { timeout: 25_000 });
  first.child.kill("SIGKILL");
  const left = parseEventLines((await first.ended).stdout);
  const markers = left.flatMap((event) => (event.type === "process.started" ? [event.marker] : []));
  expect(new Set(markers).size).toBe(1);
  const [marker = ""] = markers;
  expect(processesMarked(marker).length).toBeGreaterThan(2); // else nothing outlived it

  const { code, stdout } = await fixture.rookery(["run", "--session", "last"]);
  expect([code, stdout]).toEqual([0, expect.stringContaining('Got: => ["ok","ok","unknown"]')]);
  expect(await fixture.repository.read("ran")).toBe("one\ntwo\n");
  expect(processesMarked(marker)).toEqual([]);
});
