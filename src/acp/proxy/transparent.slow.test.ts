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

/** Faults of an agent that show in its messages. */
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
/** The long run covers all combinations; each of them starts about thirty programs. */
const LONG_RUN = process.env["ROOKERY_FUZZ"] !== undefined;
const IS_SLOW_RUN = process.env["ROOKERY_SLOW"] === "1";

/** Checks the agent that this command starts, with the given command line in front of it. */
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
  it.concurrent.each(LONG_RUN ? ["nothing", ...FAULTS] : FAULTS.slice(0, IS_SLOW_RUN ? 1 : 0))(
    "gets the same report as without it, with the fault %s",
    async (wrong) => {
      const command = (folder: string) => fixtureTarget(folder, wrong).command;
      const [alone, proxied] = await Promise.all([reportOn(command), reportOn(command, behind)]);
      expect(proxied).toEqual(alone);
    },
  );

  it.concurrent("gets the same report as without it, for the scripted agent", async () => {
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
