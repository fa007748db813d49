/** Checks that a reopened session can use the provider it was recorded with. */
import { RookeryError } from "../domain/index.ts";
import { DEMO_MODEL, KNOWN_PROVIDERS, findMissingSetup, parseModelName } from "./model-keys.ts";

/** The model of a recorded session, and the model that its agent is configured for now. */
export interface RecordedModel {
  readonly sessionId: string;
  readonly agent: string;
  /** `provider/model`, from the log. */
  readonly model: string;
  /** Whether a user chose it for the session. */
  readonly chosen: boolean;
  readonly configured: string | undefined;
}

type ProviderConfig = Parameters<typeof findMissingSetup>[1] & { readonly providers: ReadonlyMap<string, unknown> };

/** Throws `provider_unknown`, `provider_mismatch` or `provider_unconfigured`. The message names both providers if they differ. */
export function assertRecordedProvider(
  { sessionId, agent, model, chosen, configured }: RecordedModel,
  means: ProviderConfig,
): void {
  if (model === DEMO_MODEL) return;
  const recorded = parseModelName(model).provider;
  const now = configured?.split("/")[0] ?? "none";
  const whose =
    recorded === now
      ? `session ${sessionId} uses ${model} (agent ${agent})`
      : `session ${sessionId} was recorded with the provider ${recorded} (${model}), but agent ${agent} is configured for ${now}`;
  const other = now === recorded ? "provider/model" : (configured ?? "provider/model");
  const isRegistered = means.registered?.has(recorded) === true;
  if (!isRegistered && !KNOWN_PROVIDERS.has(recorded) && !means.providers.has(recorded)) {
    const fix = `define it under [providers.${recorded}] in rookery.toml, register it with Rookery.open({ providers: […] }) if it is your own, or continue with another model: --model ${other}`;
    throw new RookeryError("provider_unknown", `${whose}; provider "${recorded}" no longer exists: ${fix}`);
  }
  if (recorded !== now && !chosen) {
    throw new RookeryError("provider_mismatch", `${whose}: choose one with --model ${model} or --model ${other}`);
  }
  const lacks = findMissingSetup(model, means);
  if (lacks === undefined) return;
  throw new RookeryError(
    "provider_unconfigured",
    `${whose}${recorded === now ? ", but " : "; "}${lacks}, or continue with another model: --model ${other}`,
  );
}
