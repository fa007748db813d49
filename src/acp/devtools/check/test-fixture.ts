/** Checks the agent in `fixtures/`, which has one fault or none. */
import { fileURLToPath } from "node:url";
import { builtEnvironment, temporaryFolder } from "../../../testing/index.ts";
import { checkAgent, type CheckOptions, type CheckReport, type CheckStatus, type CheckTarget } from "./index.ts";

const AGENT = fileURLToPath(new URL("fixtures/agent.mjs", import.meta.url));

export function fixtureTarget(folder: string, wrong: string, marker?: string): CheckTarget {
  return {
    command: [process.execPath, AGENT, wrong],
    cwd: folder,
    env: builtEnvironment({ home: folder }),
    ...(marker !== undefined && { marker }),
  };
}

export async function checkFixture(wrong: string, options: CheckOptions = {}, marker?: string): Promise<CheckReport> {
  await using folder = await temporaryFolder();
  const usual: CheckOptions = { slowPrompt: "Go slowly.", settleMs: 60, timeoutMs: 10_000 };
  return await checkAgent(fixtureTarget(folder.path, wrong, marker), { ...usual, ...options });
}

/** The ids of the checks with this status. */
export function ids(report: CheckReport, wanted: CheckStatus): number[] {
  return report.results.filter(({ status }) => status === wanted).map(({ id }) => id);
}

export function detail(report: CheckReport, id: number): string | undefined {
  return report.results.find((result) => result.id === id)?.detail;
}
