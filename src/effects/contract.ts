/** What every effect host must do, said as cases that any test runner can run. */
import { crashCases } from "./contract/crashing.ts";
import { replayCases } from "./contract/replaying.ts";
import type { EffectContractCase } from "./contract/scene.ts";

export type { EffectContractCase, EffectScene, Process } from "./contract/scene.ts";

export const effectContract: readonly EffectContractCase[] = [...replayCases, ...crashCases];
