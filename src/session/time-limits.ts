/** How long is waited for an agent, and for the limits of its account. */

/** In seconds; false: for ever. */
export interface TurnTimeLimits {
  /** Nothing comes, and the model should speak. */
  readonly model: number | false;
  /** Nothing comes, and a tool runs. */
  readonly tool: number | false;
  /** Something comes, but nothing that moves the turn on. */
  readonly progress: number | false;
  /** A turn waits at most so long for a limit to pass; 0: it fails at once. */
  readonly park: number;
}

const DEFAULTS: TurnTimeLimits = { model: 300, tool: 1_800, progress: 3_600, park: 6 * 3_600 };

export function resolveTimeLimits(said: { readonly [Key in keyof TurnTimeLimits]?: TurnTimeLimits[Key] | undefined } = {}): TurnTimeLimits {
  return {
    model: said.model ?? DEFAULTS.model,
    tool: said.tool ?? DEFAULTS.tool,
    progress: said.progress ?? DEFAULTS.progress,
    park: said.park ?? DEFAULTS.park,
  };
}

/** As people say it. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
