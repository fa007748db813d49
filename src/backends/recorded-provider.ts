/** A session goes on with the provider that it was recorded with, unless somebody says with which. */
import { RookeryError } from "../domain/index.ts";
import { KNOWN_PROVIDERS, missingFor, parseModelName } from "./model-keys.ts";

/** A session of the built-in agent, and what its agent is configured for now. */
export interface Recorded {
  readonly sessionId: string;
  readonly agent: string;
  /** `provider/model`, as the log has it. */
  readonly model: string;
  /** Somebody chose it for the session. */
  readonly chosen: boolean;
  readonly configured: string | undefined;
}

type Means = Parameters<typeof missingFor>[1] & { readonly providers: ReadonlyMap<string, unknown> };

/** Throws `provider_unknown`, `provider_mismatch` or `provider_unconfigured`, each with the session and both providers. */
export function mustHaveProvider({ sessionId, agent, model, chosen, configured }: Recorded, means: Means): void {
  const recorded = parseModelName(model).provider;
  const now = configured?.split("/")[0] ?? "none";
  const whose = `session ${sessionId} was recorded with the provider ${recorded} (${model}), and agent ${agent} is configured for ${now}`;
  const other = now === recorded ? "provider/model" : (configured ?? "provider/model");
  if (!KNOWN_PROVIDERS.has(recorded) && !means.providers.has(recorded)) {
    const fix = `describe it under [providers.${recorded}] in rookery.toml, or go on with another: --model ${other}`;
    throw new RookeryError("provider_unknown", `${whose}; there is no provider "${recorded}" now: ${fix}`);
  }
  if (recorded !== now && !chosen) {
    throw new RookeryError("provider_mismatch", `${whose}: say which: --model ${model} or --model ${other}`);
  }
  const lacks = missingFor(model, means);
  if (lacks === undefined) return;
  throw new RookeryError("provider_unconfigured", `${whose}; ${lacks}, or go on with another: --model ${other}`);
}
