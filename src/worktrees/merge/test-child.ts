/** Test program that runs one merge and reports its progress, so that a test can kill it at a given point. */
import { ownIdentity } from "../../stdx/index.ts";
import type { MergeHow } from "../../domain/index.ts";
import { openRepository } from "../repository.ts";
import { mergeBranch } from "./index.ts";

export interface ChildOptions {
  readonly path: string;
  readonly how: MergeHow;
  readonly gate?: string;
  /** Step after which it waits forever. */
  readonly stopAt?: "prepared" | "merged";
}

export type ChildMessage = { readonly marker: string } | { readonly prepared: string } | { readonly merged: string };

const { path, how, gate, stopAt } = JSON.parse(process.argv[2] ?? "") as ChildOptions;
const { pid, startTime } = ownIdentity();
const marker = `${pid}.${startTime}.child`;
reportProgress({ marker });
const repository = await openRepository(path, { env: process.env, marker });
const result = await mergeBranch(repository, {
  branch: "task",
  into: "main",
  how,
  message: "Merge task x",
  marker,
  ...(gate !== undefined && {
    gate: { command: gate, timeoutMs: 60_000, env: process.env, onOutput: () => undefined },
  }),
  onPrepared: async (commit) => {
    reportProgress({ prepared: commit });
    if (stopAt === "prepared") await waitForever();
  },
});
reportProgress({ merged: result.commit ?? result.outcome });
await waitForever();

function reportProgress(message: ChildMessage): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function waitForever(): Promise<never> {
  return new Promise(() => setInterval(() => undefined, 60_000));
}
