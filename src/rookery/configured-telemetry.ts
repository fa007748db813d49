/** Starts the measurements of this process if its configuration or its caller asks for them. Loads nothing otherwise. */
import { readTelemetryConfig } from "../config/telemetry-config.ts";
import type { Store } from "../domain/index.ts";
import { processesMarked } from "../stdx/index.ts";
import type { Telemetry } from "../telemetry/index.ts";
import type { RookeryOptions } from "./options.ts";

export interface MeasuredProcess {
  readonly store: Store;
  /** Returns the marker of its children. */
  readonly claim: () => string;
}

/** Resolves with undefined if nothing is measured. Rejects with `config_invalid`. */
export async function openConfiguredTelemetry(
  { env = process.env, telemetry = {} }: Pick<RookeryOptions, "env" | "telemetry">,
  { store, claim }: MeasuredProcess,
): Promise<Telemetry | undefined> {
  if (telemetry === false) return undefined;
  const otlp = await readTelemetryConfig(env);
  for (const problem of otlp?.problems ?? []) telemetry.onProblem?.(problem);
  if (otlp === undefined && telemetry.metrics !== true) return undefined;
  const { openTelemetry } = await import("../telemetry/index.ts");
  const countChildren = (): number => processesMarked(claim()).length;
  return openTelemetry({ store, otlp, countChildren, onProblem: telemetry.onProblem });
}
