import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder, writeAcpAgent, type AcpScript } from "../../testing/index.ts";
import { fixtureTarget } from "../devtools/check/test-fixture.ts";
import { checkAgent, type CheckReport } from "../index.ts";

const MAIN = fileURLToPath(new URL("../../../dist/cli/main.cjs", import.meta.url));
const PROXY = [process.execPath, MAIN, "acp", "proxy", "--"];
const CONDUCTOR = [
  process.execPath,
  MAIN,
  "acp",
  "conductor",
  "--proxy",
  `${process.execPath} ${MAIN} acp proxy`,
  "--",
];

/** What may be wrong with an agent and shows in its messages. */
const FAULTS = [
  "bad-chunk",
  "result-and-error",
  "bad-capability",
  "echoes-version",
  "same-session-id",
  "prompt-fails",
  "updates-another-session",
  "cancel-ignored",
  "updates-after-cancel",
  "reads-files",
  "load-replays-late",
  "resume-replays",
  "refuses-image",
  "internal-error-for-unknown",
];
/** Everything behind everything is for the long run: each of them starts some thirty programs. */
const LONG_RUN = process.env["ROOKERY_FUZZ"] !== undefined;

/** On the agent that this command starts, behind those words. */
async function reportOn(
  commandIn: (folder: string) => readonly string[] | Promise<readonly string[]>,
  behind: readonly string[] = [],
): Promise<CheckReport> {
  await using folder = await temporaryFolder();
  const command = [...behind, ...(await commandIn(folder.path))];
  const options = { slowPrompt: "Go slowly.", settleMs: 60, timeoutMs: 10_000 };
  return await checkAgent({ ...fixtureTarget(folder.path, ""), command }, options);
}

const BEHIND: readonly (readonly [string, readonly string[]])[] = [
  ["a conductor and a proxy", CONDUCTOR],
  ["a proxy", PROXY],
];

describe.each(BEHIND.slice(0, LONG_RUN ? undefined : 1))("an agent behind %s", (_, behind) => {
  it.concurrent.each(LONG_RUN ? ["nothing", ...FAULTS] : FAULTS.slice(0, 1))(
    "is judged as it is without: %s is wrong with it",
    async (wrong) => {
      const command = (folder: string) => fixtureTarget(folder, wrong).command;
      const [alone, proxied] = await Promise.all([reportOn(command), reportOn(command, behind)]);
      expect(proxied).toEqual(alone);
    },
  );

  it.concurrent("is judged as it is without: the scripted one", async () => {
    const script: AcpScript = {
      modes: { currentModeId: "ask", availableModes: [{ id: "ask", name: "Ask" }] },
      prompts: [{ when: "slowly", steps: [{ say: "well" }, { waitForCancel: true }] }],
      otherwise: [{ say: "hello" }],
    };
    const command = async (folder: string) => (await writeAcpAgent(folder, script)).command;
    const [alone, proxied] = await Promise.all([reportOn(command), reportOn(command, behind)]);
    expect(proxied).toEqual(alone);
  });
});
