/** A contract subject that replays a recording of the real program. */
import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DisposeStack } from "../../stdx/index.ts";
import { builtEnvironment } from "../../testing/index.ts";
import { FACTS, type ProgramName } from "./facts.ts";
import { createContractFolders } from "./folders.ts";
import type { ContractScene, Subject } from "./subject.ts";
import type { Behavior } from "./prompts.ts";

const STAND_IN = fileURLToPath(new URL("../../../test/support/stand-in/main.mjs", import.meta.url));
const RECORDED = fileURLToPath(new URL("../../../test/support/recorded", import.meta.url));

/** Cases that reuse the recording of another case. */
export const SHARED_RECORDINGS: Partial<Record<Behavior, Behavior>> = {
  noise: "hello",
  cost: "hello",
  model: "hello",
  env: "interrupt",
  hangs: "interrupt",
  closed: "interrupt",
};

export interface StandIn {
  readonly name: ProgramName;
  /** The program whose recordings are replayed. Default: `name`. */
  readonly recorded?: ProgramName;
  /** Additional lines of `[agents.it]`. */
  readonly toml?: string;
  /** Environment variables that serve as its login. */
  readonly login?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly skips?: Subject["skips"];
}

export function standIn({ name, recorded = name, skips = {}, toml, env, login }: StandIn): Subject {
  return {
    ...FACTS[name],
    skips,
    open: (behavior) => {
      const recording = join(RECORDED, recorded, `${SHARED_RECORDINGS[behavior] ?? behavior}.ndjson`);
      return openStandIn(recording, { toml, env: { ...env, ...(behavior !== "login" && login) } });
    },
  };
}

interface StandInSetup {
  readonly toml: string | undefined;
  readonly env: Readonly<Record<string, string>>;
}

async function openStandIn(recording: string, { toml = "", env }: StandInSetup): Promise<ContractScene> {
  await using opening = new DisposeStack();
  const place = opening.use(await createContractFolders());
  const played = join(place.root, "played");
  await mkdir(played);
  const log = join(played, "heard");
  const command = [process.execPath, STAND_IN, played, recording];
  const [head = ""] = readFileSync(recording, "utf8").split("\n", 1);
  const recorded = JSON.parse(head) as { toml: string };
  const owned = opening.move();
  return {
    ...place,
    env: builtEnvironment({ home: place.home, extra: { ...env } }),
    toml: [recorded.toml, `command = ${JSON.stringify(command)}`, toml].join("\n"),
    isReal: false,
    received: () => (existsSync(log) ? readFileSync(log, "utf8") : ""),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}
