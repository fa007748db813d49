/** The contract of every effect host, as cases that any test runner can run. */
import { crashCases } from "./contract/crash-cases.ts";
import { replayCases } from "./contract/replay-cases.ts";
import type { EffectContractCase } from "./contract/fixture.ts";

export type { EffectContractCase, EffectFixture, EffectHostOptions } from "./contract/fixture.ts";

export const effectContract: readonly EffectContractCase[] = [...replayCases, ...crashCases];
