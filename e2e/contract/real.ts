/** Runs a real program as a subject of the contract, with a scripted model. */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FACTS, type ProgramName } from "../../src/backends/contract/facts.ts";
import {
  changeCommand,
  modelScript,
  type Behavior,
  type ContractScene,
  type Subject,
} from "../../src/backends/contract/index.ts";
import { createContractFolders } from "../../src/backends/contract/folders.ts";
import { DisposeStack } from "../../src/stdx/index.ts";
import { startModelServer } from "../../src/testing/index.ts";
import { programs } from "../programs/index.mjs";
import type { Recording } from "./recording.ts";

const WITHOUT = fileURLToPath(new URL("without.mjs", import.meta.url));

export interface RealProgram {
  readonly name: ProgramName;
  readonly recipe: keyof typeof programs;
  /** More lines for `[agents.it]`. */
  readonly toml?: string;
  /** A subcommand to remove from the program. */
  readonly without?: string;
  /** The environment variables of its login. */
  readonly login?: readonly string[];
  /** Settings files in its home that make it require a login. */
  readonly loggedOut?: Readonly<Record<string, string>>;
  /** The folder of its sessions, relative to its home. */
  readonly sessions: readonly string[];
  readonly skips?: Subject["skips"];
}

/** `record`: the folder for recordings. Default: records nothing. */
export function realProgram(real: RealProgram, record?: (behavior: Behavior) => Recording): Subject {
  return {
    ...FACTS[real.name],
    skips: { ...real.skips },
    open: (behavior) => openReal(real, behavior, record?.(behavior)),
  };
}

async function openReal(real: RealProgram, behavior: Behavior, recording?: Recording): Promise<ContractScene> {
  await using opening = new DisposeStack();
  const place = opening.use(await createContractFolders());
  const recipe = programs[real.recipe];
  const model = opening.use(await startModelServer(modelScript(recipe, place.files)));
  const { env, toml } = await recipe.prepare({ ...place, modelUrl: model.url });
  const { without } = real;
  const its =
    without === undefined ? toml : changeCommand(toml, (command) => [process.execPath, WITHOUT, without, ...command]);
  const lines = [its, ...(real.toml === undefined ? [] : [real.toml])].join("\n");
  const { login = [], loggedOut = {} } = behavior === "login" ? real : {};
  for (const [path, text] of Object.entries(loggedOut)) await writeFile(join(place.home, path), text);
  const owned = opening.move();
  return {
    ...place,
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !login.includes(name))),
    toml:
      recording?.begin({ toml: lines, root: place.root, modelUrl: model.url, written: place.files.written }) ?? lines,
    isReal: true,
    received: () => JSON.stringify(model.requests),
    called: (tool, input) => recording?.called(tool, input),
    async forget() {
      for (const path of real.sessions) await rm(join(place.home, path), { recursive: true, force: true });
    },
    async [Symbol.asyncDispose]() {
      recording?.finish();
      await owned[Symbol.asyncDispose]();
    },
  };
}
