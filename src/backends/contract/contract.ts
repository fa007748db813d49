/** The contract suite of all backends. A backend runs every case, or states by name which it skips and why. */
import { describe, expect, it, type TestOptions } from "vitest";
import { CASES } from "./cases.ts";
import type { Subject } from "./subject.ts";
import { changed, inNoise } from "./toml.ts";
import { openUser } from "./user.ts";
import { BEHAVIOURS, type Behaviour } from "./words.ts";

/** The result of a case; a skipped one has a reason. */
export type Verdict = "passed" | "failed" | { readonly skipped: string };

export interface ContractOptions extends Pick<TestOptions, "concurrent" | "timeout"> {
  /** Called for every case. */
  readonly onVerdict?: (subject: Subject, behaviour: Behaviour, verdict: Verdict) => unknown;
}

export function backendContract(subject: Subject, options: ContractOptions = {}): void {
  const { onVerdict, ...how } = options;
  describe(subject.name, how, () => {
    for (const behaviour of ORDER) {
      const each = CASES[behaviour];
      const reason = skipReason(subject, behaviour);
      if (reason !== undefined) {
        onVerdict?.(subject, behaviour, { skipped: reason });
        it.skip(`${behaviour}: ${each.says} (${reason})`);
        continue;
      }
      it(`${behaviour}: ${each.says}`, async ({ onTestFinished }) => {
        onTestFinished(async ({ task }) => {
          await onVerdict?.(subject, behaviour, task.result?.state === "pass" ? "passed" : "failed");
        });
        await using user = await openUser(subject, behaviour, tomlFor(subject, behaviour));
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
function skipReason(
  { skips, hasProgram = true, mode, capabilities }: Subject,
  behaviour: Behaviour,
): string | undefined {
  const said = skips?.[behaviour];
  if (said !== undefined) return said;
  if (!hasProgram && OF_PROGRAMS.includes(behaviour)) return "it does not run a program";
  if (behaviour === "env" && process.platform !== "linux") return "only Linux exposes the environment of a process";
  if (behaviour === "mode" && mode === undefined) return "it has no mode that edits without asking";
  const needed = NEEDS[behaviour];
  return needed === undefined || capabilities[needed] ? undefined : LACKS[needed];
}

/** The case that waits for deadlines goes first, so that others can run beside it. */
const ORDER: readonly Behaviour[] = ["hangs", ...BEHAVIOURS.filter((behaviour) => behaviour !== "hangs")];

const OF_PROGRAMS: readonly Behaviour[] = ["lost", "dies", "hangs", "noise", "env", "closed"];

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

const NEEDS: Partial<Record<Behaviour, keyof typeof LACKS>> = {
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

function tomlFor({ mode }: Subject, behaviour: Behaviour): (toml: string) => string {
  if (behaviour === "noise") return (toml) => changed(toml, inNoise);
  if (behaviour === "mode") return (toml) => `${toml}\nmode = ${JSON.stringify(mode)}`;
  return (toml) => toml;
}
