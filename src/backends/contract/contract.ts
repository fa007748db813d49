/** The contract suite of all backends. A backend runs every case, or states by name which it skips and why. */
import { describe, expect, it, type TestOptions } from "vitest";
import { CASES } from "./cases.ts";
import type { Subject } from "./subject.ts";
import { changeCommand, wrapInNoise } from "./toml.ts";
import { openUser } from "./user.ts";
import { BEHAVIORS, type Behavior } from "./prompts.ts";

/** The result of a case; a skipped one has a reason. */
export type CaseResult = "passed" | "failed" | { readonly skipped: string };

export interface ContractOptions extends Pick<TestOptions, "concurrent" | "timeout"> {
  /** Called for every case. */
  readonly onResult?: (subject: Subject, behavior: Behavior, verdict: CaseResult) => unknown;
}

export function backendContract(subject: Subject, options: ContractOptions = {}): void {
  const { onResult, ...how } = options;
  describe(subject.name, how, () => {
    for (const behavior of ORDER) {
      const each = CASES[behavior];
      const reason = skipReason(subject, behavior);
      if (reason !== undefined) {
        onResult?.(subject, behavior, { skipped: reason });
        it.skip(`${behavior}: ${each.title} (${reason})`);
        continue;
      }
      it(`${behavior}: ${each.title}`, async ({ onTestFinished }) => {
        onTestFinished(async ({ task }) => {
          await onResult?.(subject, behavior, task.result?.state === "pass" ? "passed" : "failed");
        });
        await using user = await openUser(subject, behavior, tomlFor(subject, behavior));
        await each.run(user);
      });
    }
    it("reports its capabilities", async () => {
      await using user = await openUser(subject, "hello");
      const session = await user.open();
      expect(session.capabilities).toEqual(subject.capabilities);
    });
  });
}

/** A missing capability is reason enough to skip a case. */
function skipReason({ skips, hasProgram = true, mode, capabilities }: Subject, behavior: Behavior): string | undefined {
  const said = skips?.[behavior];
  if (said !== undefined) return said;
  if (!hasProgram && NEEDS_PROGRAM.includes(behavior)) return "it does not run a program";
  if (behavior === "env" && process.platform !== "linux") return "only Linux exposes the environment of a process";
  if (behavior === "mode" && mode === undefined) return "it has no mode that edits without asking";
  const needed = NEEDS[behavior];
  return needed === undefined || capabilities[needed] ? undefined : LACKS[needed];
}

/** The case that waits for deadlines goes first, so that others can run beside it. */
const ORDER: readonly Behavior[] = ["hangs", ...BEHAVIORS.filter((behavior) => behavior !== "hangs")];

const NEEDS_PROGRAM: readonly Behavior[] = ["lost", "dies", "hangs", "noise", "env", "closed"];

const LACKS = {
  permissions: "it cannot ask for permission",
  questions: "it cannot ask the user questions",
  resume: "it always receives the conversation from the log",
  mcp: "it does not support MCP servers",
  usage: "it does not report usage",
  cost: "it does not report cost",
  models: "its model cannot be chosen",
  modes: "it has no modes",
};

const NEEDS: Partial<Record<Behavior, keyof typeof LACKS>> = {
  permission: "permissions",
  deny: "permissions",
  question: "questions",
  lost: "resume",
  mcp: "mcp",
  brought: "mcp",
  usage: "usage",
  cost: "cost",
  model: "models",
  mode: "modes",
};

function tomlFor({ mode }: Subject, behavior: Behavior): (toml: string) => string {
  if (behavior === "noise") return (toml) => changeCommand(toml, wrapInNoise);
  if (behavior === "mode") return (toml) => `${toml}\nmode = ${JSON.stringify(mode)}`;
  return (toml) => toml;
}
