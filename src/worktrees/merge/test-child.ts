/** Merges in a process of its own, as it is told, and says how far it is; to be killed there. */
import { ownIdentity } from "../../stdx/index.ts";
import type { MergeHow } from "../../domain/index.ts";
import { openRepository } from "../repository.ts";
import { mergeBranch } from "./index.ts";

export interface ChildOptions {
  readonly path: string;
  readonly how: MergeHow;
  readonly gate?: string;
  /** Where it is to wait for ever. */
  readonly stopAt?: "prepared" | "merged";
}

export type ChildMessage = { readonly marker: string } | { readonly prepared: string } | { readonly merged: string };

const { path, how, gate, stopAt } = JSON.parse(process.argv[2] ?? "") as ChildOptions;
const { pid, startTime } = ownIdentity();
const marker = `${pid}.${startTime}.child`;
report({ marker });
const repository = await openRepository(path, { env: process.env, marker });
const report = await mergeBranch(repository, {
  branch: "task",
  into: "main",
  how,
  message: "Merge task x",
  marker,
  ...(gate !== undefined && {
    gate: { command: gate, timeoutMs: 60_000, env: process.env, onOutput: () => undefined },
  }),
  onPrepared: async (commit) => {
    report({ prepared: commit });
    if (stopAt === "prepared") await waitForever();
  },
});
report({ merged: report.commit ?? report.outcome });
await waitForever();

function report(what: ChildMessage): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}

function waitForever(): Promise<never> {
  return new Promise(() => setInterval(() => undefined, 60_000));
}
