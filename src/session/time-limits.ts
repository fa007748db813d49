/** Time limits of a turn: how long it waits for its agent, and for the usage limits of its account. */

/** In seconds. `false` means no limit. */
export interface TurnTimeLimits {
  /** Maximum silence while the model should respond. Default: 300. */
  readonly model: number | false;
  /** Maximum silence while a tool runs. Default: 1800. */
  readonly tool: number | false;
  /** Maximum time without progress, although there is output. Default: 3600. */
  readonly progress: number | false;
  /** Maximum wait for a usage limit to reset; 0 fails at once. Default: 6 hours. */
  readonly park: number;
}

const DEFAULTS: TurnTimeLimits = { model: 300, tool: 1_800, progress: 3_600, park: 6 * 3_600 };

export function resolveTimeLimits(
  limits: { readonly [Key in keyof TurnTimeLimits]?: TurnTimeLimits[Key] | undefined } = {},
): TurnTimeLimits {
  return {
    model: limits.model ?? DEFAULTS.model,
    tool: limits.tool ?? DEFAULTS.tool,
    progress: limits.progress ?? DEFAULTS.progress,
    park: limits.park ?? DEFAULTS.park,
  };
}

/** Formats a duration for people: `90 s`, `5 min`, `2 h 30 min`. */
export function formatWaitTime(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
