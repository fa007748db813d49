/** The one contract of all backends: each runs every case, or says by name which not, and why. */
import { describe, expect, it, type TestOptions } from "vitest";
import { CASES } from "./cases.ts";
import type { Subject } from "./subject.ts";
import { changed, inNoise } from "./toml.ts";
import { openUser } from "./user.ts";
import { BEHAVIOURS, type Behaviour } from "./words.ts";

/** How a case went; a skip with its reason. */
export type Verdict = "passed" | "failed" | { readonly skipped: string };

export interface ContractOptions extends Pick<TestOptions, "concurrent" | "timeout"> {
  /** Told of every case. */
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
    it("says of itself what it can do", async () => {
      await using user = await openUser(subject, "hello");
      const session = await user.open();
      expect(session.capabilities).toEqual(subject.capabilities);
    });
  });
}

/** What a backend says that it cannot do needs no other reason. */
function skipReason(
  { skips, hasProgram = true, mode, capabilities }: Subject,
  behaviour: Behaviour,
): string | undefined {
  const said = skips?.[behaviour];
  if (said !== undefined) return said;
  if (!hasProgram && OF_PROGRAMS.includes(behaviour)) return "it drives no program";
  if (behaviour === "env" && process.platform !== "linux") return "only Linux shows the environment of a process";
  if (behaviour === "mode" && mode === undefined) return "it has no mode in which it edits by itself";
  const needed = NEEDS[behaviour];
  return needed === undefined || capabilities[needed] ? undefined : LACKS[needed];
}

/** The one that waits for deadlines goes first, for others may run beside it. */
const ORDER: readonly Behaviour[] = ["hangs", ...BEHAVIOURS.filter((behaviour) => behaviour !== "hangs")];

const OF_PROGRAMS: readonly Behaviour[] = ["lost", "dies", "hangs", "noise", "env", "closed"];

const LACKS = {
  permissions: "it cannot ask before it acts",
  questions: "it cannot ask the user anything",
  resume: "it is always told from the log what was said",
  mcp: "it takes no MCP servers",
  usage: "it does not say what a turn took",
  cost: "it does not say what a turn cost",
  models: "it lets nobody choose its model",
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
